/*
 * pull.c - `ingot pull`: stores in a store what a bundle, a server or an image has.
 */
#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/build/build.h"
#include "cli/commands/all.h"
#if INGOT_WITH_REMOTE
#include <ingot/private/remote.h>

#include "cli/commands/remote/image.h"
#include "cli/store/server.h"
#endif
#include "cli/store/entry.h"
#include "cli/store/store.h"
#include "cli/usage/parse.h"

struct pulling {
    struct common_options common;
    const char *bundle;        /* NULL: a server */
    const char *url;           /* NULL: from the environment */
    struct text_list requests; /* those of --for */
    ingot_storage_t from;      /* a bundle or a server */
    ingot_storage_t store;
    cJSON *keys; /* its members have the names of the objects that the server has, and the store lacks */
    uint64_t present_count;
    uint64_t entry_count;
    uint64_t failed_count;
#if INGOT_WITH_REMOTE
    struct image_options image;
#endif
};

static const struct command_option options[] = {
    {"from", 'F', VALUE_FILE, "BUNDLE", offsetof(struct pulling, bundle),
     .help = "Take the entries of this bundle instead of a server's"},
#if INGOT_WITH_REMOTE
    {"for", 'f', VALUE_FILE, "REQUESTS", offsetof(struct pulling, requests), .flags = OPTION_REPEATED,
     .help = "Load what the requests of this store or bundle need on the devices of this machine; may be repeated"},
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct pulling, url), .help = "The server. Default: INGOT_PERSIST_REMOTE"},
    {"image", 'i', VALUE_TEXT, "REFERENCE", offsetof(struct pulling, image.reference),
     .help = "Pull the image HOST[:PORT]/NAME[:TAG] in a registry, by skopeo"},
    {"layout", 0, VALUE_FILE, "DIR", offsetof(struct pulling, image.layout),
     .help = "The image's OCI image layout; without --image, nothing else is moved. Default: beside the store"},
    {"plain-http", 0, VALUE_NONE, NULL, offsetof(struct pulling, image.is_plain),
     .help = "For --image: the registry need not encrypt"},
#endif
    {.help = NULL},
};

/* ---- a bundle ---- */

/* Copies an entry with its seal. If one cannot be stored, others may still be. */
static int copy_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct pulling *pulling = user;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = entry->status;
    if (status == INGOT_SUCCESS)
        status = ingot_persist_load_entry(pulling->from, entry, 1, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(pulling->store, entry->id_size, entry->id, blob.size, blob.bytes);
    store_release_blob(&blob);
    pulling->entry_count += status == INGOT_SUCCESS;
    if (status != INGOT_SUCCESS && pulling->failed_count++ == 0)
        (void)store_failed("storing an entry", status);
    return 1;
}

/* The bundle gets the store's policy, so that a refusal names the bundle. */
static int pull_bundle(struct pulling *pulling)
{
    ingot_persist_trust_t trust;
    store_take_namespace(&pulling->common);
    int code = store_read_trust(&trust, &pulling->common);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = ingot_persist_open_bundle(&pulling->from, pulling->bundle, &trust);
    if (status != INGOT_SUCCESS) {
        store_tell_failure(status, "%s", pulling->bundle);
        return EXIT_NO_STORE;
    }
    code = store_open(&pulling->store, &pulling->common, STORE_MAKE, NULL);
    if (code == EXIT_DONE) {
        interrupt_catch();
        code = entry_visit_all(pulling->from, copy_entry, pulling);
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "entries", pulling->entry_count);
        json_add_u64(json, "failed", pulling->failed_count);
        output_print(json, pulling->common.is_json, "{entries} entries pulled[failed?, {failed} failed]\n");
    }
    ingot_storage_release(pulling->store);
    ingot_storage_release(pulling->from);
    return code == EXIT_DONE && pulling->failed_count != 0 ? EXIT_FAILED : code;
}

/* ---- a server ---- */

#if INGOT_WITH_REMOTE
static void note_key(void *user, const char *key)
{
    (void)cJSON_AddItemToObject(user, key, cJSON_CreateTrue());
}

/* Drops the keys of the entries that the store has. */
static int drop_present(const ingot_persist_entry_t *entry, void *user)
{
    struct pulling *pulling = user;
    char key[INGOT_REMOTE_KEY_CAPACITY];
    if (entry->id != NULL && entry->status == INGOT_SUCCESS &&
        ingot_remote_key_of(pulling->from, entry->id_size, entry->id, key) == INGOT_SUCCESS) {
        cJSON *present = cJSON_DetachItemFromObjectCaseSensitive(pulling->keys, key);
        pulling->present_count += present != NULL;
        cJSON_Delete(present);
    }
    return 1;
}

/* Loads an object and stores it with its seal, which the store checks. */
static void pull_key(struct pulling *pulling, const char *key)
{
    ingot_buffer_t id = INGOT_BUFFER_INIT;
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    ingot_status_t status = ingot_remote_load_key(pulling->from, key, &id, &kept);
    if (status == INGOT_NOT_FOUND)
        return; /* evicted in the meantime */
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(pulling->store, id.size, id.bytes, kept.size, kept.bytes);
    store_release_blob(&id);
    store_release_blob(&kept);
    pulling->entry_count += status == INGOT_SUCCESS;
    if (status != INGOT_SUCCESS && pulling->failed_count++ == 0)
        (void)store_failed("pulling an entry", status);
}

static int pull_all(struct pulling *pulling)
{
    const cJSON *key;
    pulling->keys = cJSON_CreateObject();
    const ingot_status_t status = ingot_remote_list(pulling->from, note_key, pulling->keys);
    if (status == INGOT_UNIMPLEMENTED)
        return parse_refuse(&command_pull, "%s. Name a store of requests with --for", ingot_last_error_detail());
    if (status != INGOT_SUCCESS)
        return store_failed("listing the server", status);
    interrupt_catch();
    const int code = entry_visit_all(pulling->store, drop_present, pulling);
    if (code != EXIT_DONE)
        return code;
    cJSON_ArrayForEach(key, pulling->keys)
    {
        if (!interrupt_seen())
            pull_key(pulling, key->string);
    }
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", pulling->entry_count);
    json_add_u64(json, "present", pulling->present_count);
    json_add_u64(json, "failed", pulling->failed_count);
    output_print(json, pulling->common.is_json,
                 "{entries} entries pulled; the store already had {present}[failed?, {failed} failed]\n");
    return interrupt_seen() ? EXIT_INTERRUPTED : pulling->failed_count != 0 ? EXIT_FAILED : EXIT_DONE;
}

static int pull_from_server(struct pulling *pulling)
{
    int code = server_open(&pulling->from, &pulling->common, pulling->url, INGOT_REMOTE_READ_ONLY);
    if (code == EXIT_DONE && pulling->requests.count == 0) {
        store_take_namespace(&pulling->common);
        code = store_open(&pulling->store, &pulling->common, STORE_MAKE, NULL);
        if (code == EXIT_DONE)
            code = pull_all(pulling);
        ingot_storage_release(pulling->store);
    }
    ingot_storage_release(pulling->from); /* the workers open it as the environment says, which now has this URL */
    return code == EXIT_DONE && pulling->requests.count != 0 ? build_pull(&pulling->common, &pulling->requests) : code;
}
#else
static int pull_from_server(struct pulling *pulling)
{
    (void)pulling;
    return parse_refuse(&command_pull, "name a bundle with --from: this tool was built without servers");
}
#endif

static int run_pull(void *values)
{
    struct pulling *pulling = values;
#if INGOT_WITH_REMOTE
    if (image_is_wanted(&pulling->image) &&
        (pulling->bundle != NULL || pulling->requests.count != 0 || pulling->url != NULL))
        return parse_refuse(&command_pull, "an image has no other server, and all entries are taken from it");
    if (image_is_wanted(&pulling->image))
        return image_pull(&pulling->common, &pulling->image);
#endif
    if (pulling->bundle == NULL)
        return pull_from_server(pulling);
    if (pulling->url != NULL || pulling->requests.count != 0)
        return parse_refuse(&command_pull, "pull either from a bundle or from a server");
    return pull_bundle(pulling);
}

const struct command command_pull = {
    .name = "pull",
    .group = "Share",
    .summary = "store in a store what a server, a bundle or an image has",
    .about =
        "Loads entries into a store, which is created if it is missing, with their seals. Entries that the store "
        "already has are not loaded again.\n\n"
        "Takes all that a Redis server or an S3 bucket has in the namespace INGOT_PERSIST_NAMESPACE; other servers "
        "cannot list what they have. With --for, loads what the requests of a store need on the devices of this "
        "machine from any server, "
        "and compiles nothing. With --from, takes all entries of a bundle.\n\n"
        "With --image, takes what an image in a registry has, into the namespaces that \"ingot push --image\" took it "
        "from, or with --namespace only what is of that namespace. skopeo moves the image, with its credentials, to a "
        "directory beside the store, and only what is not there yet. With --layout alone, the image is only read.\n\n"
        "The exit status is 1 if the server lacks programs, or did not work, and 4 if entries could not be stored.",
    .options = options,
    .size = sizeof(struct pulling),
    .run = run_pull,
};

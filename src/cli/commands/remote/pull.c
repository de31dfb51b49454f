/*
 * pull.c - `ingot pull`: stores in a store what a bundle, a server or an image has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#if INGOT_WITH_REMOTE
#include <ingot/private/directory.h>
#include <ingot/private/remote.h>
#endif

struct pulling {
    struct common_options common;
    const char *source;        /* a bundle or a store; NULL: a server */
    const char *url;           /* NULL: from the environment */
    struct text_list requests; /* those of --for */
    ingot_storage_t from;      /* the source or the server */
    ingot_storage_t store;     /* the part with name_space; NULL if it could not be opened, which store_code says */
    char name_space[80];       /* longer ones are refused, so a part of one is enough */
    int store_code;
    bool keeps_name_spaces; /* each entry goes where its own namespace says; otherwise, all go into `store` */
    uint64_t present_count;
    uint64_t entry_count;
    uint64_t failed_count;
    bool is_for_build;
#if INGOT_WITH_REMOTE
    struct image_options image;
#endif
};

static const struct command_option options[] = {
    {"from", 'F', VALUE_TEXT, "STORE", offsetof(struct pulling, source),
     .help = "Take the entries of this bundle or store instead of a server's"},
#if INGOT_WITH_REMOTE
    {"for", 'f', VALUE_TEXT, "REQUESTS", offsetof(struct pulling, requests), .flags = OPTION_REPEATED,
     .help = "Load what the requests of this store or bundle need on the devices of this machine; may be repeated"},
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct pulling, url), .help = "The server. Default: INGOT_PERSIST_REMOTE"},
    {"image", 'i', VALUE_TEXT, "REFERENCE", offsetof(struct pulling, image.reference),
     .help = "Pull the image HOST[:PORT]/NAME[:TAG] in a registry, by skopeo"},
    {"layout", 0, VALUE_TEXT, "DIR", offsetof(struct pulling, image.layout),
     .help = "The image's OCI image layout; without --image, nothing else is moved. Default: beside the store that "
             "--dir or INGOT_PERSIST_DIR names"},
    {"plain-http", 0, VALUE_NONE, NULL, offsetof(struct pulling, image.is_plain),
     .help = "For --image: the registry need not encrypt"},
#endif
    {.help = NULL},
};

/* ---- the store ---- */

/* Opens the part of the store with this namespace, or keeps what was opened for it last. Returns an exit_code. */
static int open_part(struct pulling *pulling, const char *name_space)
{
    struct common_options common = pulling->common;
    if (pulling->store != NULL || pulling->store_code != EXIT_DONE) {
        if (strcmp(pulling->name_space, name_space) == 0)
            return pulling->store_code;
        ingot_storage_release(pulling->store);
        pulling->store = NULL;
    }
    (void)snprintf(pulling->name_space, sizeof(pulling->name_space), "%s", name_space);
    common.name_space = name_space[0] != '\0' ? name_space : NULL;
    pulling->store_code = store_open(&pulling->store, &common, STORE_MAKE, NULL);
    return pulling->store_code;
}

/* Opens the part that --namespace names. Parts that an entry or a layer names may fail later, each for itself. */
static int open_first_part(struct pulling *pulling)
{
    return open_part(pulling, pulling->common.name_space != NULL ? pulling->common.name_space : "");
}

static bool is_wanted(const struct pulling *pulling, const char *name_space)
{
    return pulling->common.name_space == NULL || strcmp(pulling->common.name_space, name_space) == 0;
}

/* ---- a bundle or a store ---- */

/* Copies an entry with its seal, unless the store has one. If one cannot be stored, others may still be. */
static int copy_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct pulling *pulling = user;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = entry->status;
    if (entry_is_probes(entry) || (pulling->keeps_name_spaces && !is_wanted(pulling, entry->name_space)))
        return 1;
    if (pulling->keeps_name_spaces && open_part(pulling, entry->name_space) != EXIT_DONE) {
        ++pulling->failed_count;
        return 1;
    }
    if (status == INGOT_SUCCESS &&
        ingot_storage_load(pulling->store, entry->id_size, entry->id, &blob) == INGOT_SUCCESS) {
        store_release_blob(&blob);
        ++pulling->present_count;
        return 1;
    }
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

/* The source gets the store's policy, so that a refusal names the source. The entries of a store keep their namespaces;
 * a bundle has none. */
static int pull_from_store(struct pulling *pulling)
{
    ingot_persist_trust_t trust;
    struct stat facts;
    pulling->keeps_name_spaces = stat(pulling->source, &facts) == 0 && S_ISDIR(facts.st_mode);
    if (!pulling->keeps_name_spaces)
        store_take_namespace(&pulling->common);
    int code = store_read_trust(&trust, &pulling->common);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = store_open_source(&pulling->from, pulling->source, "", &trust);
    if (status != INGOT_SUCCESS) {
        store_tell_failure(status, "%s", pulling->source);
        return EXIT_NO_STORE;
    }
    code = open_first_part(pulling);
    return code == EXIT_DONE ? entry_visit_all(pulling->from, copy_entry, pulling) : code;
}

#if INGOT_WITH_REMOTE
/* ---- an image ---- */

/* Copies the entries of a layer into the part of the store that has its namespace. If it cannot be done, other layers
 * may still be of use. */
static ingot_status_t pull_layer(ingot_storage_t bundle, ingot_status_t status, const char *name_space, void *user)
{
    struct pulling *pulling = user;
    if (!is_wanted(pulling, name_space))
        return INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        (void)store_failed("reading a layer", status);
    pulling->from = bundle;
    if (status != INGOT_SUCCESS || open_part(pulling, name_space) != EXIT_DONE ||
        entry_visit_all(bundle, copy_entry, pulling) != EXIT_DONE)
        ++pulling->failed_count;
    return INGOT_SUCCESS;
}

static int pull_image(struct pulling *pulling)
{
    char layout[IMAGE_PATH_SIZE];
    int code = image_fetch(&pulling->common, &pulling->image, layout);
    if (code == EXIT_DONE)
        code = open_first_part(pulling);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = ingot_image_for_each(layout, pull_layer, pulling);
    pulling->from = NULL; /* the layers are closed */
    return status == INGOT_SUCCESS ? EXIT_DONE : store_failed("reading an image", status);
}

/* ---- a server ---- */

/* Stores an object with its seal, which the store checks. */
static void store_object(void *user, ingot_status_t status, size_t id_size, const uint8_t *id, size_t kept_size,
                         const uint8_t *kept)
{
    struct pulling *pulling = user;
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(pulling->store, id_size, id, kept_size, kept);
    pulling->entry_count += status == INGOT_SUCCESS;
    if (status != INGOT_SUCCESS && pulling->failed_count++ == 0)
        (void)store_failed("pulling an entry", status);
}

static int pull_from_server(struct pulling *pulling)
{
    int code = server_open(&pulling->from, &pulling->common, pulling->url, INGOT_REMOTE_READ_ONLY);
    store_take_namespace(&pulling->common);
    if (code == EXIT_DONE)
        code = open_first_part(pulling);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status =
        ingot_remote_for_each(pulling->from, pulling->store, store_object, pulling, &pulling->present_count);
    if (status == INGOT_UNIMPLEMENTED)
        return command_refuse(pulling->is_for_build ? &command_build : &command_pull, "%s. Name a store of requests%s",
                              ingot_last_error_detail(), pulling->is_for_build ? "" : " with --for");
    return status == INGOT_SUCCESS ? EXIT_DONE : store_failed("listing the server", status);
}

#else
static int pull_from_server(struct pulling *pulling)
{
    (void)pulling;
    return command_refuse(&command_pull, "name a bundle with --from: this tool was built without servers");
}
#endif

static int run_pull(void *values)
{
    struct pulling *pulling = values;
    int code = EXIT_DONE;
    if (pulling->source != NULL && (pulling->url != NULL || pulling->requests.count != 0))
        return command_refuse(&command_pull, "pull either from a bundle or a store, or from a server");
#if INGOT_WITH_REMOTE
    const bool is_image = pulling->image.reference != NULL || pulling->image.layout != NULL;
    if (is_image && (pulling->source != NULL || pulling->requests.count != 0 || pulling->url != NULL))
        return command_refuse(&command_pull, "an image has no other server, and all entries are taken from it");
    if (pulling->requests.count != 0) {
        /* Loads what requests need. The workers open the server that the environment names, and it is tried here first.
         */
        code = server_open(&pulling->from, &pulling->common, pulling->url, INGOT_REMOTE_READ_ONLY);
        ingot_storage_release(pulling->from);
        if (code != EXIT_DONE)
            return code;
        if (pulling->url != NULL && setenv("INGOT_PERSIST_REMOTE", pulling->url, 1) != 0)
            return store_failed("reading the settings", INGOT_OUT_OF_MEMORY);
        return build_pull(&pulling->common, &pulling->requests);
    }
    if (is_image)
        code = pull_image(pulling);
    else
#endif
        code = pulling->source != NULL ? pull_from_store(pulling) : pull_from_server(pulling);
    if (code == EXIT_DONE) {
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "entries", pulling->entry_count);
        json_add_u64(json, "present", pulling->present_count);
        json_add_u64(json, "failed", pulling->failed_count);
        output_print(json, pulling->common.is_json,
                     "{entries} entries pulled; the store already had {present}[failed?, {failed} failed]\n");
        code = pulling->failed_count != 0 ? EXIT_FAILED : EXIT_DONE;
    }
    ingot_storage_release(pulling->store);
    ingot_storage_release(pulling->from);
    return code;
}

int pull_quietly(const struct common_options *common, const char *source)
{
    struct pulling pulling = {.common = *common, .is_for_build = true};
    int code;
#if INGOT_WITH_REMOTE
    if (strstr(source, "://") == NULL) {
        pulling.image.layout = source;
        code = pull_image(&pulling);
    } else
#endif
    {
        pulling.url = source;
        code = pull_from_server(&pulling);
    }
    ingot_storage_release(pulling.store);
    ingot_storage_release(pulling.from);
    return code == EXIT_DONE && pulling.failed_count != 0 ? EXIT_FAILED : code;
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
        "machine from any server, and compiles nothing. With --from, takes all entries of a bundle or of another "
        "store. Those of a store keep their namespaces, of which --namespace chooses one.\n\n"
        "With --image, takes what an image in a registry has, into the namespaces that \"ingot push --image\" took it "
        "from, or with --namespace only what is of that namespace. skopeo moves the image, with its credentials, to a "
        "directory beside the store, and only what is not there yet. With --layout alone, the image is only read.\n\n"
        "The exit status is 1 if the server lacks programs, or did not work, and 4 if entries could not be stored.",
    .options = options,
    .size = sizeof(struct pulling),
    .run = run_pull,
};

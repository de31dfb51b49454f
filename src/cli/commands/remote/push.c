/*
 * push.c - `ingot push`: uploads the entries of a store to a server, except those that the server already has, or only
 * checks the server.
 *
 * Uploads are queued in memory, and the tier drops the oldest ones if there are too many. So the tool waits from time
 * to time until all are done. An interrupted push continues where it stopped, because the server is asked before each
 * upload.
 */
#include <ingot/private/directory.h>
#include <ingot/private/remote.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"

enum { MOST_WAITING = 64, MOST_WAITING_BYTES = 16 << 20 };

struct pushing {
    struct common_options common;
    const char *url;   /* NULL: from the environment */
    const char *kind;  /* NULL: all */
    bool is_check;     /* only checks the server */
    bool is_read_only; /* without storing anything */
    struct image_options image;
    ingot_storage_t store;
    ingot_storage_t server;
    size_t waiting_count; /* waiting_count and waiting_bytes: uploads since the tool last waited */
    size_t waiting_bytes;
    uint64_t present_count;
    uint64_t bad_count; /* entries that cannot be read or are refused */
    int code;
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct pushing, url), .help = "The server. Default: INGOT_PERSIST_REMOTE"},
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct pushing, kind),
     .help = "Push only entries of this kind, as in \"ingot ls\""},
    {"check", 'c', VALUE_NONE, NULL, offsetof(struct pushing, is_check),
     .help = "Only check the server: connect, store, load, compare and remove 64 KiB, and print how long each step "
             "took, or what is wrong. No store is needed. Exit status 1: the server does not work"},
    {"read-only", 'r', VALUE_NONE, NULL, offsetof(struct pushing, is_read_only),
     .help = "With --check: store and remove nothing"},
    {"image", 'i', VALUE_TEXT, "REFERENCE", offsetof(struct pushing, image.reference),
     .help = "Push to the image HOST[:PORT]/NAME[:TAG] in a registry, by skopeo"},
    {"layout", 0, VALUE_TEXT, "DIR", offsetof(struct pushing, image.layout),
     .help = "The image's OCI image layout; without --image, nothing else is moved. Default: beside the store that "
             "--dir or INGOT_PERSIST_DIR names"},
    {"plain-http", 0, VALUE_NONE, NULL, offsetof(struct pushing, image.is_plain),
     .help = "For --image: the registry need not encrypt"},
    {.help = NULL},
};

/* Waits until all uploads are done. Returns false if the server does not work. */
static bool wait_for_uploads(struct pushing *pushing)
{
    const ingot_status_t status = ingot_remote_flush(pushing->server, 0);
    pushing->waiting_count = 0;
    pushing->waiting_bytes = 0;
    if (status != INGOT_SUCCESS)
        pushing->code = store_failed("uploading", status);
    return status == INGOT_SUCCESS;
}

static bool upload_entry(struct pushing *pushing, const ingot_persist_entry_t *entry)
{
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    ingot_status_t status = ingot_persist_load_entry(pushing->store, entry, 1, &kept);
    if (status == INGOT_NOT_FOUND)
        return true; /* evicted in the meantime */
    const bool is_too_much = pushing->waiting_count != 0 && (pushing->waiting_count == MOST_WAITING ||
                                                             pushing->waiting_bytes + kept.size > MOST_WAITING_BYTES);
    const bool has_room = status != INGOT_SUCCESS || !is_too_much || wait_for_uploads(pushing);
    if (status == INGOT_SUCCESS && has_room) {
        status = ingot_persist_store_sealed(pushing->server, entry->id_size, entry->id, kept.size, kept.bytes);
        ++pushing->waiting_count;
        pushing->waiting_bytes += kept.size;
    }
    pushing->bad_count += status != INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        entry_tell_failure(entry, "left out", status);
    store_release_blob(&kept);
    return has_room;
}

static int push_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct pushing *pushing = user;
    if (!id_is_of_kind(entry->id_size, entry->id, pushing->kind) || entry_is_probes(entry))
        return 1;
    if (entry->status != INGOT_SUCCESS || entry->id_size == 0) {
        ++pushing->bad_count; /* "ingot verify" shows why */
        return 1;
    }
    const ingot_status_t status = ingot_remote_has(pushing->server, entry->id_size, entry->id);
    if (status == INGOT_NOT_FOUND)
        return upload_entry(pushing, entry);
    if (status == INGOT_SUCCESS)
        ++pushing->present_count;
    else
        pushing->code = store_failed("asking the server", status);
    return status == INGOT_SUCCESS;
}

/* ---- --check ---- */

#define CHECK_PATTERN                                                                                                  \
    "[connect_ns?connecting, first answer     {connect_ns:duration}\n]"                                                \
    "[write_ns?storing 64 KiB               {write_ns:duration}\n]"                                                    \
    "[read_ns?[write_ns?loading 64 KiB      ][write_ns!asking for a program]         {read_ns:duration}\n]"            \
    "[reason?{step} failed: {reason}\n][reason!the server works\n]"

static int check_server(const struct pushing *pushing)
{
    static const char *const steps[] = {[INGOT_REMOTE_STEP_OPEN] = "reading the settings",
                                        [INGOT_REMOTE_STEP_CONNECT] = "connecting",
                                        [INGOT_REMOTE_STEP_WRITE] = "storing",
                                        [INGOT_REMOTE_STEP_READ] = "loading",
                                        [INGOT_REMOTE_STEP_REMOVE] = "removing",
                                        [INGOT_REMOTE_STEP_DONE] = "done"};
    ingot_remote_info_t info;
    ingot_remote_report_t report;
    const int code = server_make_info(&info, pushing->url);
    if (code != EXIT_DONE)
        return code;
    if (pushing->is_read_only)
        info.flags |= (uint32_t)INGOT_REMOTE_READ_ONLY;
    const ingot_status_t status = ingot_remote_check(&info, &report);
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "status", ingot_status_name(status));
    json_add_text(json, "step", steps[report.step]);
    json_add_text(json, "reason", report.reason);
    json_add_u64(json, "connect_ns", report.connect_ns);
    json_add_u64(json, "write_ns", report.write_ns);
    json_add_u64(json, "read_ns", report.read_ns);
    output_print(json, pushing->common.is_json, CHECK_PATTERN);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    return report.step == INGOT_REMOTE_STEP_OPEN ? EXIT_USAGE : EXIT_FINDING;
}

static int run_push(void *values)
{
    struct pushing *pushing = values;
    ingot_remote_stats_t stats = {0};
    const bool is_image = pushing->image.reference != NULL || pushing->image.layout != NULL;
    if (pushing->is_read_only && !pushing->is_check)
        return command_refuse(&command_push, "--read-only is for --check");
    if (pushing->is_check && (is_image || pushing->kind != NULL))
        return command_refuse(&command_push, "--check checks a server, and pushes nothing");
    if (pushing->is_check)
        return check_server(pushing);
    if (is_image && (pushing->url != NULL || pushing->kind != NULL))
        return command_refuse(&command_push, "an image has no other server, and all kinds of entries");
    if (is_image)
        return image_push(&pushing->common, &pushing->image);
    int code = store_open(&pushing->store, &pushing->common, STORE_READ, NULL);
    if (code == EXIT_DONE)
        code = server_open(&pushing->server, &pushing->common, pushing->url, 0);
    if (code == EXIT_DONE) {
        code = entry_visit_all(pushing->store, push_entry, pushing);
        if (pushing->code != EXIT_DONE || !wait_for_uploads(pushing))
            code = pushing->code;
        (void)ingot_remote_get_stats(pushing->server, &stats);
        const uint64_t failed_count = stats.failed_uploads + stats.dropped_uploads;
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "pushed", stats.uploads);
        json_add_u64(json, "sent_bytes", stats.sent_bytes);
        json_add_u64(json, "present", pushing->present_count);
        json_add_u64(json, "left_out", pushing->bad_count);
        json_add_u64(json, "failed", failed_count + stats.waiting);
        output_print(json, pushing->common.is_json,
                     "pushed {pushed} entries ({sent_bytes:size} sent); the server already had {present}; {left_out} "
                     "left out, {failed} failed\n");
        if (code == EXIT_DONE && (failed_count != 0 || pushing->bad_count != 0))
            code = failed_count != 0 ? EXIT_FAILED : EXIT_FINDING;
    }
    ingot_storage_release(pushing->server);
    ingot_storage_release(pushing->store);
    return code;
}

const struct command command_push = {
    .name = "push",
    .group = "Share",
    .summary = "store the entries of a store on a server, or check it",
    .about = "Stores the entries of a store on a server that machines share, with their seals. Entries that the server "
             "already has are not sent again, so an interrupted push continues where it stopped. --namespace chooses "
             "among the entries of the store. The namespace on the server is INGOT_PERSIST_NAMESPACE, because that is "
             "where applications and layers look.\n\n"
             "With --image, the store becomes an image in a registry, which skopeo moves with its credentials. The "
             "entries keep their namespaces. The image's files stay in a directory beside the store, so that the next "
             "push moves only what is new. With --layout alone, the image is only written.\n\n"
             "The exit status is 1 if entries were left out because they are damaged, too large or not trusted, and 4 "
             "if the server failed.",
    .options = options,
    .size = sizeof(struct pushing),
    .run = run_push,
};

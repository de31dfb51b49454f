/*
 * image.c - pushes and pulls images; see image.h.
 *
 * An interrupt ends the tool at once. It does no damage, because an entry is stored as a whole or not at all, and a
 * push sets the tag last.
 */
#include "cli/commands/remote/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/output.h"
#include "cli/commands/remote/server.h"
#include "cli/store/store.h"

bool image_is_named(const char *url)
{
    const char *named = url != NULL ? url : getenv("INGOT_PERSIST_REMOTE");
    return named != NULL && strncmp(named, "oci://", 6) == 0;
}

static int print_image_stats(const struct common_options *options, bool is_push,
                             const ingot_remote_image_stats_t *stats)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", stats->entry_count);
    json_add_u64(json, is_push ? "pushed" : "pulled", stats->moved_count);
    json_add_u64(json, "present", stats->present_count);
    json_add_u64(json, "failed", stats->failed_count);
    json_add_u64(json, "bytes", stats->moved_bytes);
    output_print(json, options->is_json,
                 is_push ? "pushed {pushed} of {entries} entries ({bytes:size}); {present} were there already; "
                           "{failed} failed\n"
                         : "pulled {pulled} of {entries} entries ({bytes:size}); {present} were there already; "
                           "{failed} failed\n");
    if (stats->failed_count != 0)
        (void)fprintf(stderr, "ingot: the last entry that failed: %s\n", ingot_last_error_detail());
    return stats->failed_count != 0 ? EXIT_FINDING : EXIT_DONE;
}

/* Reads the server's settings. With is_plain, adds the option for HTTP without TLS to the URL, which `plain` then
 * holds. */
static int read_registry_settings(ingot_remote_info_t *info, const char *url, bool is_plain,
                                  struct server_memory *memory, char plain[SERVER_TEXT_CAPACITY])
{
    const int code = server_read_info(info, url, memory);
    if (code != EXIT_DONE || !is_plain)
        return code;
    const int length = snprintf(plain, SERVER_TEXT_CAPACITY, "%s%cplain-http=1", info->url,
                                strchr(info->url, '?') != NULL ? '&' : '?');
    info->url = plain;
    return length < SERVER_TEXT_CAPACITY ? EXIT_DONE : EXIT_USAGE;
}

int image_move(struct common_options *options, const char *url, bool is_plain, bool is_push)
{
    struct server_memory memory;
    char plain[SERVER_TEXT_CAPACITY];
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_remote_image_stats_t stats = INGOT_REMOTE_IMAGE_STATS_INIT;
    ingot_storage_t store = NULL;
    int code = read_registry_settings(&info, url, is_plain, &memory, plain);
    if (code == EXIT_DONE && !is_push)
        store_take_namespace(options);
    if (code == EXIT_DONE)
        code = store_open(&store, options, is_push ? STORE_READ : STORE_MAKE, NULL);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status =
        is_push ? ingot_remote_push_image(store, &info, &stats) : ingot_remote_pull_image(store, &info, &stats);
    if (status == INGOT_SUCCESS)
        code = print_image_stats(options, is_push, &stats);
    else
        code = store_failed(is_push ? "pushing an image" : "pulling an image", status);
    ingot_storage_release(store);
    return status == INGOT_INVALID_ARGUMENTS ? EXIT_USAGE : code;
}

/*
 * bundle.c - `ingot bundle`: writes a bundle from a store.
 */
#include <ingot/private/directory.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"

struct bundling {
    struct common_options common;
    const char *path;
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "FILE", offsetof(struct bundling, path), .flags = OPTION_REQUIRED,
     .help = "The bundle, a read-only file to ship with an application"},
    {.help = NULL},
};

static int run_bundle(void *values)
{
    struct bundling *bundling = values;
    ingot_storage_t storage = NULL;
    uint64_t entry_count = 0;
    const int code = store_open(&storage, &bundling->common, STORE_READ, NULL);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = ingot_persist_write_bundle(storage, bundling->path, NULL, NULL, &entry_count);
    ingot_storage_release(storage);
    if (status != INGOT_SUCCESS)
        return store_failed("making the bundle", status);
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", entry_count);
    output_print(json, bundling->common.is_json, "{entries} entries bundled\n");
    return EXIT_DONE;
}

const struct command command_bundle = {
    .name = "bundle",
    .group = "Run and build",
    .summary = "create a bundle from a store",
    .about = "Creates a bundle from the store's valid entries. An existing bundle is replaced when the new one is "
             "complete. \"ingot ls FILE\" lists a bundle, and \"ingot pull --from FILE\" stores its entries in a "
             "store.",
    .options = options,
    .size = sizeof(struct bundling),
    .run = run_bundle,
};

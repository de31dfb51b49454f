/*
 * bundle.c - `ingot bundle`: writes a bundle from a store, lists one, and copies its entries into a store.
 */
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/commands/all.h"
#include "cli/commands/ls.h"
#include "cli/store/entry.h"
#include "cli/store/store.h"

struct bundling {
    struct common_options common;
    const char *path;
};

static const struct command_option bundle_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct bundling, path), .flags = OPTION_REQUIRED,
     .help = "The bundle, a read-only file to ship with an application"},
    {.help = NULL},
};

/* The state of copying entries from a bundle to a store. */
struct extraction {
    ingot_storage_t bundle;
    ingot_storage_t store;
    uint64_t entry_count;
    ingot_status_t status;
};

static int print_entry_count(const struct bundling *bundling, const char *pattern, uint64_t entry_count)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", entry_count);
    output_print(json, bundling->common.is_json, pattern);
    return EXIT_DONE;
}

struct choosing {
    struct progress progress;
    uint64_t entry_count;
    uint64_t bytes;
};

/* Chooses every entry. It exists only to report progress. */
static int choose_every_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct choosing *choosing = user;
    choosing->bytes += entry->blob_size;
    progress_tell(&choosing->progress, ++choosing->entry_count, 0, choosing->bytes);
    return 1;
}

/* Writes a bundle. Ctrl-C may end this at any time, because an existing file is replaced only when the new one is
 * complete. */
static int create_bundle(void *values)
{
    const struct bundling *bundling = values;
    ingot_storage_t storage = NULL;
    uint64_t entry_count = 0;
    const int code = store_open(&storage, &bundling->common, STORE_READ, NULL);
    if (code != EXIT_DONE)
        return code;
    struct choosing choosing = {.entry_count = 0};
    progress_init(&choosing.progress, "bundling");
    const ingot_status_t status =
        ingot_persist_write_bundle(storage, bundling->path, choose_every_entry, &choosing, &entry_count);
    progress_fini(&choosing.progress);
    const int result = status == INGOT_SUCCESS ? print_entry_count(bundling, "{entries} entries bundled\n", entry_count)
                                               : store_failed("making the bundle", status);
    ingot_storage_release(storage);
    return result;
}

/* trust: the policy for the bundle's seals; NULL: none. */
static int open_bundle(ingot_storage_t *bundle, const char *path, const ingot_persist_trust_t *trust)
{
    const ingot_status_t status = ingot_persist_open_bundle(bundle, path, trust);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the bundle", status);
    return EXIT_NO_STORE;
}

static int list_bundle(void *values)
{
    const struct bundling *bundling = values;
    ingot_storage_t bundle = NULL;
    int code = open_bundle(&bundle, bundling->path, NULL);
    if (code == EXIT_DONE)
        code = ls_all(bundle, bundling->common.is_json);
    ingot_storage_release(bundle);
    return code;
}

static int extract_bundle_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct extraction *extraction = user;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = entry->status;
    if (status == INGOT_SUCCESS)
        status = ingot_persist_load_entry(extraction->bundle, entry, 1, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(extraction->store, entry->id_size, entry->id, blob.size, blob.bytes);
    store_release_blob(&blob);
    extraction->entry_count += status == INGOT_SUCCESS;
    if (status != INGOT_SUCCESS && extraction->status == INGOT_SUCCESS)
        (void)store_failed("extracting an entry", status);
    if (status != INGOT_SUCCESS)
        extraction->status = status;
    return true; /* if this entry cannot be stored, others may still be */
}

static int extract_bundle(void *values)
{
    const struct bundling *bundling = values;
    struct extraction extraction = {.status = INGOT_SUCCESS};
    struct common_options options = bundling->common;
    ingot_persist_trust_t trust;
    store_take_namespace(&options);
    int code = store_read_trust(&trust, &options);
    if (code == EXIT_DONE) /* the bundle gets the store's policy, so that a refusal names the bundle */
        code = open_bundle(&extraction.bundle, bundling->path, &trust);
    if (code == EXIT_DONE)
        code = store_open(&extraction.store, &options, STORE_MAKE, NULL);
    if (code == EXIT_DONE) {
        interrupt_catch();
        code = entry_visit_all(extraction.bundle, extract_bundle_entry, &extraction);
        (void)print_entry_count(bundling, "{entries} entries extracted\n", extraction.entry_count);
        if (code == EXIT_DONE && extraction.status != INGOT_SUCCESS)
            code = EXIT_FAILED;
    }
    ingot_storage_release(extraction.store);
    ingot_storage_release(extraction.bundle);
    return code;
}

const struct command command_bundle_create = {
    .name = "bundle create",
    .group = "Run and build",
    .summary = "create a bundle from a store",
    .about = "Creates a bundle from the store's valid entries. An existing bundle is replaced when the new one is "
             "complete.",
    .options = bundle_options,
    .size = sizeof(struct bundling),
    .run = create_bundle,
};

const struct command command_bundle_list = {
    .name = "bundle list",
    .group = "Run and build",
    .summary = "list a bundle's entries",
    .about = "Lists a bundle's entries as \"ingot ls\" does.",
    .options = bundle_options,
    .size = sizeof(struct bundling),
    .run = list_bundle,
};

const struct command command_bundle_extract = {
    .name = "bundle extract",
    .group = "Run and build",
    .summary = "store a bundle's entries in a store",
    .about = "Stores a bundle's entries in the store, which is created if it is missing.",
    .options = bundle_options,
    .size = sizeof(struct bundling),
    .run = extract_bundle,
};

/*
 * bundle.c - `ingot bundle`: writes a bundle from a store, lists one, and copies its entries into a store.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/command.h"
#include "cli/commands/ls.h"
#include "cli/store/entry.h"
#include "cli/store/store.h"

struct bundling {
    struct common_options common;
    int (*action)(const struct bundling *bundling);
    const char *path;
};

/* The state of copying entries from a bundle to a store. */
struct extraction {
    ingot_storage_t bundle;
    ingot_storage_t store;
    uint64_t entry_count;
    ingot_status_t status;
};

static int tell(const struct bundling *bundling, const char *what, uint64_t entry_count)
{
    if (bundling->common.is_json) {
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "entries", entry_count);
        json_print(json);
    } else {
        (void)printf("%" PRIu64 " entries %s\n", entry_count, what);
    }
    return EXIT_DONE;
}

struct choosing {
    struct progress progress;
    uint64_t entry_count;
    uint64_t bytes;
};

/* Chooses every entry. It exists only to report progress. */
static int choose(const ingot_persist_entry_t *entry, void *user)
{
    struct choosing *choosing = user;
    choosing->bytes += entry->blob_size;
    progress_tell(&choosing->progress, ++choosing->entry_count, 0, choosing->bytes);
    return 1;
}

/* Writes a bundle. Ctrl-C may end this at any time, because an existing file is replaced only when the new one is
 * complete. */
static int create(const struct bundling *bundling)
{
    ingot_storage_t storage = NULL;
    uint64_t entry_count = 0;
    const int code = store_open(&storage, &bundling->common, STORE_READ, NULL);
    if (code != EXIT_DONE)
        return code;
    struct choosing choosing = {.entry_count = 0};
    progress_init(&choosing.progress, "bundling");
    const ingot_status_t status = ingot_persist_write_bundle(storage, bundling->path, choose, &choosing, &entry_count);
    progress_fini(&choosing.progress);
    const int result =
        status == INGOT_SUCCESS ? tell(bundling, "bundled", entry_count) : store_failed("making the bundle", status);
    ingot_storage_release(storage);
    return result;
}

/* trust: the policy for the bundle's seals; NULL: none. */
static int open_bundle(ingot_storage_t *bundle, const char *path, const ingot_persist_trust_t *trust)
{
    const ingot_status_t status = ingot_persist_open_trusted_bundle(bundle, path, trust);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the bundle", status);
    return EXIT_NO_STORE;
}

static int list(const struct bundling *bundling)
{
    ingot_storage_t bundle = NULL;
    int code = open_bundle(&bundle, bundling->path, NULL);
    if (code == EXIT_DONE)
        code = ls_all(bundle, bundling->common.is_json);
    ingot_storage_release(bundle);
    return code;
}

static int extract_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct extraction *extraction = user;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = entry->status;
    if (status == INGOT_SUCCESS)
        status = ingot_persist_load_sealed_entry(extraction->bundle, entry, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(extraction->store, entry->id_size, entry->id, blob.size, blob.bytes);
    if (blob.release != NULL)
        blob.release(&blob);
    extraction->entry_count += status == INGOT_SUCCESS;
    if (status != INGOT_SUCCESS && extraction->status == INGOT_SUCCESS)
        (void)store_failed("extracting an entry", status);
    if (status != INGOT_SUCCESS)
        extraction->status = status;
    return true; /* if this entry cannot be stored, others may still be */
}

static int extract(const struct bundling *bundling)
{
    struct extraction extraction = {.status = INGOT_SUCCESS};
    struct common_options options = bundling->common;
    ingot_persist_trust_t trust;
    options_take_namespace(&options);
    int code = store_read_trust(&trust, &options);
    if (code == EXIT_DONE) /* the bundle gets the store's policy, so that a refusal names the bundle */
        code = open_bundle(&extraction.bundle, bundling->path, &trust);
    if (code == EXIT_DONE)
        code = store_open(&extraction.store, &options, STORE_MAKE, NULL);
    if (code == EXIT_DONE) {
        interrupt_catch();
        code = entry_visit_all(extraction.bundle, extract_entry, &extraction);
        (void)tell(bundling, "extracted", extraction.entry_count);
        if (code == EXIT_DONE && extraction.status != INGOT_SUCCESS)
            code = EXIT_FAILED;
    }
    ingot_storage_release(extraction.store);
    ingot_storage_release(extraction.bundle);
    return code;
}

static void take_action(struct bundling *bundling, const char *name, struct argp_state *state)
{
    if (strcmp(name, "create") == 0)
        bundling->action = create;
    else if (strcmp(name, "list") == 0)
        bundling->action = list;
    else if (strcmp(name, "extract") == 0)
        bundling->action = extract;
    else
        argp_error(state, "\"%s\" is not a bundle command: use create, list or extract", name);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct bundling *bundling = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            take_action(bundling, value, state);
        else if (state->arg_num == 1)
            bundling->path = value;
        else
            argp_error(state, "too many arguments");
        return 0;
    case ARGP_KEY_END:
        if (bundling->path == NULL)
            argp_error(state, "name a bundle command and a file");
        return 0;
    default: return options_parse_other(key, state);
    }
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {
        NULL,
        parse_option,
        "create FILE\nlist FILE\nextract FILE",
        "Creates a bundle from the store's valid entries, lists a bundle's entries, or stores them in the store, which "
        "is created if it is missing.",
        options_common,
        NULL,
        NULL};
    struct bundling bundling = {.path = NULL};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &bundling);
    return bundling.action(&bundling);
}

const struct command command_bundle = {"bundle", "create, list or extract a bundle", run};

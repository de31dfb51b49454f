/*
 * manifest.c - `ingot manifest`: lists the programs of a manifest. These are what a run requested, and the next run can
 * load them ahead of its requests.
 */
#include <ingot/prewarm.h>
#include <stdio.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/units.h"
#include "cli/commands/all.h"
#include "cli/commands/table.h"
#include "cli/store/id.h"

struct listing {
    struct common_options common;
    const char *path;
    struct table table;
    cJSON *json; /* with --json; used instead of the table */
};

static const struct command_option options[] = {
    {.kind = VALUE_FILE,
     .flags = OPTION_REQUIRED,
     .value = "FILE",
     .at = offsetof(struct listing, path),
     .help = "The manifest. It does not need a store"},
    {.help = NULL},
};

static void add_to_json(cJSON *list, uint32_t age, size_t size, const struct id_view *id)
{
    cJSON *item = cJSON_CreateObject();
    json_add_u64(item, "age", age);
    json_add_u64(item, "id_bytes", size);
    id_add_to_json(item, id);
    (void)cJSON_AddItemToArray(list, item);
}

static int visit(size_t size, const uint8_t *bytes, uint32_t age, void *user)
{
    struct listing *listing = user;
    struct id_view id;
    char text[UNITS_TEXT_SIZE];

    id_read(&id, size, bytes);
    if (listing->json != NULL) {
        add_to_json(listing->json, age, size, &id);
    } else {
        (void)snprintf(text, sizeof(text), "%u", (unsigned)age);
        table_add(&listing->table, text);
        table_add(&listing->table, id_maker(&id));
        table_add(&listing->table, id.drivers);
        table_add(&listing->table, id.sources);
        table_add(&listing->table, id.devices);
    }
    id_fini(&id);
    return 1;
}

static int run(void *values)
{
    static const struct table_column columns[] = {
        {"AGE", true}, {"BACKEND", false}, {"DRIVER", false}, {"SOURCE", false}, {"DEVICE", false}};
    struct listing *listing = values;

    table_init(&listing->table, sizeof(columns) / sizeof(columns[0]), columns);
    if (listing->common.is_json)
        listing->json = cJSON_CreateArray();
    const ingot_status_t status = ingot_persist_read_manifest(listing->path, visit, listing);
    if (status != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot: %s: %s: %s\n", listing->path, ingot_status_name(status),
                      ingot_last_error_detail());
        cJSON_Delete(listing->json);
    } else if (listing->json != NULL) {
        json_print(listing->json);
    } else {
        table_print(&listing->table);
    }
    table_fini(&listing->table);
    return status == INGOT_SUCCESS ? EXIT_DONE : EXIT_NO_STORE;
}

const struct command command_manifest = {
    .name = "manifest",
    .group = "Look into a store",
    .summary = "list the programs that a run requested and the next run can load ahead",
    .about = "Lists the programs of a manifest in the order in which the last run requested them. Programs that only "
             "earlier runs requested follow; AGE is the number of runs in a row that did not request a program.",
    .options = options,
    .size = sizeof(struct listing),
    .run = run,
};

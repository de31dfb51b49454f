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
#include "cli/command.h"
#include "cli/commands/table.h"
#include "cli/store/id.h"

struct listing {
    struct common_options common;
    const char *path;
    struct table table;
    cJSON *json; /* with --json; used instead of the table */
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct listing *listing = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (listing->path != NULL)
            argp_error(state, "name one manifest only");
        listing->path = value;
        return 0;
    case ARGP_KEY_END:
        if (listing->path == NULL)
            argp_error(state, "name a manifest");
        return 0;
    default: return options_parse_other(key, state);
    }
}

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

static int run(int argc, char **argv)
{
    static const struct argp argp = {NULL,
                                     parse_option,
                                     "FILE",
                                     "Lists a manifest's programs in the order of the requests. AGE is the number of "
                                     "runs in a row without a request.",
                                     options_common,
                                     NULL,
                                     NULL};
    static const struct table_column columns[] = {
        {"AGE", true}, {"BACKEND", false}, {"DRIVER", false}, {"SOURCE", false}, {"DEVICE", false}};
    struct listing listing = {.path = NULL};

    (void)argp_parse(&argp, argc, argv, 0, NULL, &listing);
    table_init(&listing.table, sizeof(columns) / sizeof(columns[0]), columns);
    if (listing.common.is_json)
        listing.json = cJSON_CreateArray();
    const ingot_status_t status = ingot_persist_read_manifest(listing.path, visit, &listing);
    if (status != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot: %s: %s: %s\n", listing.path, ingot_status_name(status),
                      ingot_last_error_detail());
        cJSON_Delete(listing.json);
    } else if (listing.json != NULL) {
        json_print(listing.json);
    } else {
        table_print(&listing.table);
    }
    table_fini(&listing.table);
    return status == INGOT_SUCCESS ? EXIT_DONE : EXIT_NO_STORE;
}

const struct command command_manifest = {"manifest",
                                         "list the programs that a run requested and the next run can load ahead", run};

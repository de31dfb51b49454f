/*
 * manifest.c - `ingot manifest`: lists the programs of a manifest. These are what a run requested, and the next run can
 * load them ahead of its requests.
 */
#include <ingot/prewarm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/table.h"
#include "cli/commands/all.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"

/* A program of the manifest. */
struct item {
    size_t position; /* among the programs of the manifest */
    uint32_t age;
    size_t size;
    uint8_t *id;
    char *title; /* from the store, or NULL */
};

struct listing {
    struct common_options common;
    const char *path;
    ingot_storage_t store; /* NULL: there is none */
    struct item *items;
    size_t item_count;
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct listing, path), .flags = OPTION_REQUIRED, .help = "The manifest"},
    {.help = NULL},
};

static ingot_status_t note_item(size_t size, const uint8_t *bytes, uint32_t age, void *user)
{
    struct listing *listing = user;
    listing->items = memory_grow(listing->items, listing->item_count, sizeof(*listing->items));
    listing->items[listing->item_count] = (struct item){listing->item_count, age, size, memory_copy(size, bytes), NULL};
    ++listing->item_count;
    return INGOT_SUCCESS;
}

/* ---- names, which only the store has ---- */

static int by_id(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return memcmp(x->id, y->id, x->size);
}

static int by_position(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    return x->position < y->position ? -1 : x->position > y->position;
}

static int take_title(const ingot_persist_entry_t *facts, void *user)
{
    struct listing *listing = user;
    const struct item wanted = {.size = facts->id_size, .id = (uint8_t *)facts->id};
    struct item *item = facts->id != NULL && facts->status == INGOT_SUCCESS
                            ? bsearch(&wanted, listing->items, listing->item_count, sizeof(wanted), by_id)
                            : NULL;
    cJSON *blob = item != NULL && item->title == NULL ? entry_read_blob(listing->store, facts) : NULL;
    if (blob != NULL)
        item->title = memory_copy_text(entry_title(blob));
    cJSON_Delete(blob);
    return !interrupt_seen();
}

static void find_titles(struct listing *listing)
{
    if (listing->item_count == 0 || store_open(&listing->store, &listing->common, STORE_TRY, NULL) != EXIT_DONE)
        return;
    qsort(listing->items, listing->item_count, sizeof(*listing->items), by_id);
    (void)entry_visit_all(listing->store, take_title, listing);
    qsort(listing->items, listing->item_count, sizeof(*listing->items), by_position);
    ingot_storage_release(listing->store);
}

/* ---- output ---- */

static void print_items(const struct listing *listing)
{
    static const struct table_column columns[] = {
        {"AGE", "{age}", true},        {"BACKEND", "[backend?{backend}][backend!{kind}]", false},
        {"DRIVER", "{driver}", false}, {"SOURCE", "{source}", false},
        {"NAME", "{name}", false},     {"DEVICE", "{device}", false}};
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < listing->item_count; ++i) {
        const struct item *item = &listing->items[i];
        cJSON *id = id_read(item->size, item->id);
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "age", item->age);
        json_add_u64(json, "id_bytes", item->size);
        id_add_to_json(json, id);
        json_add_text(json, "name", item->title);
        (void)cJSON_AddItemToArray(list, json);
        cJSON_Delete(id);
    }
    table_report(list, listing->common.is_json, sizeof(columns) / sizeof(columns[0]), columns);
}

static int run_manifest(void *values)
{
    struct listing *listing = values;
    const ingot_status_t status = ingot_manifest_read(listing->path, note_item, listing);
    if (status != INGOT_SUCCESS) {
        store_tell_failure(status, "%s", listing->path);
    } else {
        interrupt_catch();
        find_titles(listing);
        print_items(listing);
    }
    return status == INGOT_SUCCESS ? EXIT_DONE : EXIT_NO_STORE;
}

const struct command command_manifest = {
    .name = "manifest",
    .group = "Look into a store",
    .summary = "list the programs that a run requested and the next run can load ahead",
    .about = "Lists the programs of a manifest in the order in which the last run requested them. Programs that only "
             "earlier runs requested follow; AGE is the number of runs in a row that did not request a program. "
             "Names come from the store, if there is one that has the programs.",
    .options = options,
    .size = sizeof(struct listing),
    .run = run_manifest,
};

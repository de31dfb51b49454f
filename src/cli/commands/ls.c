/*
 * ls.c - `ingot ls`: lists entries, filtered and sorted.
 *
 * A row keeps only what is shown, without the id, so that a hundred thousand entries fit in memory.
 */
#include "cli/commands/ls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/table.h"
#include "cli/base/text.h"
#include "cli/commands/all.h"
#include "cli/commands/difference.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"

enum { MOST_SHOWN = 60 }; /* bytes of options */

struct row {
    struct entry entry;   /* without its id */
    struct id_view id;    /* without its fields */
    char *title;          /* from the blob, or NULL: what people know the entry by */
    char *source_name;    /* from the blob, or NULL; for an artifact, its label */
    char *options;        /* a list of what may differ between programs of one name, or NULL (difference.h) */
    char *difference;     /* the options that other rows of this name do not have, or NULL */
    uint64_t build_ns;    /* from the blob; 0: unknown */
    uint64_t sort_number; /* the rows with the largest number come first, then those with the first text */
    const char *sort_text;
};

/* The words of --sort, in their order. */
enum order { BY_CREATION, BY_USE, BY_SIZE, BY_NAME, BY_DEVICE, BY_DRIVER, BY_SOURCE };

struct listing {
    struct common_options common;
    ingot_storage_t storage;
    const char *kind; /* the filters are kind, device, driver and source; NULL: no filter */
    const char *device;
    const char *driver;
    const char *source;
    unsigned order; /* the position of the word of --sort, from 1; 0: not given */
    bool is_reverse;
    bool is_names_only;
    struct row *rows;
    size_t row_count;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = compare_u64(y->sort_number, x->sort_number);
    if (order == 0)
        order = compare_text(x->sort_text, y->sort_text);
    if (order == 0)
        order = strcmp(x->entry.facts.name_space, y->entry.facts.name_space);
    if (order == 0)
        order = compare_u64(x->entry.facts.bucket, y->entry.facts.bucket);
    return order != 0 ? order : compare_u64(x->entry.facts.number, y->entry.facts.number);
}

/* Sets what a row is sorted by, before its name. */
static void set_sort_key(struct row *row, enum order order)
{
    switch (order) {
    case BY_CREATION: row->sort_number = row->entry.facts.created_ns; break;
    case BY_USE: row->sort_number = row->entry.facts.last_use_ns; break;
    case BY_SIZE: row->sort_number = row->entry.facts.bytes; break;
    case BY_NAME: break;
    case BY_DEVICE: row->sort_text = row->id.devices; break;
    case BY_DRIVER: row->sort_text = row->id.drivers; break;
    case BY_SOURCE: row->sort_text = row->id.sources; break;
    }
}

static const struct command_option ls_options[] = {
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct listing, kind),
     .help = "List only artifacts of this kind, or with \"program\" only programs"},
    {"device", 'D', VALUE_TEXT, "TEXT", offsetof(struct listing, device),
     .help = "List only entries for a device whose name contains TEXT"},
    {"driver", 'V', VALUE_TEXT, "TEXT", offsetof(struct listing, driver),
     .help = "List only entries of a driver whose version contains TEXT"},
    {"source", 'S', VALUE_TEXT, "TEXT", offsetof(struct listing, source),
     .help = "List only entries with a source whose digest begins with TEXT, or whose kind, name, headers or files "
             "contain TEXT, and artifacts whose label or key contains it"},
    {"sort", 's', VALUE_WORD, "KEY", offsetof(struct listing, order),
     .words = "created used size name device driver source",
     .help = "Sort by KEY, times with the last first and sizes with the largest first. Default: created"},
    {"reverse", 'r', VALUE_NONE, NULL, offsetof(struct listing, is_reverse), .help = "Reverse the order"},
    {"names", '1', VALUE_NONE, NULL, offsetof(struct listing, is_names_only),
     .help = "Print names only, one per line. Reads no blobs unless --source is given"},
    {.help = NULL},
};

static bool is_wanted(const struct listing *listing, const struct row *row)
{
    const struct id_view *id = &row->id;
    const char *kind = id_kind(id);
    return (listing->kind == NULL || (kind != NULL && strcmp(kind, listing->kind) == 0)) &&
           (listing->device == NULL || text_contains(id->devices, listing->device)) &&
           (listing->driver == NULL || text_contains(id->drivers, listing->driver)) &&
           (listing->source == NULL || id_has_source(id, listing->source) != 0 ||
            text_contains(row->source_name, listing->source) || text_contains(row->title, listing->source));
}

static void row_fini(struct row *row)
{
    entry_fini(&row->entry);
    id_fini(&row->id);
    free(row->title);
    free(row->source_name);
    free(row->options);
    free(row->difference);
}

/* Lists the options of a program, or the fields of an artifact's key. */
static char *list_options(const struct id_view *id)
{
    const cJSON *field;
    char *list = NULL;
    cJSON_ArrayForEach(field, id->fields)
    {
        if (strncmp(field->string, "key.", 4) == 0 && cJSON_IsString(field))
            list = text_append(text_append(list, "\n", field->string + 4), "=", field->valuestring);
        else if (strcmp(field->string, "compile_options") == 0 || strcmp(field->string, "link_options") == 0)
            list = difference_add_words(list, cJSON_GetStringValue(field));
    }
    return list;
}

/* Reads the source name and the build time, which only the blob has. A damaged blob gives neither. */
static void read_blob(struct row *row, ingot_storage_t storage, const ingot_persist_entry_t *facts)
{
    cJSON *blob = facts->status == INGOT_SUCCESS ? entry_read_blob(storage, facts) : NULL;
    if (blob == NULL)
        return;
    const cJSON *label = cJSON_GetObjectItem(blob, "label");
    const cJSON *name = label != NULL ? label : cJSON_GetObjectItem(blob, "source_name");
    row->source_name = memory_copy_text(cJSON_GetStringValue(name));
    row->title = memory_copy_text(entry_title(blob));
    row->build_ns = label != NULL ? entry_make_time_ns(blob) : json_get_u64(blob, "build_time_ns");
    cJSON_Delete(blob);
}

static int collect(const ingot_persist_entry_t *facts, void *user)
{
    struct listing *listing = user;
    ingot_persist_entry_t kept = *facts;
    struct row row = {.title = NULL};

    id_read(&row.id, facts->id_size, facts->id);
    if (!listing->is_names_only || listing->source != NULL)
        read_blob(&row, listing->storage, facts);
    if (!is_wanted(listing, &row)) {
        row_fini(&row);
        return 1;
    }
    row.options = list_options(&row.id);
    cJSON_Delete(row.id.fields);
    row.id.fields = NULL;
    kept.id = NULL;
    entry_copy(&row.entry, &kept);
    listing->rows = memory_grow(listing->rows, listing->row_count, sizeof(*listing->rows));
    listing->rows[listing->row_count++] = row;
    return 1;
}

/* Orders rows by what they show as their names, so that those with one name follow each other. */
static int by_title(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a;
    const struct row *y = *(struct row *const *)b;
    const int order = compare_text(x->title, y->title);
    return order != 0 ? order : compare_text(id_maker(&x->id), id_maker(&y->id));
}

/* Notes what differs between `count` rows with one name. */
static void note_differences(size_t count, struct row *const *rows)
{
    char *common = count > 1 && rows[0]->options != NULL ? memory_copy_text(rows[0]->options) : NULL;
    for (size_t i = 1; i < count; ++i)
        difference_keep_common(common, rows[i]->options);
    for (size_t i = 0; i < count && count > 1; ++i)
        rows[i]->difference = difference_from(rows[i]->options, common);
    free(common);
}

static void compare_all(const struct listing *listing)
{
    struct row **rows = memory_get((listing->row_count + 1) * sizeof(*rows));
    for (size_t i = 0; i < listing->row_count; ++i)
        rows[i] = &listing->rows[i];
    if (listing->row_count > 1)
        qsort(rows, listing->row_count, sizeof(*rows), by_title);
    for (size_t first = 0, i = 1; i <= listing->row_count; ++i) {
        if (i < listing->row_count && by_title(&rows[first], &rows[i]) == 0)
            continue;
        note_differences(i - first, rows + first);
        first = i;
    }
    free(rows);
}

static void sort_rows(struct listing *listing)
{
    const size_t count = listing->row_count;
    for (size_t i = 0; i < count; ++i)
        set_sort_key(&listing->rows[i], listing->order != 0 ? (enum order)(listing->order - 1) : BY_CREATION);
    if (count > 1)
        qsort(listing->rows, count, sizeof(*listing->rows), compare_rows);
    for (size_t i = 0; listing->is_reverse && i < count / 2; ++i) {
        const struct row row = listing->rows[i];
        listing->rows[i] = listing->rows[count - 1 - i];
        listing->rows[count - 1 - i] = row;
    }
}

static cJSON *row_to_json(const struct row *row)
{
    char *options = difference_from(row->options, NULL);
    cJSON *json = entry_to_json(&row->entry.facts);
    id_add_to_json(json, &row->id);
    json_add_text(json, "name", row->title);
    json_add_text(json, "source_name", row->source_name);
    json_add_text(json, "options", options);
    json_add_u64(json, "build_time_ns", row->build_ns);
    free(options);
    return json;
}

static void print_json(const struct listing *listing)
{
    (void)putchar('[');
    for (size_t i = 0; i < listing->row_count; ++i) {
        (void)fputs(i == 0 ? "\n" : ",\n", stdout);
        json_print_item(row_to_json(&listing->rows[i]));
    }
    (void)fputs(listing->row_count != 0 ? "\n]\n" : "]\n", stdout);
}

/* In the row of a bad entry, the status follows the times. */
static void print_table(const struct listing *listing)
{
    static const struct table_column columns[] = {
        {"ENTRY", "{entry}", false},
        {"SIZE", "{bytes:size}", true},
        {"AGE", "{created:age}", true},
        {"USED", "[created?{last_use:age}]", true},
        {"BUILD", "[reason?{status}][reason![build_time_ns?{build_time_ns:duration}]]", true},
        {"BACKEND", "[reason![backend?{backend}][backend!{kind}]]", false},
        {"DRIVER", "[reason!{driver}]", false},
        {"SOURCE", "[reason!{source}]", false},
        {"NAME", "[reason!{name}]", false},
        {"OPTIONS", "[reason!{difference}]", false},
        {"DEVICE", "[reason!{device}]", false}};
    struct table table;
    if (listing->row_count == 0)
        return;
    table_init(&table, sizeof(columns) / sizeof(columns[0]), columns);
    for (size_t i = 0; i < listing->row_count; ++i) {
        const struct row *row = &listing->rows[i];
        cJSON *json = row_to_json(row);
        if (row->difference != NULL && strlen(row->difference) > MOST_SHOWN)
            (void)strcpy(row->difference + MOST_SHOWN - 3, "...");
        json_add_text(json, "difference", row->difference);
        table_add(&table, json);
        cJSON_Delete(json);
    }
    table_print(&table);
}

static void print(const struct listing *listing)
{
    if (listing->common.is_json)
        print_json(listing);
    else if (!listing->is_names_only)
        print_table(listing);
    else
        for (size_t i = 0; i < listing->row_count; ++i)
            (void)puts(listing->rows[i].entry.name);
}

static int list(struct listing *listing, ingot_storage_t storage)
{
    listing->storage = storage;
    interrupt_catch();
    const int code = entry_visit_all(storage, collect, listing);
    if (code != EXIT_FAILED) {
        sort_rows(listing);
        compare_all(listing);
        print(listing);
    }
    return code;
}

int ls_all(ingot_storage_t storage, bool is_json)
{
    static struct listing listing;
    listing.common.is_json = is_json;
    return list(&listing, storage);
}

static int run(void *values)
{
    struct listing *listing = values;
    ingot_storage_t storage = NULL;
    int code = store_open(&storage, &listing->common, STORE_READ, NULL);
    if (code != EXIT_DONE)
        return code;
    code = list(listing, storage);
    ingot_storage_release(storage);
    return code;
}

const struct command command_ls = {
    .name = "ls",
    .group = "Look into a store",
    .summary = "list entries",
    .about =
        "Lists entries with size, age, time since the last use, build time, backend, driver, sources, name, options "
        "and devices. The name is that of the first source, or of the first kernel if the source has none. OPTIONS "
        "has the options that differ between the rows of one name. For an artifact it shows the kind in the place "
        "of the backend, the time that making it took, its label as the name, and the fields of its key as "
        "options. For a bad entry it shows the status instead. It reads each blob to get the name and the build "
        "time.",
    .options = ls_options,
    .size = sizeof(struct listing),
    .run = run,
};

/*
 * ls.c - `ingot ls`: lists the entries of a store or of a bundle, filtered and sorted.
 *
 * A row keeps only what is shown, without the id, so that a hundred thousand entries fit in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "util/nanoseconds.h"

enum { MOST_SHOWN = 60 }; /* bytes of what differs */

struct row {
    cJSON *json;          /* what --json prints, without the id; the next two are texts in it */
    const char *title;    /* what people know the entry by, or NULL */
    const char *maker;    /* the backend, or the kind of an artifact, or NULL */
    uint64_t sort_number; /* the rows with the largest number come first */
};

struct listing {
    struct common_options common;
    ingot_storage_t storage;
    const char *kind; /* the filters are kind, device, driver and source; NULL: no filter */
    const char *device;
    const char *driver;
    const char *source;
    unsigned order; /* the position of the word of --sort, from 1; 0: not given */
    bool is_names_only;
    struct row *rows;
    size_t row_count;
};

static int compare_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

static int compare_ls_rows(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    if (x->sort_number != y->sort_number)
        return x->sort_number < y->sort_number ? 1 : -1;
    return strcmp(json_text(x->json, "entry"), json_text(y->json, "entry"));
}

static const struct command_option ls_options[] = {
    {NULL, 0, VALUE_TEXT, "STORE", offsetof(struct listing, common.directory),
     .help = "The store or bundle; the same as --dir"},
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct listing, kind),
     .help = "List only entries of this kind: result (or program), artifact, request, probes, or a kind of artifacts"},
    {"device", 'D', VALUE_TEXT, "TEXT", offsetof(struct listing, device),
     .help = "List only entries for a device whose name contains TEXT"},
    {"driver", 'V', VALUE_TEXT, "TEXT", offsetof(struct listing, driver),
     .help = "List only entries of a driver whose version contains TEXT"},
    {"source", 'S', VALUE_TEXT, "TEXT", offsetof(struct listing, source),
     .help = "List only entries with a source whose digest begins with TEXT, or whose kind, name, headers or files "
             "contain TEXT, and artifacts whose label or key contains it"},
    {"sort", 's', VALUE_WORD, "KEY", offsetof(struct listing, order), .words = "created used size",
     .help = "Sort by KEY, times with the last first and sizes with the largest first. Default: created"},
    {"names", '1', VALUE_NONE, NULL, offsetof(struct listing, is_names_only),
     .help = "Print names only, one per line. Reads no blobs unless --source is given"},
    {.help = NULL},
};

/* Returns the options of a program, or the fields of an artifact's key, or NULL if there are none. */
static char *list_program_options(const cJSON *id)
{
    const cJSON *field;
    char *list = NULL;
    cJSON_ArrayForEach(field, id)
    {
        const bool is_of_key = strncmp(field->string, "key.", 4) == 0 && cJSON_IsString(field);
        if (is_of_key)
            list = text_append(text_append(list, " ", field->string + 4), "=", field->valuestring);
        else if ((strcmp(field->string, "compile_options") == 0 || strcmp(field->string, "link_options") == 0) &&
                 cJSON_IsString(field))
            list = text_append(list, " ", field->valuestring);
    }
    char *words = text_select_words(list, NULL, false, NULL);
    free(list);
    return words;
}

/* Returns how long it took to make an artifact, from the description of its blob; 0: unknown. */
static uint64_t make_time_ns(const cJSON *blob)
{
    const uint64_t time_ms = json_get_u64(blob, "make_time_ms");
    return time_ms < UINT64_MAX / NS_PER_MS ? time_ms * NS_PER_MS : UINT64_MAX;
}

/* Describes an entry as --json prints it. Only the blob has the name and the build time. A damaged blob gives neither.
 */
static int collect_row(const ingot_persist_entry_t *facts, void *user)
{
    struct listing *listing = user;
    const bool reads_blob = !listing->is_names_only || listing->source != NULL;
    cJSON *id = id_read(facts->id_size, facts->id);
    cJSON *json = entry_to_json(facts);
    cJSON *blob = reads_blob && facts->status == INGOT_SUCCESS ? entry_read_blob(listing->storage, facts) : NULL;
    const char *label = json_text(blob, "label");
    char *options = list_program_options(id);
    id_add_to_json(json, id);
    json_add_text(json, "name", blob != NULL ? entry_title(blob) : NULL);
    json_add_text(json, "source_name", label != NULL ? label : json_text(blob, "source_name"));
    json_add_text(json, "options", options);
    json_add_u64(json, "build_time_ns", label != NULL ? make_time_ns(blob) : json_get_u64(blob, "build_time_ns"));
    if (id_has_kind(id, listing->kind) &&
        (listing->device == NULL || text_contains(json_text(json, "device"), listing->device)) &&
        (listing->driver == NULL || text_contains(json_text(json, "driver"), listing->driver)) &&
        (listing->source == NULL || id_has_source(id, listing->source) ||
         text_contains(json_text(json, "source_name"), listing->source) ||
         text_contains(json_text(json, "name"), listing->source))) {
        const char *backend = json_text(json, "backend");
        const uint64_t numbers[] = {facts->created_ns, facts->created_ns, facts->last_use_ns, facts->bytes};
        listing->rows = memory_grow(listing->rows, listing->row_count, sizeof(*listing->rows));
        listing->rows[listing->row_count++] = (struct row){.json = json,
                                                           .title = json_text(json, "name"),
                                                           .maker = backend != NULL ? backend : json_text(json, "kind"),
                                                           .sort_number = numbers[listing->order]};
    } else {
        cJSON_Delete(json);
    }
    free(options);
    cJSON_Delete(blob);
    cJSON_Delete(id);
    return 1;
}

/* Orders rows so that those with one name follow each other. */
static int compare_row_titles(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    const int order = compare_text(x->title, y->title);
    return order != 0 ? order : compare_text(x->maker, y->maker);
}

/* Adds what differs between rows with one name, for people. */
static void add_differences_to_rows(const struct listing *listing)
{
    const struct row *rows = listing->rows;
    size_t end = 0;
    if (listing->row_count > 1)
        qsort(listing->rows, listing->row_count, sizeof(*rows), compare_row_titles);
    for (size_t first = 0; first < listing->row_count; first = end) {
        char *common = memory_copy_text("");
        for (end = first; end < listing->row_count && compare_row_titles(&rows[first], &rows[end]) == 0; ++end) {
            const bool has_common = end != first;
            char *shared =
                text_select_words(json_text(rows[end].json, "options"), has_common ? common : NULL, has_common, NULL);
            free(common);
            common = shared;
        }
        for (size_t i = first; i < end && end - first > 1; ++i) {
            char *difference = text_select_words(json_text(rows[i].json, "options"), common, false, NULL);
            if (difference != NULL && strlen(difference) > MOST_SHOWN)
                (void)strcpy(difference + MOST_SHOWN - 3, "...");
            json_add_text(rows[i].json, "difference", difference);
            free(difference);
        }
        free(common);
    }
}

/* A store_user_t. In the row of a bad entry, the status follows the times. */
static int list_storage(ingot_storage_t storage, void *values)
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
        {"DIFFERS IN", "[reason!{difference}]", false},
        {"DEVICE", "[reason!{device}]", false}};
    struct listing *listing = values;
    listing->storage = storage;
    const int code = entry_visit_all(storage, collect_row, listing);
    if (code != EXIT_DONE)
        return code;
    if (!listing->common.is_json && !listing->is_names_only)
        add_differences_to_rows(listing);
    if (listing->row_count > 1)
        qsort(listing->rows, listing->row_count, sizeof(*listing->rows), compare_ls_rows);
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < listing->row_count; ++i)
        (void)cJSON_AddItemToArray(list, listing->rows[i].json);
    if (!listing->common.is_json && !listing->is_names_only)
        table_print_list(list, sizeof(columns) / sizeof(columns[0]), columns);
    output_print(list, listing->common.is_json, listing->is_names_only ? "{entry}\n" : "");
    return code;
}

static int run_ls(void *values)
{
    struct listing *listing = values;
    return store_use(&listing->common, STORE_READ, list_storage, listing);
}

const struct command command_ls = {
    .name = "ls",
    .group = "Look into a store",
    .summary = "list entries",
    .about =
        "Lists entries with size, age, time since the last use, build time, backend, driver, sources, name, and "
        "devices. The name is that of the first source, or of the first kernel if the source has none. DIFFERS IN has "
        "the options that differ between the rows of one name. For an artifact, the table has the kind in the place of "
        "the backend, the time that making it took, its label as the name, the device or target that its key names, "
        "and the fields of its key that differ. For a bad entry, it has the status instead. On a terminal, long texts "
        "are cut; --json has them whole. The blobs are read to get the names and the build times.",
    .options = ls_options,
    .size = sizeof(struct listing),
    .run = run_ls,
};

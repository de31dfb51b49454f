/*
 * show.c - `ingot show`: everything that entries say: times, id, kernels, binaries and build log.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/entry.h"
#include "cli/exit_code.h"
#include "cli/id.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/store.h"
#include "cli/text.h"
#include "cli/units.h"

struct showing {
    struct common_options common;
    char **names;
    size_t name_count;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct showing *showing = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        showing->names = memory_grow(showing->names, showing->name_count, sizeof(*showing->names));
        showing->names[showing->name_count++] = value;
        return 0;
    case ARGP_KEY_END:
        if (showing->name_count == 0)
            argp_error(state, "name an entry");
        return 0;
    default: return options_parse_other(key, state);
    }
}

/* What the blob holds, or NULL with the library's sentence about why not. */
static cJSON *read_blob(ingot_storage_t storage, const struct entry *entry)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    size_t size = 0;
    cJSON *json = NULL;

    if (ingot_persist_load_entry(storage, &entry->facts, &blob) != INGOT_SUCCESS)
        return NULL;
    if (ingot_cache_blob_describe(blob.size, blob.bytes, &size, NULL) == INGOT_SUCCESS) {
        char *text = memory_get(size);
        if (ingot_cache_blob_describe(blob.size, blob.bytes, &size, text) == INGOT_SUCCESS)
            json = cJSON_Parse(text);
        free(text);
    }
    if (blob.release != NULL)
        blob.release(&blob);
    return json;
}

static void print_line(const char *name, const char *value)
{
    (void)printf("  %-12s ", name);
    text_print(value, 15);
    (void)putchar('\n');
}

static void print_facts(const struct entry *entry)
{
    char text[UNITS_TEXT_SIZE];
    char size[UNITS_TEXT_SIZE + 64];
    const ingot_persist_entry_t *facts = &entry->facts;

    (void)printf("%s\n", entry->name);
    print_line("status", ingot_status_name(facts->status));
    if (facts->status != INGOT_SUCCESS)
        print_line("reason", facts->reason);
    (void)snprintf(size, sizeof(size), "%s (%" PRIu64 " bytes; blob %zu, id %zu)", units_bytes(facts->bytes, text),
                   facts->bytes, facts->blob_size, facts->id_size);
    print_line("size", size);
    if (facts->created_ns != 0) {
        print_line("created", units_time(facts->created_ns, text));
        print_line("last use", units_time(facts->last_use_ns, text));
    }
}

static void print_id(const cJSON *fields)
{
    const cJSON *field;
    if (fields == NULL)
        return;
    (void)puts("id");
    cJSON_ArrayForEach(field, fields)
    {
        (void)fputs("  ", stdout);
        text_print(field->string, 2);
        (void)fputs(": ", stdout);
        text_print(cJSON_IsString(field) ? field->valuestring : "", 4);
        (void)putchar('\n');
    }
}

static void print_blob(const cJSON *blob, const char *why_not)
{
    char text[UNITS_TEXT_SIZE];
    const cJSON *item;

    (void)puts("blob");
    if (blob == NULL) {
        print_line("not shown", why_not);
        return;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(blob, "kernels"))
    {
        print_line("kernel", cJSON_GetStringValue(item));
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(blob, "binaries"))
    {
        const double bytes = cJSON_GetNumberValue(cJSON_GetObjectItem(item, "bytes"));
        char line[UNITS_TEXT_SIZE + 80];
        (void)snprintf(line, sizeof(line), "%s for device identity %.12s", units_bytes((uint64_t)bytes, text),
                       cJSON_GetStringValue(cJSON_GetObjectItem(item, "device_blake2b")));
        print_line("binary", line);
    }
    const char *log = cJSON_GetStringValue(cJSON_GetObjectItem(blob, "build_log"));
    (void)puts(log[0] != '\0' ? "build log" : "build log is empty");
    if (log[0] != '\0') {
        (void)fputs("  ", stdout);
        text_print(log, 2);
        (void)putchar('\n');
    }
}

static void show(const struct showing *showing, ingot_storage_t storage, const struct entry *entry, bool is_first)
{
    struct id_view id;
    id_read(&id, entry->facts.id_size, entry->facts.id);
    cJSON *blob = read_blob(storage, entry); /* last: its sentence is needed below */
    if (showing->common.is_json) {
        cJSON *json = entry_to_json(&entry->facts);
        json_add_text(json, "blob_refusal", blob == NULL ? ingot_last_error_detail() : NULL);
        (void)cJSON_AddItemToObject(json, "id", id.fields != NULL ? id.fields : cJSON_CreateNull());
        (void)cJSON_AddItemToObject(json, "blob", blob != NULL ? blob : cJSON_CreateNull());
        (void)fputs(is_first ? "[\n" : ",\n", stdout);
        json_print_item(json);
        id.fields = NULL; /* went with json */
    } else {
        (void)fputs(is_first ? "" : "\n", stdout);
        print_facts(entry);
        print_id(id.fields);
        print_blob(blob, ingot_last_error_detail());
        cJSON_Delete(blob);
    }
    id_fini(&id);
}

static int show_all(const struct showing *showing, ingot_storage_t storage)
{
    bool is_first = true;
    int result = EXIT_DONE;
    for (size_t i = 0; i < showing->name_count && result <= EXIT_FINDING; ++i) {
        struct entry entry;
        const int code = entry_find(&entry, storage, showing->names[i]);
        result = code > result ? code : result;
        if (code != EXIT_DONE)
            continue;
        show(showing, storage, &entry, is_first);
        is_first = false;
        entry_fini(&entry);
    }
    if (showing->common.is_json)
        (void)fputs(is_first ? "[]\n" : "\n]\n", stdout);
    return result;
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {
        NULL,
        parse_option,
        "ENTRY...",
        "Shows all details of entries. ENTRY is a name as printed by \"ingot ls\", or the beginning of one.",
        options_common,
        NULL,
        NULL};
    struct showing showing = {.names = NULL};
    ingot_storage_t storage = NULL;

    (void)argp_parse(&argp, argc, argv, 0, NULL, &showing);
    int code = store_open(&storage, &showing.common, STORE_READ, NULL);
    if (code == EXIT_DONE) {
        interrupt_catch();
        code = show_all(&showing, storage);
        ingot_storage_release(storage);
    }
    free(showing.names);
    return code;
}

const struct command command_show = {"show", "everything that an entry says: id, kernels, build log", run};

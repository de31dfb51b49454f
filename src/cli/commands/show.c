/*
 * show.c - `ingot show`: shows everything about entries: times, id, kernels, binaries and build log; or an artifact's
 * parts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/commands/all.h"
#include "cli/commands/id_file.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"
#include "util/nanoseconds.h"

struct showing {
    struct common_options common;
    struct text_list names;
    bool is_first; /* true if nothing has been shown yet */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_ENTRY, "ENTRY", offsetof(struct showing, names), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "The name of an entry as printed by \"ingot ls\", or the beginning of one, or the path of a single file, "
             "for which no store is needed"},
    {.help = NULL},
};

static void print_line(const char *name, const char *value)
{
    (void)printf("  %-12s ", name);
    text_print(value, 15);
    (void)putchar('\n');
}

static void print_facts(const struct entry *entry, const char *name)
{
    char text[UNITS_TEXT_SIZE];
    char size[UNITS_TEXT_SIZE + 64];
    const ingot_persist_entry_t *facts = &entry->facts;

    text_print(name, 0);
    (void)putchar('\n');
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

static void print_part(const cJSON *part)
{
    char size[UNITS_TEXT_SIZE];
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(part, "name"));
    (void)printf("  %-12s ", "part");
    text_print(name[0] != '\0' ? name : "(unnamed)", 15);
    (void)printf(", %s\n", units_bytes(json_get_u64(part, "bytes"), size));
}

static void print_artifact(const cJSON *blob)
{
    char text[UNITS_TEXT_SIZE];
    const cJSON *part;
    const uint64_t make_ns = entry_make_time_ns(blob);
    const uint64_t made_at_ms = json_get_u64(blob, "made_at_unix_ms");
    const char *label = cJSON_GetStringValue(cJSON_GetObjectItem(blob, "label"));
    if (label[0] != '\0')
        print_line("label", label);
    if (make_ns != 0)
        print_line("make time", units_duration(make_ns, text));
    if (made_at_ms < UINT64_MAX / NS_PER_MS)
        print_line("made", units_time(made_at_ms * NS_PER_MS, text));
    cJSON_ArrayForEach(part, cJSON_GetObjectItem(blob, "parts"))
    {
        print_part(part);
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
    if (cJSON_HasObjectItem(blob, "parts")) {
        print_artifact(blob);
        return;
    }
    const char *source_name = cJSON_GetStringValue(cJSON_GetObjectItem(blob, "source_name"));
    if (source_name[0] != '\0')
        print_line("source", source_name);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(blob, "kernels"))
    {
        print_line("kernel", cJSON_GetStringValue(item));
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(blob, "binaries"))
    {
        char line[UNITS_TEXT_SIZE + 80];
        (void)snprintf(line, sizeof(line), "%s for device identity %.12s",
                       units_bytes(json_get_u64(item, "bytes"), text),
                       cJSON_GetStringValue(cJSON_GetObjectItem(item, "device_blake2b")));
        print_line("binary", line);
    }
    const uint64_t build_ns = json_get_u64(blob, "build_time_ns");
    if (build_ns != 0)
        print_line("build time", units_duration(build_ns, text));
    const char *log = cJSON_GetStringValue(cJSON_GetObjectItem(blob, "build_log"));
    (void)puts(log[0] != '\0' ? "build log" : "build log is empty");
    if (log[0] != '\0') {
        (void)fputs("  ", stdout);
        text_print(log, 2);
        (void)putchar('\n');
    }
}

/* Shows an entry, and frees `blob`, the description of its blob. If `blob` is NULL, the library's last error detail
 * says why. */
static void show(const struct showing *showing, const struct entry *entry, const char *name, cJSON *blob)
{
    char *refusal = blob == NULL ? memory_copy_text(ingot_last_error_detail()) : NULL;
    struct id_view id;
    id_read(&id, entry->facts.id_size, entry->facts.id);
    if (showing->common.is_json) {
        cJSON *json = entry_to_json(&entry->facts);
        (void)cJSON_ReplaceItemInObject(json, "entry", cJSON_CreateString(name));
        json_add_text(json, "blob_refusal", refusal);
        (void)cJSON_AddItemToObject(json, "id", id.fields != NULL ? id.fields : cJSON_CreateNull());
        (void)cJSON_AddItemToObject(json, "blob", blob != NULL ? blob : cJSON_CreateNull());
        (void)fputs(showing->is_first ? "[\n" : ",\n", stdout);
        json_print_item(json);
        id.fields = NULL; /* deleted together with json */
    } else {
        (void)fputs(showing->is_first ? "" : "\n", stdout);
        print_facts(entry, name);
        print_id(id.fields);
        print_blob(blob, refusal);
        cJSON_Delete(blob);
    }
    id_fini(&id);
    free(refusal);
}

/* A file without the header of an entry must be an id. Of a damaged entry, what is readable is shown. */
static bool is_entry_or_id(const struct entry *entry)
{
    size_t size = 0;
    return entry->facts.id_size < entry->facts.bytes ||
           ingot_cache_blob_id_describe(entry->facts.id_size, entry->facts.id, &size, NULL) == INGOT_SUCCESS;
}

static int show_file(const struct showing *showing, const char *path)
{
    struct entry entry = {.name = ""};
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    FILE *file = id_file_open(path);
    const int code = file != NULL ? id_file_read(&entry, path, file) : EXIT_FAILED;
    if (file != NULL)
        (void)fclose(file);
    else
        (void)fprintf(stderr, "ingot: %s cannot be read\n", path);
    if (code == EXIT_DONE && !is_entry_or_id(&entry)) {
        (void)fprintf(stderr, "ingot: %s is neither an entry nor an id: %s\n", path, ingot_last_error_detail());
        entry_fini(&entry);
        return EXIT_FINDING;
    }
    if (code == EXIT_DONE) {
        const bool is_loaded = id_file_load(path, &entry, &blob) == INGOT_SUCCESS;
        show(showing, &entry, path, is_loaded ? entry_describe_blob(&blob) : NULL);
    }
    entry_fini(&entry);
    return code;
}

static int show_entry(const struct showing *showing, ingot_storage_t storage, const char *name)
{
    struct entry entry;
    const int code = entry_find(&entry, storage, name);
    if (code == EXIT_DONE) {
        show(showing, &entry, entry.name, entry_read_blob(storage, &entry.facts));
        entry_fini(&entry);
    }
    return code;
}

static int show_all(struct showing *showing)
{
    ingot_storage_t storage = NULL; /* stays NULL if only files are shown */
    int result = EXIT_DONE;
    for (size_t i = 0; i < showing->names.count && result <= EXIT_FINDING; ++i) {
        const char *name = showing->names.items[i];
        const bool is_file = id_file_is(name);
        int code = is_file || storage != NULL ? EXIT_DONE : store_open(&storage, &showing->common, STORE_READ, NULL);
        if (code == EXIT_DONE)
            code = is_file ? show_file(showing, name) : show_entry(showing, storage, name);
        result = code > result ? code : result;
        showing->is_first = showing->is_first && code != EXIT_DONE;
    }
    if (showing->common.is_json && (!showing->is_first || result <= EXIT_FINDING))
        (void)fputs(showing->is_first ? "[]\n" : "\n]\n", stdout);
    ingot_storage_release(storage);
    return result;
}

static int run(void *values)
{
    struct showing *showing = values;
    showing->is_first = true;
    interrupt_catch();
    return show_all(showing);
}

const struct command command_show = {
    .name = "show",
    .group = "Look into a store",
    .summary = "show everything about entries: id, kernels, build log",
    .about = "Shows all details of entries: sizes and times, each field of the id, the source's name, the kernels, the "
             "binaries, the build time and the build log; of an artifact, the fields of its key, its label, its parts, "
             "and when it was made.",
    .options = options,
    .size = sizeof(struct showing),
    .run = run,
};

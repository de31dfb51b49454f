/*
 * show.c - `ingot show`: shows everything about entries: times, id, kernels, binaries and build log; or an artifact's
 * parts.
 */
#include <stdio.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/commands/all.h"
#include "cli/commands/id_file.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"

struct showing {
    struct common_options common;
    struct text_list names;
    cJSON *entries; /* what is shown */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_ENTRY, "ENTRY", offsetof(struct showing, names), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "The name of an entry as printed by \"ingot ls\", or the beginning of one, or the path of a single file, "
             "for which no store is needed"},
    {.help = NULL},
};

static const char entry_pattern[] = "{entry}\n"
                                    "  status       {status}\n"
                                    "[reason?  reason       {reason:15}\n]"
                                    "  size         {bytes:size} ({bytes} bytes; blob {blob_bytes}, id {id_bytes})\n"
                                    "[created?  created      {created}\n]"
                                    "[last_use?  last use     {last_use}\n]"
                                    "[id?id\n<id*  {@}: {:4}\n>]"
                                    "blob\n[blob!  not shown    {blob_refusal:15}\n]";

static const char program_pattern[] =
    "[source_name?  source       {source_name:15}\n]"
    "<kernels*  kernel       {:15}\n>"
    "<binaries*  binary       {bytes:size} for device identity {device_blake2b:short}\n>"
    "[build_time_ns?  build time   {build_time_ns:duration}\n]"
    "[build_log?build log\n  {build_log}\n][build_log!build log is empty\n]";

static const char artifact_pattern[] = "[label?  label        {label:15}\n]"
                                       "[make_time_ms?  make time    {make_time_ms:duration_ms}\n]"
                                       "[made_at_unix_ms?  made         {made_at_unix_ms:time_ms}\n]"
                                       "<parts*  part         [name?{name:15}][name!(unnamed)], {bytes:size}\n>";

/* Adds an entry with the description of its blob. If `blob` is NULL, the library's last error detail says why. */
static void add_entry(const struct showing *showing, const struct entry *entry, const char *name, cJSON *blob)
{
    cJSON *json = entry_to_json(&entry->facts);
    json_add_text(json, "blob_refusal", blob == NULL ? ingot_last_error_detail() : NULL);
    cJSON *id = id_read(entry->facts.id_size, entry->facts.id);
    (void)cJSON_ReplaceItemInObject(json, "entry", cJSON_CreateString(name));
    (void)cJSON_AddItemToObject(json, "id", id != NULL ? id : cJSON_CreateNull());
    (void)cJSON_AddItemToObject(json, "blob", blob != NULL ? blob : cJSON_CreateNull());
    (void)cJSON_AddItemToArray(showing->entries, json);
}

static void print_entries(const struct showing *showing)
{
    const cJSON *entry;
    if (showing->common.is_json) {
        json_print(showing->entries);
        return;
    }
    cJSON_ArrayForEach(entry, showing->entries)
    {
        const cJSON *blob = cJSON_GetObjectItem(entry, "blob");
        output_put(stdout, entry == showing->entries->child ? "" : "\n", entry);
        output_put(stdout, entry_pattern, entry);
        output_put(stdout, cJSON_HasObjectItem(blob, "parts") ? artifact_pattern : program_pattern,
                   cJSON_IsNull(blob) ? NULL : blob);
    }
}

/* True if the file has the header of an entry, which may be damaged otherwise, or if all of it is an id. */
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
    const int code = id_file_read(&entry, path);
    if (code == EXIT_DONE && !is_entry_or_id(&entry)) {
        (void)fprintf(stderr, "ingot: %s is neither an entry nor an id: %s\n", path, ingot_last_error_detail());
        entry_fini(&entry);
        return EXIT_FINDING;
    }
    if (code == EXIT_DONE) {
        const bool is_loaded = id_file_load(path, &entry, &blob) == INGOT_SUCCESS;
        add_entry(showing, &entry, path, is_loaded ? entry_describe_blob(&blob) : NULL);
    }
    entry_fini(&entry);
    return code;
}

static int show_entry(const struct showing *showing, ingot_storage_t storage, const char *name)
{
    struct entry entry;
    const int code = entry_find(&entry, storage, name);
    if (code == EXIT_DONE) {
        add_entry(showing, &entry, entry.name, entry_read_blob(storage, &entry.facts));
        entry_fini(&entry);
    }
    return code;
}

static int show_files_and_entries(struct showing *showing)
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
    }
    if (showing->entries->child != NULL || result <= EXIT_FINDING)
        print_entries(showing);
    ingot_storage_release(storage);
    return result;
}

static int run_show(void *values)
{
    struct showing *showing = values;
    showing->entries = cJSON_CreateArray();
    interrupt_catch();
    return show_files_and_entries(showing);
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
    .run = run_show,
};

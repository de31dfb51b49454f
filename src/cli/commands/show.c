/*
 * show.c - `ingot show`: shows everything about entries: times, id, kernels, binaries and build log; an artifact's
 * parts, and a tuning record as a table; or the public facts of a key.
 */
#include <ingot/private/artifact.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/directory.h>
#include <ingot/private/request.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "util/hex.h"

struct showing {
    struct common_options common;
    struct text_list names;
    const char *part; /* NULL: not given */
    cJSON *entries;   /* what is shown */
    cJSON *request;   /* while a request is described */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "ENTRY", offsetof(struct showing, names), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "What \"ingot ls\" prints as ENTRY, or the beginning of it, as NAME, or as the digest in SOURCE; or the "
             "path of a single file or of a key, for which no store is needed"},
    {"part", 'p', VALUE_TEXT, "NAME", offsetof(struct showing, part),
     .help = "Write only this part of an artifact, as it is, to standard output. \"\" is a part without a name. Many "
             "frameworks store pickles, which can run any code when they are loaded"},
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
    "<files*  file         {name:15} {blake2b:short}\n>"
    "<kernels*  kernel       {:15}\n>"
    "<binaries*  binary       {bytes:size} for device identity {device_blake2b:short}\n>"
    "[build_time_ns?  build time   {build_time_ns:duration}\n]"
    "[build_log?build log\n  {build_log}\n][build_log!build log is empty\n]";

static const char artifact_pattern[] = "[label?  label        {label:15}\n]"
                                       "[make_time_ms?  make time    {make_time_ms:duration_ms}\n]"
                                       "[made_at_unix_ms?  made         {made_at_unix_ms:time_ms}\n]"
                                       "<parts*  part         [name?{name:15}][name!(unnamed)], {bytes:size}\n>"
                                       "[request?request\n<request*  {@}: {:4}\n>]";

static const char probes_pattern[] = "<probes*[file?  file         {file:15}\n]"
                                     "[no_file?  no file      {no_file:15}\n]"
                                     "[directory?  directory    {directory:15}\n]"
                                     "[no_directory?  no directory {no_directory:15}\n]"
                                     "[current_directory?  current      {current_directory:15}\n]>";

static const struct table_column record_columns[] = {{"VALUE", "{value}", false},
                                                     {"TIME", "[time_ns?{time_ns:duration}]", true},
                                                     {"SAMPLES", "[samples?{samples}]", true},
                                                     {"MADE", "[made_at_ms?{made_at_ms:time_ms}]", false},
                                                     {"PROVENANCE", "[provenance?{provenance}]", false}};

/* Adds a row for a tuning record, which may have anything in its members. */
static void add_row(cJSON *rows, const cJSON *record)
{
    static const char *const texts[] = {"value", "provenance"};
    static const struct {
        const char *name, *member;
        double scale;
    } numbers[] = {{"time_ns", "time", 1e9}, {"samples", "samples", 1}, {"made_at_ms", "made_at", 1e3}};
    cJSON *row = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        char *text = cJSON_PrintUnformatted(cJSON_GetObjectItem(record, texts[i]));
        json_add_text(row, texts[i], text);
        cJSON_free(text);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
        const cJSON *member = cJSON_GetObjectItem(record, numbers[i].member);
        if (cJSON_IsNumber(member))
            (void)cJSON_AddNumberToObject(row, numbers[i].name, numbers[i].scale * member->valuedouble);
    }
    (void)cJSON_AddItemToArray(rows, row);
}

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
    const cJSON *merged;
    if (showing->common.is_json) {
        json_print(showing->entries);
        return;
    }
    cJSON_ArrayForEach(entry, showing->entries)
    {
        const cJSON *blob = cJSON_GetObjectItem(entry, "blob");
        output_put(stdout, entry == showing->entries->child ? "" : "\n", entry);
        if (cJSON_HasObjectItem(entry, "public_key")) {
            output_put(stdout, KEY_PATTERN, entry);
            continue;
        }
        output_put(stdout, entry_pattern, entry);
        output_put(stdout,
                   cJSON_HasObjectItem(blob, "parts")    ? artifact_pattern
                   : cJSON_HasObjectItem(blob, "probes") ? probes_pattern
                                                         : program_pattern,
                   cJSON_IsNull(blob) ? NULL : blob);
        const cJSON *record = cJSON_GetObjectItem(blob, "record");
        if (record == NULL)
            continue;
        cJSON *rows = cJSON_CreateArray(); /* a tuning record, and below it those of which it was merged */
        add_row(rows, record);
        cJSON_ArrayForEach(merged, cJSON_GetObjectItem(record, "records")) add_row(rows, merged);
        table_print_list(rows, sizeof(record_columns) / sizeof(record_columns[0]), record_columns);
        cJSON_Delete(rows);
    }
}

static int show_file(const struct showing *showing, const char *path)
{
    struct entry entry = {.name = ""};
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    cJSON *key = key_describe(path);
    char *why = memory_copy_text(ingot_last_error_detail()); /* why it is not a key */
    size_t size = 0;
    int code = EXIT_DONE;
    if (key != NULL)
        (void)cJSON_AddItemToArray(showing->entries, key);
    else
        code = id_file_read(&entry, path);
    /* It has the header of an entry, which may be damaged otherwise, or all of it is an id. */
    if (key == NULL && code == EXIT_DONE && entry.facts.id_size == entry.facts.bytes &&
        ingot_cache_blob_id_describe(entry.facts.id_size, entry.facts.id, &size, NULL) != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot: %s is neither an entry nor an id: %s; nor a key: %s\n", path,
                      ingot_last_error_detail(), why);
        code = EXIT_FINDING;
    } else if (key == NULL && code == EXIT_DONE) {
        const bool is_loaded = id_file_load(path, &entry, &blob) == INGOT_SUCCESS;
        add_entry(showing, &entry, path, is_loaded ? entry_describe_blob(&blob) : NULL);
    }
    free(why);
    entry_fini(&entry);
    return code;
}

/* Adds a field of a request. People see how long a text is, and --json has it whole. */
static void add_request_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    const struct showing *showing = user;
    const size_t length = strlen(path);
    const bool is_long = !showing->common.is_json && length > 5 && strcmp(path + length - 5, ".text") == 0;
    char *text = memory_get(2 * size + 32);
    if (is_long)
        (void)snprintf(text, 32, "%zu bytes", size);
    else if (is_text)
        (void)snprintf(text, size + 1, "%.*s", (int)size, (const char *)value);
    else
        hex_put(text, size, value);
    if (!is_long && !is_text)
        text[2 * size] = '\0';
    (void)cJSON_AddStringToObject(showing->request, path, text);
    free(text);
}

/* Describes what a kept request has, whose larger texts are in its namespace. May take the blob. */
static cJSON *describe_request(const struct showing *showing, const ingot_persist_entry_t *facts, ingot_buffer_t *blob)
{
    struct showing copy = *showing;
    ingot_kept_request_t kept;
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    ingot_storage_t texts = NULL;
    copy.request = cJSON_CreateObject();
    copy.common.name_space = facts->name_space[0] != '\0' ? facts->name_space : NULL;
    ingot_status_t status = store_open(&texts, &copy.common, STORE_READ, NULL) == EXIT_DONE
                                ? ingot_request_open(&kept, facts->id_size, facts->id, blob)
                                : INGOT_NOT_FOUND;
    if (status == INGOT_SUCCESS) {
        const char *const members[][2] = {
            {"name", kept.name}, {"group", kept.group}, {"namespace", kept.name_space}, {"device", kept.device}};
        status = ingot_request_unpack(&kept, texts, &bytes);
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && status == INGOT_SUCCESS; ++i)
            if (members[i][1][0] != '\0')
                json_add_text(copy.request, members[i][0], members[i][1]);
        if (status == INGOT_SUCCESS)
            status = ingot_request_visit(bytes.size, bytes.bytes, add_request_field, &copy);
        ingot_request_close(&kept);
    }
    if (status != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot: a request cannot be described: %s\n", ingot_last_error_detail());
    store_release_blob(&bytes);
    ingot_storage_release(texts);
    return copy.request;
}

static void show_entry(const struct showing *showing, ingot_storage_t storage, const struct entry *entry)
{
    const ingot_persist_entry_t *facts = &entry->facts;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    const ingot_status_t status = ingot_persist_load_entry(storage, facts, 0, &blob);
    cJSON *json = status == INGOT_SUCCESS ? json_describe(ingot_cache_blob_describe, blob.size, blob.bytes) : NULL;
    if (json != NULL && ingot_request_is_id(facts->id_size, facts->id) != 0)
        (void)cJSON_AddItemToObject(json, "request", describe_request(showing, facts, &blob));
    /* An artifact may be a tuning record (python/ingot_cache/tuning.py). */
    if (json != NULL && id_is_of_kind(facts->id_size, facts->id, "tuning") &&
        ingot_artifact_unpack(facts->id_size, facts->id, &blob, &value) == INGOT_SUCCESS) {
        cJSON *record = cJSON_ParseWithLength((const char *)value.bytes, value.size);
        if (cJSON_IsObject(record))
            (void)cJSON_AddItemToObject(json, "record", record);
        else
            cJSON_Delete(record);
    }
    add_entry(showing, entry, entry->name, json);
    store_release_blob(&value);
    store_release_blob(&blob);
}

static int show_entries_of_name(const struct showing *showing, ingot_storage_t storage, const char *name)
{
    struct entry *found = NULL;
    size_t count = 0;
    const int code = entry_find_all(&found, &count, storage, name, false);
    for (size_t i = 0; i < count && code == EXIT_DONE; ++i) {
        show_entry(showing, storage, &found[i]);
        entry_fini(&found[i]);
    }
    free(found);
    return code;
}

/* A store_user_t that writes the bytes of a part. */
static int show_part(ingot_storage_t storage, void *values)
{
    const struct showing *showing = values;
    struct entry entry;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    size_t at = 0;
    size_t i = 0;
    int code = entry_find(&entry, storage, showing->names.items[0]);
    if (code != EXIT_DONE)
        return code;
    ingot_status_t status = ingot_persist_load_entry(storage, &entry.facts, 0, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_artifact_unpack(entry.facts.id_size, entry.facts.id, &blob, &value);
    if (status == INGOT_SUCCESS)
        (void)ingot_artifact_get_info(&value, &info);
    for (; i < info.part_count && strcmp(info.parts[i].name, showing->part) != 0; ++i)
        at += (size_t)info.parts[i].size;
    if (status != INGOT_SUCCESS) {
        entry_tell_failure(&entry.facts, "no part of", status);
        code = EXIT_FINDING;
    } else if (i == info.part_count) {
        (void)fprintf(stderr, "ingot: %s has no part of this name; \"ingot show\" lists them\n", entry.name);
        code = EXIT_FINDING;
    } else {
        (void)fwrite(value.bytes + at, 1, (size_t)info.parts[i].size, stdout); /* main() reports a failure */
    }
    store_release_blob(&value);
    store_release_blob(&blob);
    entry_fini(&entry);
    return code;
}

static int run_show(void *values)
{
    struct showing *showing = values;
    ingot_storage_t storage = NULL; /* stays NULL if only files are shown */
    int result = EXIT_DONE;
    if (showing->part != NULL && (showing->names.count != 1 || showing->common.is_json))
        return command_refuse(&command_show, "--part writes a part of one artifact as it is");
    if (showing->part != NULL)
        return store_use(&showing->common, STORE_READ, show_part, showing);
    showing->entries = cJSON_CreateArray();
    for (size_t i = 0; i < showing->names.count && result <= EXIT_FINDING; ++i) {
        const char *name = showing->names.items[i];
        const bool is_file = id_file_is(name);
        int code = is_file || storage != NULL ? EXIT_DONE : store_open(&storage, &showing->common, STORE_READ, NULL);
        if (code == EXIT_DONE)
            code = is_file ? show_file(showing, name) : show_entries_of_name(showing, storage, name);
        result = code > result ? code : result;
    }
    if (showing->entries->child != NULL || result <= EXIT_FINDING)
        print_entries(showing);
    ingot_storage_release(storage);
    return result;
}

const struct command command_show = {
    .name = "show",
    .group = "Look into a store",
    .summary = "show everything about entries: id, kernels, build log; a part",
    .about = "Shows all details of entries: sizes and times, each field of the id, the source's name, the kernels, the "
             "binaries, the build time and the build log; of an artifact, the fields of its key, its label, its parts, "
             "and when it was made; of a tuning record, its value and those of which it was merged. Of a key, it shows "
             "the kind and the id, and the public key of a pair.",
    .options = options,
    .size = sizeof(struct showing),
    .run = run_show,
};

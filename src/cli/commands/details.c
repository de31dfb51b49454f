/*
 * details.c - compares what blobs tell beside ids; see details.h.
 */
#include "cli/commands/details.h"

#include <ingot/private/artifact.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/directory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/store/entry.h"
#include "cli/store/store.h"

#define FILE_PREFIX "file "

enum { MOST_OF_LINE = 120, FIELD_SIZE = 600 };

static void add_members(cJSON *details, const char *part, size_t size, const char *bytes)
{
    char field[FIELD_SIZE];
    const cJSON *member;
    cJSON *object = cJSON_ParseWithLength(bytes, size);
    cJSON_ArrayForEach(member, object)
    {
        if (!cJSON_IsObject(object))
            break;
        char *value = cJSON_PrintUnformatted(member);
        (void)snprintf(field, sizeof(field), "%.290s: %.300s", part, member->string);
        if (strcmp(member->string, "hash") != 0)
            (void)cJSON_AddStringToObject(details, field, value);
        cJSON_free(value);
    }
    cJSON_Delete(object);
}

/* Adds a text without the lines that only tell where in the application's files it is from. */
static void add_source(cJSON *details, const char *part, size_t size, const char *bytes)
{
    char *text = memory_get(size + 1);
    char *kept = memory_get(size + 2);
    char *rest = NULL;
    size_t kept_size = 0;
    (void)snprintf(text, size + 1, "%.*s", (int)size, bytes);
    kept[0] = '\0';
    for (const char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "#loc", 4) != 0)
            kept_size += (size_t)sprintf(kept + kept_size, "%s\n", line);
    (void)cJSON_AddStringToObject(details, part, kept);
    free(kept);
    free(text);
}

cJSON *details_read(ingot_storage_t storage, const ingot_persist_entry_t *facts)
{
    char field[FIELD_SIZE];
    const cJSON *file;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT; /* points into the value */
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (ingot_persist_load_entry(storage, facts, 0, &blob) != INGOT_SUCCESS)
        return NULL;
    cJSON *read = cJSON_CreateObject();
    cJSON *details = cJSON_AddObjectToObject(read, "details");
    cJSON *described = json_describe(ingot_cache_blob_describe, blob.size, blob.bytes);
    cJSON_ArrayForEach(file, cJSON_GetObjectItem(described, "files"))
    {
        (void)snprintf(field, sizeof(field), FILE_PREFIX "%s", json_text(file, "name"));
        (void)cJSON_AddStringToObject(details, field, json_text(file, "blake2b"));
    }
    if (ingot_artifact_unpack(facts->id_size, facts->id, &blob, &value) == INGOT_SUCCESS)
        (void)ingot_artifact_get_info(&value, &info);
    const char *bytes = (const char *)value.bytes;
    for (size_t i = 0; i < info.part_count; ++i) {
        const ingot_artifact_part_t *part = &info.parts[i];
        if (text_ends_in(part->name, ".json"))
            add_members(details, part->name, (size_t)part->size, bytes);
        else if (text_ends_in(part->name, ".source"))
            add_source(details, part->name, (size_t)part->size, bytes);
        bytes += part->size;
    }
    store_release_blob(&value);
    json_add_text(read, "title", entry_title(described));
    cJSON_Delete(described);
    store_release_blob(&blob);
    return read;
}

bool details_are_related(const cJSON *wanted, const cJSON *found)
{
    const cJSON *detail;
    const cJSON *others = cJSON_GetObjectItem(found, "details");
    if (found == NULL || strcmp(json_text(wanted, "title"), json_text(found, "title")) != 0)
        return false;
    cJSON_ArrayForEach(detail, cJSON_GetObjectItem(wanted, "details"))
    {
        if (strncmp(detail->string, FILE_PREFIX, strlen(FILE_PREFIX)) == 0 && json_text(others, detail->string) != NULL)
            return true;
    }
    return false;
}

/* Adds a text to a difference, or the line of it that begins here. */
static void add_line(cJSON *difference, const char *name, const char *text)
{
    char line[MOST_OF_LINE + 1];
    const size_t size = text != NULL ? strcspn(text, "\n") : 0;
    if (text != NULL && text[size] == '\n') {
        text += strspn(text, " ");
        (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
        text = line;
    }
    json_add_text(difference, name, text);
}

/* Adds the details that `others` has not, or with another text. Those that both have are added once. */
static void add_differences(cJSON *list, const cJSON *details, const cJSON *others, bool is_wanted)
{
    const cJSON *detail;
    cJSON_ArrayForEach(detail, details)
    {
        const char *text = detail->valuestring;
        const char *other = json_text(others, detail->string);
        if (other != NULL && (!is_wanted || strcmp(text, other) == 0))
            continue;
        for (size_t i = 0, line = 0; other != NULL && text[i] == other[i]; ++i) {
            line = text[i] == '\n' ? i + 1 : line;
            if (text[i + 1] != other[i + 1]) { /* the first line that differs begins there */
                text += line;
                other += line;
                break;
            }
        }
        cJSON *difference = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(difference, "field", detail->string);
        add_line(difference, "expected", is_wanted ? text : other);
        add_line(difference, "found", is_wanted ? other : text);
        (void)cJSON_AddItemToArray(list, difference);
    }
}

void details_compare(cJSON *differences, const cJSON *wanted, const cJSON *found)
{
    const cJSON *details = cJSON_GetObjectItem(wanted, "details");
    const cJSON *others = cJSON_GetObjectItem(found, "details");
    const int before = cJSON_GetArraySize(differences);
    if (wanted == NULL || found == NULL)
        return;
    add_differences(differences, details, others, true);
    add_differences(differences, others, details, false);
    const bool is_known = cJSON_GetArraySize(differences) > before;
    for (int i = before - 1; i >= 0 && is_known; --i)
        if (strcmp(json_text(cJSON_GetArrayItem(differences, i), "field"), "key.key") == 0)
            cJSON_DeleteItemFromArray(differences, i);
}

/*
 * explain_parts.c - compares what frameworks store beside the code that they compiled; see explain_parts.h.
 */
#include "cli/commands/explain_parts.h"

#include <ingot/artifact.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/store/store.h"

enum { MOST_OF_LINE = 120 };

struct artifact {
    ingot_buffer_t value;
    ingot_artifact_info_t info; /* points into the value */
};

struct text {
    size_t size;
    const char *bytes;
};

static bool load_artifact(struct artifact *artifact, ingot_storage_t storage, const ingot_persist_entry_t *facts)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    *artifact = (struct artifact){INGOT_BUFFER_INIT, INGOT_ARTIFACT_INFO_INIT};
    if (facts->id == NULL || ingot_persist_load_entry(storage, facts, 0, &blob) != INGOT_SUCCESS)
        return false;
    const bool is_loaded = ingot_artifact_unpack(facts->id_size, facts->id, &blob, &artifact->value) == INGOT_SUCCESS &&
                           ingot_artifact_get_info(&artifact->value, &artifact->info) == INGOT_SUCCESS;
    store_release_blob(&blob);
    return is_loaded;
}

static bool find_part(const struct artifact *artifact, const char *name, struct text *part)
{
    size_t at = 0;
    for (size_t i = 0; i < artifact->info.part_count; ++i) {
        const ingot_artifact_part_t *each = &artifact->info.parts[i];
        *part = (struct text){(size_t)each->size, (const char *)artifact->value.bytes + at};
        if (strcmp(each->name, name) == 0)
            return true;
        at += (size_t)each->size;
    }
    return false;
}

static void add_difference(cJSON *list, const char *part, const char *member, const char *wanted, const char *found)
{
    char field[600];
    cJSON *difference = cJSON_CreateObject();
    (void)snprintf(field, sizeof(field), "%s%s%.300s", part, member[0] != '\0' ? ": " : "", member);
    json_add_text(difference, "field", field);
    json_add_text(difference, "expected", wanted);
    json_add_text(difference, "found", found);
    (void)cJSON_AddItemToArray(list, difference);
}

/* Adds the members of `object` that `other` has not, or with another value. Members that both have are added once. */
static void compare_members(cJSON *list, const char *part, const cJSON *object, const cJSON *other, bool is_wanted)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, object)
    {
        const cJSON *same = cJSON_GetObjectItemCaseSensitive(other, member->string);
        if (strcmp(member->string, "hash") == 0 || (same != NULL && (!is_wanted || cJSON_Compare(member, same, 1))))
            continue;
        char *value = cJSON_PrintUnformatted(member);
        char *value_of_other = same != NULL ? cJSON_PrintUnformatted(same) : NULL;
        add_difference(list, part, member->string, is_wanted ? value : value_of_other,
                       is_wanted ? value_of_other : value);
        cJSON_free(value);
        cJSON_free(value_of_other);
    }
}

static void compare_json(cJSON *list, const char *part, struct text wanted, struct text found)
{
    cJSON *objects[] = {cJSON_ParseWithLength(wanted.bytes, wanted.size),
                        cJSON_ParseWithLength(found.bytes, found.size)};
    if (cJSON_IsObject(objects[0]) && cJSON_IsObject(objects[1])) {
        compare_members(list, part, objects[0], objects[1], true);
        compare_members(list, part, objects[1], objects[0], false);
    }
    cJSON_Delete(objects[0]);
    cJSON_Delete(objects[1]);
}

/* Takes the next line that says more than where in the application's files it is from. False: there is none. */
static bool take_line(struct text *text, char line[MOST_OF_LINE + 1])
{
    while (text->size > 0) {
        const char *end = memchr(text->bytes, '\n', text->size);
        const size_t size = end != NULL ? (size_t)(end - text->bytes) : text->size;
        const size_t skipped = size < text->size ? size + 1 : size;
        (void)snprintf(line, MOST_OF_LINE + 1, "%.*s", size < MOST_OF_LINE ? (int)size : MOST_OF_LINE, text->bytes);
        text->bytes += skipped;
        text->size -= skipped;
        if (strncmp(line, "#loc", 4) != 0)
            return true;
    }
    return false;
}

/* Adds the first line that differs, in which a constant may stand. */
static void compare_lines(cJSON *list, const char *part, struct text wanted, struct text found)
{
    char line[MOST_OF_LINE + 1];
    char line_of_found[MOST_OF_LINE + 1];
    while (take_line(&wanted, line) && take_line(&found, line_of_found)) {
        if (strcmp(line, line_of_found) != 0) {
            add_difference(list, part, "", line + strspn(line, " "), line_of_found + strspn(line_of_found, " "));
            return;
        }
    }
}

static bool ends_in(const char *name, const char *end)
{
    const size_t size = strlen(name);
    return size >= strlen(end) && strcmp(name + size - strlen(end), end) == 0;
}

static void compare_parts(cJSON *list, const struct artifact *wanted, const struct artifact *found)
{
    for (size_t i = 0; i < wanted->info.part_count; ++i) {
        struct text parts[2];
        const char *name = wanted->info.parts[i].name;
        if (!find_part(wanted, name, &parts[0]) || !find_part(found, name, &parts[1]))
            continue;
        if (ends_in(name, ".json"))
            compare_json(list, name, parts[0], parts[1]);
        else if (ends_in(name, ".source"))
            compare_lines(list, name, parts[0], parts[1]);
    }
}

void explain_parts(ingot_storage_t storage, const ingot_persist_entry_t *wanted, const ingot_persist_entry_t *found,
                   cJSON *differences)
{
    struct artifact artifacts[2];
    cJSON *list = cJSON_CreateArray();
    const bool is_loaded = load_artifact(&artifacts[0], storage, wanted);
    if (load_artifact(&artifacts[1], storage, found) && is_loaded)
        compare_parts(list, &artifacts[0], &artifacts[1]);
    for (int i = cJSON_GetArraySize(differences) - 1; i >= 0 && cJSON_GetArraySize(list) > 0; --i)
        if (strcmp(json_text(cJSON_GetArrayItem(differences, i), "field"), "key.key") == 0)
            cJSON_DeleteItemFromArray(differences, i);
    while (cJSON_GetArraySize(list) > 0)
        (void)cJSON_AddItemToArray(differences, cJSON_DetachItemFromArray(list, 0));
    cJSON_Delete(list);
    store_release_blob(&artifacts[0].value);
    store_release_blob(&artifacts[1].value);
}

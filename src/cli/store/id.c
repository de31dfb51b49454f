/*
 * id.c - reads the fields of an id; see store.h.
 *
 * The library describes an id as JSON, with one member per field. This file knows the names of those fields that lists
 * show.
 */
#include "cli/store/store.h"

#include <ingot/private/descriptor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"

enum { SHOWN_DIGITS = 12 };

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_device_field(const cJSON *field, const char *part)
{
    return has_prefix(field->string, "device[") && strcmp(last_part(field->string), part) == 0;
}

static bool is_digest_of_source(const cJSON *field)
{
    return has_prefix(field->string, "source[") && strcmp(last_part(field->string), "blake2b") == 0;
}

/* Appends the field's value, unless an earlier device has the same value. */
static void add_once(char **list, const cJSON *fields, const cJSON *field, const char *part)
{
    const cJSON *earlier;
    cJSON_ArrayForEach(earlier, fields)
    {
        if (earlier == field)
            break;
        if (cJSON_IsString(earlier) && is_device_field(earlier, part) &&
            strcmp(earlier->valuestring, field->valuestring) == 0)
            return;
    }
    *list = text_append(*list, ", ", field->valuestring);
}

cJSON *id_read(size_t size, const uint8_t *id)
{
    return id != NULL ? json_describe(ingot_cache_blob_id_describe, size, id) : NULL;
}

const char *id_kind(const cJSON *fields)
{
    const char *artifact = json_text(fields, "artifact");
    if (json_text(fields, "probes.request") != NULL)
        return "probes";
    return artifact != NULL ? artifact : json_text(fields, "backend") != NULL ? "program" : NULL;
}

void id_add_to_json(cJSON *object, const cJSON *fields)
{
    static const char *const names[] = {"key.device", "key.target", "key.arch"};
    char source[64];
    char *devices = NULL;
    char *drivers = NULL;
    char *sources = NULL;
    const char *source_kind = "";
    const cJSON *field;
    cJSON_ArrayForEach(field, fields)
    {
        const char *part = last_part(field->string);
        if (!cJSON_IsString(field))
            continue;
        if (is_device_field(field, "device_name"))
            add_once(&devices, fields, field, part);
        else if (is_device_field(field, "driver_version"))
            add_once(&drivers, fields, field, part);
        else if (has_prefix(field->string, "source[") && strcmp(part, "kind") == 0)
            source_kind = field->valuestring;
        else if (is_digest_of_source(field)) {
            /* the kind is eight hexadecimal digits if only the backend knows it */
            const bool is_own = strlen(source_kind) == 8 && strspn(source_kind, "0123456789abcdef") == 8;
            (void)snprintf(source, sizeof(source), "%.40s %.*s", is_own ? "own" : source_kind, SHOWN_DIGITS,
                           field->valuestring);
            sources = text_append(sources, ", ", source);
        }
    }
    const char *device = devices; /* for an artifact, what its key names, or what it was compiled for */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && device == NULL; ++i)
        device = json_text(fields, names[i]);
    json_add_text(object, "kind", id_kind(fields));
    json_add_text(object, "backend", json_text(fields, "backend"));
    json_add_text(object, "driver", drivers);
    json_add_text(object, "source", sources);
    json_add_text(object, "device", device);
    free(devices);
    free(drivers);
    free(sources);
}

bool id_has_kind(const cJSON *fields, const char *wanted)
{
    const char *kind = id_kind(fields);
    if (wanted == NULL || kind == NULL || strcmp(kind, wanted) == 0)
        return wanted == NULL || kind != NULL;
    return strcmp(kind, "program") == 0
               ? strcmp(wanted, "result") == 0
               : strcmp(wanted, "artifact") == 0 && strcmp(kind, "probes") != 0 && !has_prefix(kind, "request");
}

bool id_is_of_kind(size_t size, const uint8_t *id, const char *wanted)
{
    if (wanted == NULL)
        return true;
    cJSON *fields = id_read(size, id);
    const bool is_wanted = id_has_kind(fields, wanted);
    cJSON_Delete(fields);
    return is_wanted;
}

bool id_has_digest(const cJSON *fields, const char *digits)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, fields)
    {
        if (cJSON_IsString(field) && is_digest_of_source(field) &&
            strncasecmp(field->valuestring, digits, strlen(digits)) == 0)
            return true;
    }
    return false;
}

bool id_has_source(const cJSON *fields, const char *part)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, fields)
    {
        const char *name = field->string;
        const bool is_of_text = has_prefix(name, "source[") || has_prefix(name, "header[");
        if ((has_prefix(name, "key.") || (is_of_text && strcmp(last_part(name), "blake2b") != 0)) &&
            text_contains(cJSON_GetStringValue(field), part))
            return true;
    }
    return id_has_digest(fields, part);
}

static void add_difference(void *user, const char *path, const char *expected, const char *found)
{
    cJSON *difference = cJSON_CreateObject();
    (void)cJSON_AddItemToObjectCS(difference, "field", cJSON_Parse(path));
    (void)cJSON_AddItemToObjectCS(difference, "expected", cJSON_Parse(expected));
    (void)cJSON_AddItemToObjectCS(difference, "found", cJSON_Parse(found));
    (void)cJSON_AddItemToArray(user, difference);
}

cJSON *id_compare(size_t wanted_size, const uint8_t *wanted, size_t found_size, const uint8_t *found)
{
    cJSON *differences = cJSON_CreateArray();
    if (ingot_cache_blob_id_compare(wanted_size, wanted, found_size, found, add_difference, differences) ==
        INGOT_SUCCESS)
        return differences;
    cJSON_Delete(differences);
    return NULL;
}

/*
 * id.c - reads the fields of an id; see id.h.
 *
 * The library describes an id as JSON, with one member per field. This file knows the names of those fields that lists
 * show.
 */
#include "cli/store/id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"

enum { SHOWN_DIGITS = 12 };

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_device_field(const cJSON *field, const char *part)
{
    return begins_with(field->string, "device[") && strcmp(last_part(field->string), part) == 0;
}

/* Appends the field's value, unless an earlier device has the same value. */
static void add_once(char **list, const struct id_view *view, const cJSON *field, const char *part)
{
    const cJSON *earlier;
    cJSON_ArrayForEach(earlier, view->fields)
    {
        if (earlier == field)
            break;
        if (cJSON_IsString(earlier) && is_device_field(earlier, part) &&
            strcmp(earlier->valuestring, field->valuestring) == 0)
            return;
    }
    *list = text_append(*list, ", ", field->valuestring);
}

/* Adds a source. The kind is eight hexadecimal digits if only the backend knows it; such a source is called "own". */
static void add_source(struct id_view *view, const char *kind, const char *digest)
{
    char source[64];
    const bool is_own = strlen(kind) == 8 && strspn(kind, "0123456789abcdef") == 8;
    (void)snprintf(source, sizeof(source), "%.40s %.*s", is_own ? "own" : kind, SHOWN_DIGITS, digest);
    view->sources = text_append(view->sources, ", ", source);
}

static void take_field(struct id_view *view, const cJSON *field, const char **source_kind)
{
    const char *part = last_part(field->string);
    const char *value = field->valuestring;
    if (strcmp(field->string, "artifact") == 0)
        view->kind = text_append(view->kind, ", ", value);
    else if (strcmp(field->string, "backend") == 0)
        view->backend = text_append(view->backend, ", ", value);
    else if (is_device_field(field, "device_name"))
        add_once(&view->devices, view, field, part);
    else if (is_device_field(field, "driver_version"))
        add_once(&view->drivers, view, field, part);
    else if (begins_with(field->string, "source[") && strcmp(part, "kind") == 0)
        *source_kind = value;
    else if (begins_with(field->string, "source[") && strcmp(part, "blake2b") == 0)
        add_source(view, *source_kind, value);
}

void id_read(struct id_view *view, size_t size, const uint8_t *id)
{
    const char *source_kind = "";
    const cJSON *field;

    memset(view, 0, sizeof(*view));
    if (id != NULL)
        view->fields = json_describe(ingot_cache_blob_id_describe, size, id);
    cJSON_ArrayForEach(field, view->fields)
    {
        if (cJSON_IsString(field))
            take_field(view, field, &source_kind);
    }
}

void id_fini(struct id_view *view)
{
    cJSON_Delete(view->fields);
    free(view->kind);
    free(view->backend);
    free(view->devices);
    free(view->drivers);
    free(view->sources);
}

const char *id_kind(const struct id_view *view)
{
    return view->kind != NULL ? view->kind : view->backend != NULL ? "program" : NULL;
}

bool id_is_of_kind(size_t size, const uint8_t *id, const char *wanted)
{
    struct id_view view;
    if (wanted == NULL)
        return true;
    id_read(&view, size, id);
    const char *kind = id_kind(&view);
    const bool is_wanted = kind != NULL && strcmp(kind, wanted) == 0;
    id_fini(&view);
    return is_wanted;
}

const char *id_maker(const struct id_view *view)
{
    return view->kind != NULL ? view->kind : view->backend;
}

void id_add_to_json(cJSON *object, const struct id_view *view)
{
    json_add_text(object, "kind", id_kind(view));
    json_add_text(object, "backend", view->backend);
    json_add_text(object, "driver", view->drivers);
    json_add_text(object, "source", view->sources);
    json_add_text(object, "device", view->devices);
}

int id_has_source(const struct id_view *view, const char *part)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, view->fields)
    {
        const char *name = field->string;
        if (!cJSON_IsString(field))
            continue;
        if (begins_with(name, "source[") && strcmp(last_part(name), "blake2b") == 0) {
            if (strncasecmp(field->valuestring, part, strlen(part)) == 0)
                return 1;
        } else if (begins_with(name, "key.") && text_contains(field->valuestring, part)) {
            return 1;
        } else if ((begins_with(name, "source[") || begins_with(name, "header[") || begins_with(name, "file[")) &&
                   strcmp(last_part(name), "blake2b") != 0 && text_contains(field->valuestring, part)) {
            return 1;
        }
    }
    return 0;
}

cJSON *id_compare(size_t wanted_size, const uint8_t *wanted, size_t found_size, const uint8_t *found)
{
    size_t size = 0;
    if (ingot_cache_blob_id_explain(wanted_size, wanted, found_size, found, &size, NULL) != INGOT_SUCCESS)
        return NULL;
    char *text = memory_get(size);
    cJSON *differences = NULL;
    if (ingot_cache_blob_id_explain(wanted_size, wanted, found_size, found, &size, text) == INGOT_SUCCESS)
        differences = cJSON_Parse(text);
    free(text);
    return differences;
}

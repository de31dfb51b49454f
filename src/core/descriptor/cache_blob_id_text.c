/*
 * cache_blob_id_text.c - visits the fields of an id, or those in which two ids differ, and describes them as JSON.
 */
#include <ingot/private/descriptor.h>
#include <stdlib.h>
#include <string.h>

#include "core/artifact/artifact_id.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/descriptor/program_desc.h"
#include "core/memo/probes.h"
#include "util/entry_kind.h"
#include "util/memory.h"

ingot_status_t ingot_cache_blob_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user)
{
    switch (entry_kind_of(size, id)) {
    case ENTRY_ARTIFACT: return artifact_id_visit(size, id, visit, user);
    case ENTRY_PROBES: return probes_visit_id(size, id, visit, user);
    default: return cache_blob_id_visit(size, id, visit, user);
    }
}

static void put_field_as_json(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct bytes_writer *json = user;

    bytes_put_text(json, json->size > 1 ? ", " : "");
    json_put_text(json, path);
    bytes_put_text(json, ": ");
    json_put_string(json, size, value, is_text);
}

ingot_status_t ingot_cache_blob_id_describe(size_t size, const uint8_t *id, size_t *text_size, char *text)
{
    struct bytes_writer json;

    if ((id == NULL && size != 0) || text_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "id or text_size is NULL");
    json_begin(&json);
    bytes_put_text(&json, "{");
    const ingot_status_t status = ingot_cache_blob_id_visit(size, id, put_field_as_json, &json);
    bytes_put_text(&json, "}");
    return json_end(&json, status, text_size, text);
}

struct field {
    struct field *next; /* next in the id's order */
    size_t number;      /* position in the id's order, counted from 0 */
    const char *path;
    const uint8_t *value;
    size_t size;
    bool is_text;
};

/* The fields of an id, both in the id's order and sorted by path, so that comparing two ids of n fields takes O(n
 * log n) steps. */
struct field_list {
    struct arena arena;
    struct field *first;
    struct field **end;
    struct field **sorted; /* an untrusted id may repeat a path; fields with equal paths stay in the id's order */
    size_t count;
};

static void add_field_to_list(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct field_list *list = user;
    struct field *field = arena_take(&list->arena, sizeof(*field));
    const char *copy = arena_copy(&list->arena, strlen(path), path);
    const char *kept = arena_copy(&list->arena, size, value);
    if (field == NULL || copy == NULL || kept == NULL || strcmp(path, "request.blake2b") == 0)
        return; /* two requests differ in their digests only if they differ in another field */
    *field = (struct field){NULL, list->count++, copy, (const uint8_t *)kept, size, is_text};
    *list->end = field;
    list->end = &field->next;
}

static int compare_fields(const void *a, const void *b)
{
    const struct field *left = *(struct field *const *)a;
    const struct field *right = *(struct field *const *)b;
    const int order = strcmp(left->path, right->path);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static void init_fields(struct field_list *list)
{
    *list = (struct field_list){.end = &list->first};
    arena_init(&list->arena, &memory_c_allocator);
}

static ingot_status_t read_fields(struct field_list *list, size_t size, const uint8_t *id)
{
    const ingot_status_t status = ingot_cache_blob_id_visit(size, id, add_field_to_list, list);
    list->sorted = arena_take(&list->arena, (list->count + 1) * sizeof(struct field *));
    if (status != INGOT_SUCCESS || list->arena.failed)
        return status != INGOT_SUCCESS ? status : error_out_of_memory();
    struct field **next = list->sorted;
    for (struct field *field = list->first; field != NULL; field = field->next)
        *next++ = field;
    if (list->count > 1)
        qsort(list->sorted, list->count, sizeof(struct field *), compare_fields);
    return INGOT_SUCCESS;
}

/* Returns the first field with this path, or NULL. */
static const struct field *find_field(const struct field_list *list, const char *path)
{
    size_t begin = 0;
    for (size_t end = list->count; begin < end;) {
        const size_t middle = begin + (end - begin) / 2;
        if (strcmp(list->sorted[middle]->path, path) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    const struct field *found = begin < list->count ? list->sorted[begin] : NULL;
    return found != NULL && strcmp(found->path, path) == 0 ? found : NULL;
}

/* A visit of the fields in which two ids differ. */
struct comparison {
    ingot_cache_blob_id_difference_t visit;
    void *user;
    struct bytes_writer texts; /* of the current field, each with its NUL */
};

/* Appends the value of a field, or null, and returns the offset of its text. */
static size_t put_value_as_text(struct bytes_writer *texts, const struct field *field)
{
    const size_t start = texts->size;
    if (field != NULL)
        json_put_string(texts, field->size, field->value, field->is_text);
    else
        bytes_put_text(texts, "null");
    bytes_put(texts, 1, "");
    return start;
}

static void visit_difference(struct comparison *comparison, const char *path, const struct field *expected,
                             const struct field *found)
{
    struct bytes_writer *texts = &comparison->texts;
    texts->size = 0;
    json_put_text(texts, path);
    bytes_put(texts, 1, "");
    const size_t expected_start = put_value_as_text(texts, expected);
    const size_t found_start = put_value_as_text(texts, found);
    const char *text = (const char *)texts->bytes;
    if (!texts->failed)
        comparison->visit(comparison->user, text, text + expected_start, text + found_start);
}

ingot_status_t ingot_cache_blob_id_compare(size_t expected_size, const uint8_t *expected, size_t found_size,
                                           const uint8_t *found, ingot_cache_blob_id_difference_t visit, void *user)
{
    struct comparison comparison = {.visit = visit, .user = user};
    struct field_list expected_fields;
    struct field_list found_fields;

    json_begin(&comparison.texts);
    init_fields(&expected_fields);
    init_fields(&found_fields);
    ingot_status_t status = read_fields(&expected_fields, expected_size, expected);
    if (status == INGOT_SUCCESS)
        status = read_fields(&found_fields, found_size, found);
    /* equal ids have no differences, even if they repeat a path */
    if (status == INGOT_SUCCESS && (expected_size != found_size || memcmp(expected, found, found_size) != 0)) {
        for (const struct field *field = expected_fields.first; field != NULL; field = field->next) {
            const struct field *other = find_field(&found_fields, field->path);
            if (other == NULL || !(field->size == other->size &&
                                   (field->size == 0 || memcmp(field->value, other->value, field->size) == 0)))
                visit_difference(&comparison, field->path, field, other);
        }
        for (const struct field *field = found_fields.first; field != NULL; field = field->next) {
            if (find_field(&expected_fields, field->path) == NULL)
                visit_difference(&comparison, field->path, NULL, field);
        }
    }
    if (comparison.texts.failed)
        status = error_out_of_memory();
    arena_fini(&expected_fields.arena);
    arena_fini(&found_fields.arena);
    bytes_writer_fini(&comparison.texts);
    return status;
}

/*
 * cache_blob_id_text.c - describes an id, or how two ids differ, as JSON.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/blob/json_text.h"
#include "core/descriptor/cache_blob_id.h"

static void describe_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct bytes_writer *json = user;

    bytes_put_text(json, json->size > 1 ? ", " : "");
    json_put_text(json, path);
    bytes_put_text(json, ": ");
    json_put_string(json, size, value, is_text);
}

ingot_status_t ingot_cache_blob_id_describe(size_t size, const uint8_t *id, size_t *text_size, char *text)
{
    ingot_allocator_t allocator;
    struct bytes_writer json;

    if ((id == NULL && size != 0) || text_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "id or text_size is NULL");
    json_writer_init(&json, &allocator);
    bytes_put_text(&json, "{");
    ingot_status_t status = cache_blob_id_visit(size, id, describe_field, &json);
    bytes_put_text(&json, "}");
    if (status == INGOT_SUCCESS)
        status = json_copy_out(&json, text_size, text);
    bytes_writer_fini(&json);
    return status;
}

struct found_field {
    const char *path;
    const uint8_t *value;
    size_t size;
    bool is_text;
    bool found;
};

static void find_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct found_field *field = user;
    if (!field->found && strcmp(path, field->path) == 0)
        *field = (struct found_field){field->path, value, size, is_text, true};
}

struct comparison {
    struct bytes_writer *json;
    size_t other_size;
    const uint8_t *other;
    bool other_is_expected;
};

static void put_value(struct bytes_writer *json, const struct found_field *field)
{
    if (field->found)
        json_put_string(json, field->size, field->value, field->is_text);
    else
        bytes_put_text(json, "null");
}

/* Reports fields that the other id lacks or has with another value. Fields of both are reported in the first pass
 * only. */
static void compare_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct comparison *comparison = user;
    const struct found_field mine = {path, value, size, is_text, true};
    struct found_field other = {.path = path};

    (void)cache_blob_id_visit(comparison->other_size, comparison->other, find_field, &other); /* was checked before */
    if (other.found &&
        (comparison->other_is_expected || (other.size == size && (size == 0 || memcmp(other.value, value, size) == 0))))
        return;
    struct bytes_writer *json = comparison->json;
    bytes_put_text(json, json->size > 1 ? ", " : "");
    bytes_put_text(json, "{\"field\": ");
    json_put_text(json, path);
    bytes_put_text(json, ", \"expected\": ");
    put_value(json, comparison->other_is_expected ? &other : &mine);
    bytes_put_text(json, ", \"found\": ");
    put_value(json, comparison->other_is_expected ? &mine : &other);
    bytes_put_text(json, "}");
}

ingot_status_t ingot_cache_blob_id_explain(size_t expected_size, const uint8_t *expected, size_t found_size,
                                           const uint8_t *found, size_t *text_size, char *text)
{
    ingot_allocator_t allocator;
    struct bytes_writer json;

    if ((expected == NULL && expected_size != 0) || (found == NULL && found_size != 0) || text_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "an id or text_size is NULL");
    ingot_status_t status = cache_blob_id_visit(expected_size, expected, NULL, NULL);
    if (status == INGOT_SUCCESS)
        status = cache_blob_id_visit(found_size, found, NULL, NULL);
    if (status != INGOT_SUCCESS)
        return status;

    json_writer_init(&json, &allocator);
    const bool are_equal = expected_size == found_size && memcmp(expected, found, found_size) == 0;
    struct comparison forward = {&json, found_size, found, false};
    struct comparison backward = {&json, expected_size, expected, true};
    bytes_put_text(&json, "[");
    if (!are_equal) { /* fields are matched by name, and a name may occur twice in ids from elsewhere */
        (void)cache_blob_id_visit(expected_size, expected, compare_field, &forward); /* both were checked above */
        (void)cache_blob_id_visit(found_size, found, compare_field, &backward);
    }
    bytes_put_text(&json, "]");
    status = json_copy_out(&json, text_size, text);
    bytes_writer_fini(&json);
    return status;
}

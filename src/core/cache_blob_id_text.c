/*
 * cache_blob_id_text.c - ids for people: what one says, and where two differ, as JSON.
 *
 * JSON is only written here, never read, and through the caller's size protocol; a few lines do, without a library.
 */
#include <stdio.h>
#include <string.h>

#include "core/cache_blob_id.h"
#include "core/error.h"

/* These functions belong to no context, so they take the C library's memory. */
static void writer_init(struct bytes_writer *writer, ingot_allocator_t *allocator)
{
    (void)alloc_init(allocator, NULL); /* fails for half an allocator only */
    bytes_writer_init(writer, allocator);
}

/* Length of the UTF-8 sequence at value, or 0 where there is none. Overlong forms and surrogates are none. */
static size_t utf8_length(size_t size, const uint8_t *value)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t first = value[0];
    const size_t length = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
    uint32_t point = length == 2 ? first & 0x1fu : length == 3 ? first & 0x0fu : first & 0x07u;

    if (length < 2 || length > size || first >= 0xf8)
        return length == 1 ? 1 : 0;
    for (size_t i = 1; i < length; ++i) {
        if ((value[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (value[i] & 0x3fu);
    }
    return point >= least[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? length : 0;
}

static void put_escaped(struct bytes_writer *json, uint8_t c)
{
    char text[8];
    snprintf(text, sizeof(text), "\\u%04x", c);
    bytes_put_text(json, text);
}

static void put_string(struct bytes_writer *json, size_t size, const uint8_t *value, bool is_text)
{
    bytes_put_text(json, "\"");
    for (size_t i = 0; i < size; ++i) {
        if (!is_text) {
            char hex[3];
            snprintf(hex, sizeof(hex), "%02x", value[i]);
            bytes_put_text(json, hex);
            continue;
        }
        const size_t length = utf8_length(size - i, value + i);
        if (length == 0 || value[i] < 0x20 || value[i] == '"' || value[i] == '\\') {
            put_escaped(json, value[i]); /* a byte that is no UTF-8 appears as the character of its number */
            continue;
        }
        bytes_put(json, length, value + i);
        i += length - 1;
    }
    bytes_put_text(json, "\"");
}

static void put_text_string(struct bytes_writer *json, const char *text)
{
    put_string(json, strlen(text), (const uint8_t *)text, true);
}

static ingot_status_t copy_text(struct bytes_writer *json, size_t *text_size, char *text)
{
    bytes_put(json, 1, "");
    if (json->failed)
        return error_out_of_memory();
    const ingot_status_t status = bytes_copy_out(json->size, json->bytes, text_size, text);
    return status == INGOT_SUCCESS ? status : error_set(status, "the text needs %zu bytes", json->size);
}

static void describe_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct bytes_writer *json = user;

    bytes_put_text(json, json->size > 1 ? ", " : "");
    put_text_string(json, path);
    bytes_put_text(json, ": ");
    put_string(json, size, value, is_text);
}

ingot_status_t ingot_cache_blob_id_describe(size_t size, const uint8_t *id, size_t *text_size, char *text)
{
    ingot_allocator_t allocator;
    struct bytes_writer json;

    if ((id == NULL && size != 0) || text_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "id or text_size is NULL");
    writer_init(&json, &allocator);
    bytes_put_text(&json, "{");
    ingot_status_t status = cache_blob_id_visit(size, id, describe_field, &json);
    bytes_put_text(&json, "}");
    if (status == INGOT_SUCCESS)
        status = copy_text(&json, text_size, text);
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
        put_string(json, field->size, field->value, field->is_text);
    else
        bytes_put_text(json, "null");
}

/* Fields of the one that the other lacks or has otherwise. What both have is reported in the first pass only. */
static void compare_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct comparison *comparison = user;
    const struct found_field mine = {path, value, size, is_text, true};
    struct found_field other = {.path = path};

    (void)cache_blob_id_visit(comparison->other_size, comparison->other, find_field, &other); /* was walked before */
    if (other.found && (comparison->other_is_expected ||
                        (other.size == size && (size == 0 || memcmp(other.value, value, size) == 0))))
        return;
    struct bytes_writer *json = comparison->json;
    bytes_put_text(json, json->size > 1 ? ", " : "");
    bytes_put_text(json, "{\"field\": ");
    put_text_string(json, path);
    bytes_put_text(json, ", \"expected\": ");
    put_value(json, comparison->other_is_expected ? &other : &mine);
    bytes_put_text(json, ", \"found\": ");
    put_value(json, comparison->other_is_expected ? &mine : &other);
    bytes_put_text(json, "}");
}

static void ignore_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    (void)user;
    (void)path;
    (void)size;
    (void)value;
    (void)is_text;
}

ingot_status_t ingot_cache_blob_id_explain(size_t expected_size, const uint8_t *expected, size_t found_size,
                                           const uint8_t *found, size_t *text_size, char *text)
{
    ingot_allocator_t allocator;
    struct bytes_writer json;

    if ((expected == NULL && expected_size != 0) || (found == NULL && found_size != 0) || text_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "an id or text_size is NULL");
    ingot_status_t status = cache_blob_id_visit(expected_size, expected, ignore_field, NULL);
    if (status == INGOT_SUCCESS)
        status = cache_blob_id_visit(found_size, found, ignore_field, NULL);
    if (status != INGOT_SUCCESS)
        return status;

    writer_init(&json, &allocator);
    struct comparison forward = {&json, found_size, found, false};
    struct comparison backward = {&json, expected_size, expected, true};
    bytes_put_text(&json, "[");
    (void)cache_blob_id_visit(expected_size, expected, compare_field, &forward); /* both were walked above */
    (void)cache_blob_id_visit(found_size, found, compare_field, &backward);
    bytes_put_text(&json, "]");
    status = copy_text(&json, text_size, text);
    bytes_writer_fini(&json);
    return status;
}

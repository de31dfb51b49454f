/*
 * json_text.c - writes JSON; see json_text.h.
 */
#include "core/base/json_text.h"

#include <string.h>

#include "core/base/error.h"
#include "util/hex.h"

void json_begin(struct bytes_writer *json)
{
    bytes_writer_init(json, &memory_c_allocator);
}

/* Returns the length of the valid UTF-8 sequence at `value`, or 0 if there is none. Overlong forms and surrogates
 * are not valid. */
static size_t utf8_length(size_t size, const uint8_t *value)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t first = value[0];
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xf0 && first < 0xf8 ? 4
                          : first >= 0xe0                 ? 3
                          : first >= 0xc0                 ? 2
                                                          : 0;
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

void json_put_string(struct bytes_writer *json, size_t size, const uint8_t *value, bool is_text)
{
    bytes_put_text(json, "\"");
    char *hex = is_text ? NULL : bytes_reserve(json, 2 * size);
    if (hex != NULL)
        hex_put(hex, size, value);
    for (size_t i = 0; is_text && i < size; ++i) {
        const size_t length = utf8_length(size - i, value + i);
        if (length == 0 || value[i] < 0x20 || value[i] == '"' || value[i] == '\\') {
            /* a byte that is not UTF-8 becomes the character with the byte's value */
            bytes_print(json, "\\u%04x", value[i]);
            continue;
        }
        bytes_put(json, length, value + i);
        i += length - 1;
    }
    bytes_put_text(json, "\"");
}

void json_put_text(struct bytes_writer *json, const char *text)
{
    json_put_string(json, strlen(text), (const uint8_t *)text, true);
}

ingot_status_t json_end(struct bytes_writer *json, ingot_status_t status, size_t *text_size, char *text)
{
    bytes_put(json, 1, "");
    if (status == INGOT_SUCCESS && json->failed)
        status = error_out_of_memory();
    if (status == INGOT_SUCCESS) {
        status = bytes_copy_out(json->size, json->bytes, text_size, text);
        if (status != INGOT_SUCCESS)
            (void)error_set(status, "the text needs %zu bytes", json->size);
    }
    bytes_writer_fini(json);
    return status;
}

/*
 * json_text.h - writes JSON, for people and tools.
 *
 * The core never reads JSON, so a few lines are enough instead of a library.
 */
#ifndef INGOT_CORE_BASE_JSON_TEXT_H
#define INGOT_CORE_BASE_JSON_TEXT_H

#include <stdbool.h>

#include "core/base/bytes.h"

/* Initializes a writer with the C library's allocator, because callers have no context. json_end or bytes_writer_fini
 * frees it. */
void json_begin(struct bytes_writer *json);

/* Writes a JSON string. If is_text is true, the bytes are text, which need not be valid UTF-8. Otherwise, they are
 * written as hexadecimal digits. */
void json_put_string(struct bytes_writer *json, size_t size, const uint8_t *value, bool is_text);
void json_put_text(struct bytes_writer *json, const char *text);

/* If `status` is INGOT_SUCCESS, appends a NUL and copies the text to the caller by the rules of bytes_copy_out. Frees
 * the writer. */
ingot_status_t json_end(struct bytes_writer *json, ingot_status_t status, size_t *text_size, char *text);

#endif

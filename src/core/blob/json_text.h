/*
 * json_text.h - writing JSON for people and tools.
 *
 * JSON is only written here, never read, and through the caller's size protocol; a few lines do, without a library.
 */
#ifndef INGOT_CORE_BLOB_JSON_TEXT_H
#define INGOT_CORE_BLOB_JSON_TEXT_H

#include <stdbool.h>

#include "core/base/bytes.h"

/* A writer over the C library's memory, since such a text belongs to no context. Goes with bytes_writer_fini. */
void json_writer_init(struct bytes_writer *writer, ingot_allocator_t *allocator);

/* A JSON string: of text, whose bytes need not be UTF-8, or of raw bytes in hexadecimal digits. */
void json_put_string(struct bytes_writer *json, size_t size, const uint8_t *value, bool is_text);
void json_put_text(struct bytes_writer *json, const char *text);

/* Ends the text with NUL and copies it to the caller; size protocol. */
ingot_status_t json_copy_out(struct bytes_writer *json, size_t *text_size, char *text);

#endif

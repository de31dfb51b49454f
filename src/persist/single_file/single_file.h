/*
 * single_file.h - decodes a file that contains one program's blob; see doc/bundle-format.md.
 */
#ifndef INGOT_PERSIST_SINGLE_FILE_SINGLE_FILE_H
#define INGOT_PERSIST_SINGLE_FILE_SINGLE_FILE_H

#include "persist/directory/format/key_file.h"

/* Verifies the header of a single file of file_size bytes; `header` has the first header_size bytes of the file.
 * Returns the statuses of key_file_decode. */
ingot_status_t single_file_decode(struct key_file *key, uint64_t file_size, size_t header_size, const uint8_t *header);

#endif

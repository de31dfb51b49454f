/*
 * key_file.h - encodes and decodes the header of key.bin; see doc/store-format.md.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_KEY_FILE_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_KEY_FILE_H

#include <ingot/ingot.h>

#include "persist/base/checksum.h"
#include "util/key_bin.h"

#define KEY_FILE_HEADER_SIZE ((size_t)KEY_BIN_AT_ID)
#define KEY_FILE_MAX_ID_SIZE ((uint64_t)1 << 26)
#define KEY_FILE_MAX_BLOB_SIZE UINT32_MAX
#define KEY_FILE_MAX_SIZE (KEY_FILE_HEADER_SIZE + KEY_FILE_MAX_ID_SIZE)

struct key_file {
    uint64_t id_size_bytes;
    uint64_t blob_size_bytes;
    struct checksum id_checksum;
    struct checksum blob_checksum;
    uint64_t created_ns;
    uint32_t flags;
};

/* Returns the header for an id and a blob that are stored at the time now_ns. */
struct key_file key_file_of(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob, uint64_t now_ns);

/* Encodes the header of a key.bin. */
void key_file_encode(const struct key_file *key, uint8_t header[KEY_FILE_HEADER_SIZE]);

/*
 * Verifies the header of a key.bin of file_size bytes; `header` has the first header_size bytes of the file, which must
 * be the whole header unless the file is shorter. Does not verify the id. Returns INGOT_BLOB_TRUNCATED,
 * INGOT_BLOB_CORRUPT or INGOT_BLOB_VERSION, with an error detail, on failure.
 */
ingot_status_t key_file_decode(struct key_file *key, uint64_t file_size, size_t header_size, const uint8_t *header);

/* Does the same for a single file (doc/bundle-format.md): a key.bin that ends where the blob begins. */
ingot_status_t key_file_decode_single(struct key_file *key, uint64_t file_size, size_t header_size,
                                      const uint8_t *header);

#endif

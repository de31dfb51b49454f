/*
 * envelope.h - encodes and decodes an object on a server, and derives its key; see doc/remote-format.md.
 *
 * Anyone with write access to the server can write anything. So the checksum of a header is verified before anything in
 * it is used, sizes are compared with the received bytes and with the limits, and the id is compared before the blob is
 * used.
 */
#ifndef INGOT_REMOTE_OBJECT_ENVELOPE_H
#define INGOT_REMOTE_OBJECT_ENVELOPE_H

#include <ingot/ingot.h>
#include <stdbool.h>

#define ENVELOPE_VERSION 1u
#define ENVELOPE_HEADER_SIZE 96u
#define ENVELOPE_MAX_ID_SIZE ((uint64_t)1 << 26)
#define ENVELOPE_MAX_BLOB_SIZE UINT32_MAX
#define OBJECT_KEY_HEX_SIZE 64u
#define OBJECT_KEY_CAPACITY (OBJECT_KEY_HEX_SIZE + 1)

/* Writes the digest of format version, namespace and id as 64 hexadecimal digits and a NUL. */
void object_key_of(const char *name_space, size_t id_size, const uint8_t *id, char key[OBJECT_KEY_CAPACITY]);

/* Returns the size of the largest object that has an id of this size and a blob of at most max_blob_size bytes. */
size_t envelope_max_size(size_t id_size, size_t max_blob_size);

/*
 * Makes an object from an id and a blob. The caller frees it. Compresses the blob with zstd at the given level if that
 * makes it smaller; level 0: does not compress.
 * @retval INGOT_OUT_OF_MEMORY
 */
ingot_status_t envelope_encode(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob,
                               uint64_t created_ns, int level, size_t *size, uint8_t **object);

/* What an object has. */
struct envelope_content {
    size_t id_size;
    const uint8_t *id; /* points into the object */
    size_t size;       /* of the blob */
    const uint8_t *bytes;
    uint8_t *unpacked; /* the caller frees it; NULL: `bytes` points into the object */
};

/*
 * Returns the content of an object, which must belong to the id. id: NULL: any.
 *
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION
 * @retval INGOT_BLOB_MISMATCH  The object is valid but belongs to another id.
 * @retval INGOT_NO_SPACE       The blob is larger than max_blob_size bytes.
 * @retval INGOT_OUT_OF_MEMORY
 */
ingot_status_t envelope_decode(size_t size, const uint8_t *object, size_t id_size, const uint8_t *id,
                               size_t max_blob_size, struct envelope_content *content);

#endif

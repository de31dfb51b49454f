/*
 * seal.h - reads and writes the envelope of a sealed blob.
 *
 * An envelope is a header, which contains a tag, followed by the blob; see doc/seal-format.md.
 */
#ifndef INGOT_PERSIST_TRUST_SEAL_H
#define INGOT_PERSIST_TRUST_SEAL_H

#include <ingot/storage.h>
#include <stdbool.h>

#define SEAL_SIZE ((size_t)128) /* the size of the header */
#define SEAL_AT_ALGORITHM 12u
#define SEAL_AT_KEY_ID 16u
#define SEAL_AT_TAG 64u
#define SEAL_TAGGED_SIZE ((size_t)SEAL_AT_TAG) /* the tag covers this many bytes of the header */
#define SEAL_TAG_SIZE 64u
#define SEAL_KEY_ID_SIZE 16u

/* The values of the format's algorithm field. */
enum seal_algorithm { SEAL_BLAKE2B = 1, SEAL_ED25519 = 2 };

/* True if the bytes begin like an envelope. A blob that Ingot made begins like this only if it is sealed. */
bool seal_is(size_t size, const uint8_t *bytes);
/* Verifies everything that can be verified without a key. Returns INGOT_BLOB_TRUNCATED or INGOT_BLOB_VERSION, with an
 * error detail, on failure. */
ingot_status_t seal_examine(size_t size, const uint8_t *bytes);

uint32_t seal_algorithm(const uint8_t *bytes);

/* Writes the header, with zeros for the tag. */
void seal_begin(uint8_t header[SEAL_SIZE], enum seal_algorithm algorithm, const uint8_t key_id[SEAL_KEY_ID_SIZE]);

/*
 * Turns a buffer with an envelope into a buffer of the blob alone, without a copy. Leaves other buffers unchanged. When
 * the new buffer is released, the original buffer is released with its original pointer, because a custom storage may
 * free the memory at that pointer. On failure, releases the buffer. Returns the statuses of seal_examine, or
 * INGOT_OUT_OF_MEMORY.
 */
ingot_status_t seal_open(const ingot_allocator_t *allocator, ingot_buffer_t *buffer);

#endif

/*
 * seal.h - the envelope around a blob: a header with a tag, then the blob; see doc/seal-format.md.
 */
#ifndef INGOT_PERSIST_TRUST_SEAL_H
#define INGOT_PERSIST_TRUST_SEAL_H

#include <ingot/storage.h>
#include <stdbool.h>

#define SEAL_SIZE ((size_t)128) /* of the header, which the blob follows */
#define SEAL_AT_ALGORITHM 12u
#define SEAL_AT_KEY_ID 16u
#define SEAL_AT_TAG 64u
#define SEAL_TAGGED_SIZE ((size_t)SEAL_AT_TAG) /* the first bytes, which the tag covers */
#define SEAL_TAG_SIZE 64u
#define SEAL_KEY_ID_SIZE 16u

/* Values of the format. */
enum seal_algorithm { SEAL_BLAKE2B = 1, SEAL_ED25519 = 2 };

/* True if the bytes begin as an envelope does. A blob of Ingot never does. */
bool seal_is(size_t size, const uint8_t *bytes);
/* Verifies everything that can be verified without a key. INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION with a detail. */
ingot_status_t seal_examine(size_t size, const uint8_t *bytes);

uint32_t seal_algorithm(const uint8_t *bytes);

/* Writes the header, with zeros for the tag. */
void seal_begin(uint8_t header[SEAL_SIZE], enum seal_algorithm algorithm, const uint8_t key_id[SEAL_KEY_ID_SIZE]);

/*
 * Turns a buffer with an envelope into a buffer of the blob alone, without a copy. Leaves other buffers unchanged. The
 * buffer's release later gets the buffer as it was, because a custom storage may free what its bytes point to. A
 * failure releases the buffer. Statuses as seal_examine, and INGOT_OUT_OF_MEMORY.
 */
ingot_status_t seal_open(const ingot_allocator_t *allocator, ingot_buffer_t *buffer);

#endif

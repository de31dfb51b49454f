/*
 * key.h - holds a key, makes and verifies tags with it, and reads and writes its text, if its file can be trusted; see
 * doc/seal-format.md.
 */
#ifndef INGOT_PERSIST_TRUST_KEY_H
#define INGOT_PERSIST_TRUST_KEY_H

#include <ingot/trust.h>
#include <sodium.h>
#include <stdbool.h>

#include "persist/trust/seal.h"

struct key {
    ingot_persist_key_kind_t kind;
    uint8_t id[SEAL_KEY_ID_SIZE];
    uint8_t public_key[INGOT_PERSIST_KEY_SIZE];         /* zeros for BLAKE2b */
    uint8_t secret[crypto_sign_ed25519_SECRETKEYBYTES]; /* in libsodium's form; zeros for a public key */
};

/* The data that a tag covers. `header` is the first SEAL_TAGGED_SIZE bytes of the envelope. */
struct tagged {
    const uint8_t *header;
    size_t id_size;
    const uint8_t *id;
    size_t blob_size;
    const uint8_t *blob;
};

/* Makes a key from its bytes. Returns INGOT_INVALID_ARGUMENTS if the kind is not valid or all bytes are zero. */
ingot_status_t key_init(struct key *key, ingot_persist_key_kind_t kind, const uint8_t bytes[INGOT_PERSIST_KEY_SIZE]);

enum seal_algorithm key_algorithm(const struct key *key);
bool key_can_seal(const struct key *key);
void key_make_tag(const struct key *key, const struct tagged *tagged, uint8_t tag[SEAL_TAG_SIZE]);
/* True if the tag was made with this key. For BLAKE2b, the time does not depend on which bytes of a wrong tag
 * differ. */
bool key_verifies(const struct key *key, const struct tagged *tagged, const uint8_t tag[SEAL_TAG_SIZE]);

/* ---- texts and files ---- */

#define KEY_TEXT_CAPACITY 256u /* longer than any key file */

/* Writes the text of a key. If is_public is set, writes the text of the public key of an Ed25519 pair instead. Returns
 * the size of the text. */
size_t key_text_encode(const struct key *key, bool is_public, char text[KEY_TEXT_CAPACITY]);
/* Decodes the text of a key file, which must match the format exactly. Otherwise returns INGOT_BLOB_CORRUPT or
 * INGOT_BLOB_VERSION; the error detail does not repeat the text. */
ingot_status_t key_text_decode(struct key *key, size_t size, const char *text);
/* Reads a key file. Returns the statuses of ingot_persist_key_describe. */
ingot_status_t key_disk_read(const char *path, struct key *key);

#endif

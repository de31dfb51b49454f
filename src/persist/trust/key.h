/*
 * key.h - holds a key, and makes and verifies tags with it; see doc/seal-format.md.
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

#endif

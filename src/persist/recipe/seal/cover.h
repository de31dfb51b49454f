/*
 * cover.h - computes the digest that a recipe's seal covers: the digest of all records before the seal, except other
 * seals; see doc/recipe-format.md.
 *
 * The reader adds to the digest the same bytes that it then uses. For a text, it adds the key by which it later
 * verifies the text. The reader therefore uses only what was sealed.
 */
#ifndef INGOT_PERSIST_RECIPE_SEAL_COVER_H
#define INGOT_PERSIST_RECIPE_SEAL_COVER_H

#include <sodium.h>

#include "persist/trust/keyring.h"

#define RECIPE_SEAL_SIZE 128u /* size of a seal's content, which has the form of a sealed blob's header */
#define RECIPE_COVER_SIZE 64u /* size of the digest */

/* The digest of the records so far. Not synchronized. */
struct recipe_cover {
    crypto_generichash_blake2b_state state;
    bool is_damaged; /* a record is damaged, so no seal fits any more */
};

void recipe_cover_init(struct recipe_cover *cover);
/* Adds a record. `key` has 32 bytes. `content` is NULL for a text, because the text's key is enough. */
void recipe_cover_add(struct recipe_cover *cover, uint32_t kind, const uint8_t *key, uint64_t size,
                      const uint8_t *content);

/* True if `seal`, which may be NULL, is the content of a seal that one of the keys made over the records so far. */
bool recipe_cover_fits(const struct recipe_cover *cover, const struct keyring *keyring, size_t size,
                       const uint8_t *seal);
/* Makes the content of a seal over the records so far. The keyring must be able to seal. Returns INGOT_BLOB_CORRUPT if
 * a record is damaged, or INGOT_OUT_OF_MEMORY. */
ingot_status_t recipe_cover_seal(const struct recipe_cover *cover, const struct keyring *keyring,
                                 uint8_t seal[RECIPE_SEAL_SIZE]);

#endif

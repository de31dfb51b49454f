/*
 * cover.h - what a recipe's seal covers: the records before it, without other seals; doc/recipe-format.md.
 *
 * The digest is computed from what the reader keeps and verifies texts by, so that what is used is what was sealed.
 */
#ifndef INGOT_PERSIST_RECIPE_SEAL_COVER_H
#define INGOT_PERSIST_RECIPE_SEAL_COVER_H

#include <sodium.h>

#include "persist/trust/keyring.h"

#define RECIPE_SEAL_SIZE 128u /* of a seal's content: the header of a sealed blob */
#define RECIPE_COVER_SIZE 64u /* of the digest */

/* The records so far. Not synchronized. */
struct recipe_cover {
    crypto_generichash_blake2b_state state;
    bool is_damaged; /* a record could not be covered: no seal fits any more */
};

void recipe_cover_init(struct recipe_cover *cover);
/* Adds a record. key: 32 bytes. content: NULL for a text, which its key stands for. */
void recipe_cover_add(struct recipe_cover *cover, uint32_t kind, const uint8_t *key, uint64_t size,
                      const uint8_t *content);

/* True if this, which may be NULL, is the content of a seal over the records so far, by one of the keys. */
bool recipe_cover_fits(const struct recipe_cover *cover, const struct keyring *keyring, size_t size,
                       const uint8_t *seal);
/* Makes the content of a seal. The keyring can seal. INGOT_BLOB_CORRUPT: a record is damaged. INGOT_OUT_OF_MEMORY. */
ingot_status_t recipe_cover_seal(const struct recipe_cover *cover, const struct keyring *keyring,
                                 uint8_t seal[RECIPE_SEAL_SIZE]);

#endif

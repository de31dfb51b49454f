/*
 * cover.c - computes the digest that a recipe's seal covers; see cover.h.
 */
#include "persist/recipe/seal/cover.h"

#include <ingot/backend.h>
#include <ingot/private/recipe.h>
#include <string.h>

#include "persist/trust/seal.h"
#include "util/little_endian.h"

_Static_assert(RECIPE_SEAL_SIZE == SEAL_SIZE, "a seal's content is the header of a sealed blob");

/* A recipe's seal has these bytes in place of a blob's id. No program's id begins with them. */
static const uint8_t id[] = {'i', 'n', 'g', 'o', 't', ' ', 'r', 'e', 'c', 'i', 'p', 'e'};

void recipe_cover_init(struct recipe_cover *cover)
{
    cover->is_damaged = false;
    (void)crypto_generichash_blake2b_init(&cover->state, NULL, 0, RECIPE_COVER_SIZE);
}

void recipe_cover_add(struct recipe_cover *cover, uint32_t kind, const uint8_t *key, uint64_t size,
                      const uint8_t *content)
{
    uint8_t number[sizeof(uint64_t)];
    le_put_u32(number, kind);
    (void)crypto_generichash_blake2b_update(&cover->state, number, sizeof(uint32_t));
    (void)crypto_generichash_blake2b_update(&cover->state, key, INGOT_RECIPE_KEY_SIZE);
    le_put_u64(number, size);
    (void)crypto_generichash_blake2b_update(&cover->state, number, sizeof(number));
    if (content != NULL)
        (void)crypto_generichash_blake2b_update(&cover->state, content, size);
}

/* Computes the digest of the records so far. Uses a copy of the state, so that more records can be added. */
static void digest_of(const struct recipe_cover *cover, uint8_t digest[RECIPE_COVER_SIZE])
{
    crypto_generichash_blake2b_state copy = cover->state;
    (void)crypto_generichash_blake2b_final(&copy, digest, RECIPE_COVER_SIZE);
}

bool recipe_cover_fits(const struct recipe_cover *cover, const struct keyring *keyring, size_t size,
                       const uint8_t *seal)
{
    uint8_t sealed[RECIPE_SEAL_SIZE + RECIPE_COVER_SIZE];
    if (cover->is_damaged || seal == NULL || size != RECIPE_SEAL_SIZE || !seal_is(size, seal))
        return false;
    memcpy(sealed, seal, RECIPE_SEAL_SIZE);
    digest_of(cover, sealed + RECIPE_SEAL_SIZE);
    return keyring_check(keyring, sizeof(id), id, sizeof(sealed), sealed) == INGOT_SUCCESS;
}

ingot_status_t recipe_cover_seal(const struct recipe_cover *cover, const struct keyring *keyring,
                                 uint8_t seal[RECIPE_SEAL_SIZE])
{
    uint8_t digest[RECIPE_COVER_SIZE];
    ingot_buffer_t sealed = INGOT_BUFFER_INIT;
    if (cover->is_damaged)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "a record is damaged");
    digest_of(cover, digest);
    const ingot_status_t status = keyring_seal(keyring, sizeof(id), id, sizeof(digest), digest, &sealed);
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(seal, sealed.bytes, RECIPE_SEAL_SIZE);
    if (sealed.release != NULL)
        sealed.release(&sealed);
    return INGOT_SUCCESS;
}

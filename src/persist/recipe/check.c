/*
 * check.c - decides whether a recipe is sealed as a policy requires, and makes seals; see check.h.
 */
#include "persist/recipe/check.h"

#include <ingot/backend.h>
#include <ingot/private/recipe.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/trust/seal.h"
#include "util/little_endian.h"

#define COVER_SIZE 64u /* size of the digest that a seal covers */

_Static_assert(RECIPE_SEAL_SIZE == SEAL_SIZE, "a seal's content is the header of a sealed blob");

/* A recipe's seal has these bytes in place of a blob's id. No program's id begins with them. */
static const uint8_t seal_id[] = {'i', 'n', 'g', 'o', 't', ' ', 'r', 'e', 'c', 'i', 'p', 'e'};

enum sealed {
    SEALED_NOT,     /* no seal */
    SEALED_FITS,    /* a seal of a known key covers all records */
    SEALED_REFUSED, /* there are seals, but each is of an unknown key or covers different records */
    SEALED_BEFORE   /* records follow the last seal */
};

void recipe_check_init(struct recipe_check *check, const struct keyring *keyring)
{
    *check = (struct recipe_check){.keyring = keyring};
    (void)crypto_generichash_blake2b_init(&check->covered, NULL, 0, COVER_SIZE);
}

/* The limit is needed because records that the reader ignores are also read for the seal, and a small file can have
 * many large ones. */
ingot_status_t recipe_check_room(struct recipe_check *check, uint64_t size, const char *path)
{
    check->covered_bytes += size; /* at most 2^26 for each of 2^20 records, so no overflow */
    return check->covered_bytes <= RECIPE_MAX_COVERED
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NO_SPACE,
                                        "the records of %s have more than 1 GiB uncompressed without texts, so no seal "
                                        "can cover them: ingot recipe prune drops repeated and unknown ones",
                                        path);
}

/* Drops all seals so far, because they do not cover the new record. */
static void note_record(struct recipe_check *check)
{
    check->has_seal = false;
    check->seal_count = 0;
}

void recipe_check_record(struct recipe_check *check, uint32_t kind, const uint8_t *key, uint64_t size,
                         const uint8_t *content)
{
    uint8_t number[sizeof(uint64_t)];
    note_record(check);
    le_put_u32(number, kind);
    (void)crypto_generichash_blake2b_update(&check->covered, number, sizeof(uint32_t));
    (void)crypto_generichash_blake2b_update(&check->covered, key, INGOT_RECIPE_KEY_SIZE);
    le_put_u64(number, size);
    (void)crypto_generichash_blake2b_update(&check->covered, number, sizeof(number));
    if (content != NULL)
        (void)crypto_generichash_blake2b_update(&check->covered, content, size);
}

void recipe_check_damaged(struct recipe_check *check)
{
    note_record(check);
    check->is_damaged = true;
}

void recipe_check_seal(struct recipe_check *check, const uint8_t *seal)
{
    check->had_seal = true;
    check->has_seal = true;
    if (seal != NULL && check->seal_count < RECIPE_MAX_SEALS)
        memcpy(check->seals[check->seal_count++], seal, RECIPE_SEAL_SIZE);
}

bool recipe_check_has(const struct recipe_check *check, const uint8_t *seal)
{
    for (size_t i = 0; i < check->seal_count; ++i)
        if (memcmp(check->seals[i], seal, RECIPE_SEAL_SIZE) == 0)
            return true;
    return false;
}

/* Computes the digest of the records so far. Uses a copy of the state, so that more records can be added. */
static void digest_of(const struct recipe_check *check, uint8_t digest[COVER_SIZE])
{
    crypto_generichash_blake2b_state copy = check->covered;
    (void)crypto_generichash_blake2b_final(&copy, digest, COVER_SIZE);
}

/* True if this is the content of a seal that one of the keys made over the records so far. */
static bool is_fitting_seal(const struct recipe_check *check, const uint8_t *seal)
{
    uint8_t sealed[RECIPE_SEAL_SIZE + COVER_SIZE];
    if (check->is_damaged || !seal_is(RECIPE_SEAL_SIZE, seal))
        return false;
    memcpy(sealed, seal, RECIPE_SEAL_SIZE);
    digest_of(check, sealed + RECIPE_SEAL_SIZE);
    return keyring_check(check->keyring, sizeof(seal_id), seal_id, sizeof(sealed), sealed) == INGOT_SUCCESS;
}

/* Examines the kept seals. If one of them fits, the others do no harm. */
static enum sealed examine_kept_seals(const struct recipe_check *check)
{
    for (size_t i = 0; i < check->seal_count; ++i)
        if (is_fitting_seal(check, check->seals[i]))
            return SEALED_FITS;
    if (check->has_seal)
        return SEALED_REFUSED;
    return check->had_seal ? SEALED_BEFORE : SEALED_NOT;
}

ingot_status_t recipe_check_end(const struct recipe_check *check, const char *path)
{
    const char *why = "it has no seal";
    const enum sealed sealed = examine_kept_seals(check);
    if (sealed == SEALED_FITS || (sealed == SEALED_NOT && !keyring_requires(check->keyring)))
        return INGOT_SUCCESS;
    if (check->is_damaged)
        why = "a record is damaged";
    else if (sealed == SEALED_REFUSED)
        why = "no known key made its seal, or its records were changed";
    else if (sealed == SEALED_BEFORE)
        why = "records were added after it was sealed";
    return ingot_set_error_detail(INGOT_UNTRUSTED, "the recipe %s is refused: %s (ingot sign seals recipes)", path,
                                  why);
}

ingot_status_t recipe_check_make_seal(const struct recipe_check *check, uint8_t seal[RECIPE_SEAL_SIZE])
{
    uint8_t digest[COVER_SIZE];
    ingot_buffer_t sealed = INGOT_BUFFER_INIT;
    if (check->is_damaged)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "a record is damaged");
    digest_of(check, digest);
    const ingot_status_t status =
        keyring_seal(check->keyring, sizeof(seal_id), seal_id, sizeof(digest), digest, &sealed);
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(seal, sealed.bytes, RECIPE_SEAL_SIZE);
    memory_release_buffer(&sealed);
    return INGOT_SUCCESS;
}

/*
 * check.c - decides whether a recipe is sealed as a policy requires; see check.h.
 */
#include "persist/recipe/seal/check.h"

#include <ingot/backend.h>
#include <string.h>

enum sealed {
    SEALED_NOT,     /* no seal */
    SEALED_FITS,    /* a seal of a known key covers all records */
    SEALED_REFUSED, /* there are seals, but each is of an unknown key or covers different records */
    SEALED_BEFORE   /* records follow the last seal */
};

void recipe_check_init(struct recipe_check *check, const struct keyring *keyring)
{
    *check = (struct recipe_check){.keyring = keyring};
    recipe_cover_init(&check->cover);
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
    note_record(check);
    recipe_cover_add(&check->cover, kind, key, size, content);
}

void recipe_check_damaged(struct recipe_check *check)
{
    note_record(check);
    check->cover.is_damaged = true;
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

/* Examines the kept seals. If one of them fits, the others do no harm. */
static enum sealed examine(const struct recipe_check *check)
{
    for (size_t i = 0; i < check->seal_count; ++i)
        if (recipe_cover_fits(&check->cover, check->keyring, RECIPE_SEAL_SIZE, check->seals[i]))
            return SEALED_FITS;
    if (check->has_seal)
        return SEALED_REFUSED;
    return check->had_seal ? SEALED_BEFORE : SEALED_NOT;
}

ingot_status_t recipe_check_end(const struct recipe_check *check, const char *path)
{
    const char *why = "it has no seal";
    const enum sealed sealed = examine(check);
    if (sealed == SEALED_FITS || (sealed == SEALED_NOT && !keyring_requires(check->keyring)))
        return INGOT_SUCCESS;
    if (check->cover.is_damaged)
        why = "a record is damaged";
    else if (sealed == SEALED_REFUSED)
        why = "no known key made its seal, or its records were changed";
    else if (sealed == SEALED_BEFORE)
        why = "records were added after it was sealed";
    return ingot_set_error_detail(INGOT_UNTRUSTED, "the recipe %s is refused: %s (ingot sign seals recipes)", path,
                                  why);
}

/*
 * check.c - decides whether a recipe is sealed as a policy requires; see check.h.
 */
#include "persist/recipe/seal/check.h"

#include <ingot/backend.h>

void recipe_check_init(struct recipe_check *check, const struct keyring *keyring)
{
    check->keyring = keyring;
    check->sealed = RECIPE_SEALED_NOT;
    recipe_cover_init(&check->cover);
}

static void note_record(struct recipe_check *check)
{
    if (check->sealed != RECIPE_SEALED_NOT)
        check->sealed = RECIPE_SEALED_BEFORE;
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

/* A seal of an unknown key beside one that fits does no harm. */
void recipe_check_seal(struct recipe_check *check, size_t size, const uint8_t *seal)
{
    if (check->sealed != RECIPE_SEALED_FITS)
        check->sealed =
            recipe_cover_fits(&check->cover, check->keyring, size, seal) ? RECIPE_SEALED_FITS : RECIPE_SEALED_REFUSED;
}

ingot_status_t recipe_check_end(const struct recipe_check *check, const char *path)
{
    const char *why = "it has no seal";
    if (check->sealed == RECIPE_SEALED_FITS ||
        (check->sealed == RECIPE_SEALED_NOT && !keyring_requires(check->keyring)))
        return INGOT_SUCCESS;
    if (check->cover.is_damaged)
        why = "a record is damaged";
    else if (check->sealed == RECIPE_SEALED_REFUSED)
        why = "no known key made its seal, or its records were changed";
    else if (check->sealed == RECIPE_SEALED_BEFORE)
        why = "records were added after it was sealed";
    return ingot_set_error_detail(INGOT_UNTRUSTED, "the recipe %s is refused: %s (ingot sign seals recipes)", path,
                                  why);
}

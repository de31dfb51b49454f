/*
 * check.h - decides whether a recipe that is being read is sealed as a policy requires.
 */
#ifndef INGOT_PERSIST_RECIPE_SEAL_CHECK_H
#define INGOT_PERSIST_RECIPE_SEAL_CHECK_H

#include "persist/recipe/seal/cover.h"

enum recipe_sealed {
    RECIPE_SEALED_NOT,     /* no seal so far */
    RECIPE_SEALED_FITS,    /* a seal of a known key covers all records so far */
    RECIPE_SEALED_REFUSED, /* only seals of unknown keys, or of other records */
    RECIPE_SEALED_BEFORE   /* records follow the last seal */
};

/* Of one file. Not synchronized. */
struct recipe_check {
    struct recipe_cover cover;
    const struct keyring *keyring;
    enum recipe_sealed sealed;
};

void recipe_check_init(struct recipe_check *check, const struct keyring *keyring);
/* Takes a record that is no seal. content: NULL for a text. */
void recipe_check_record(struct recipe_check *check, uint32_t kind, const uint8_t *key, uint64_t size,
                         const uint8_t *content);
/* Takes a record that is no seal and whose content is damaged. */
void recipe_check_damaged(struct recipe_check *check);
/* seal: NULL if it is damaged. */
void recipe_check_seal(struct recipe_check *check, size_t size, const uint8_t *seal);
/* Decides at the end of the file. INGOT_UNTRUSTED, with a detail. */
ingot_status_t recipe_check_end(const struct recipe_check *check, const char *path);

#endif

/*
 * check.h - decides whether a recipe that is being read is sealed as a policy requires.
 */
#ifndef INGOT_PERSIST_RECIPE_SEAL_CHECK_H
#define INGOT_PERSIST_RECIPE_SEAL_CHECK_H

#include "persist/recipe/seal/cover.h"

#define RECIPE_MAX_SEALS 64u                   /* that are examined */
#define RECIPE_MAX_COVERED ((uint64_t)1 << 30) /* bytes that a seal covers, uncompressed and without texts */

/* The records of one file so far. Seals before the last other record have no effect, so the seals behind it are kept,
 * and examined at the end. Not synchronized. */
struct recipe_check {
    struct recipe_cover cover;
    const struct keyring *keyring;
    uint64_t covered_bytes;
    bool had_seal;     /* the file has a seal, */
    bool has_seal;     /* and one behind the last other record */
    size_t seal_count; /* of those, intact and kept */
    uint8_t seals[RECIPE_MAX_SEALS][RECIPE_SEAL_SIZE];
};

void recipe_check_init(struct recipe_check *check, const struct keyring *keyring);
/* Call this before a record is read whose content the seal covers. INGOT_NO_SPACE: that is more than the limit. */
ingot_status_t recipe_check_room(struct recipe_check *check, uint64_t size, const char *path);
/* Takes a record that is not a seal. content: NULL for a text. */
void recipe_check_record(struct recipe_check *check, uint32_t kind, const uint8_t *key, uint64_t size,
                         const uint8_t *content);
/* Takes a record that is not a seal and whose content is damaged. */
void recipe_check_damaged(struct recipe_check *check);
/* seal: NULL if it is damaged. */
void recipe_check_seal(struct recipe_check *check, const uint8_t *seal);
/* True if this seal is one of those that are examined. */
bool recipe_check_has(const struct recipe_check *check, const uint8_t *seal);
/* Decides at the end of the file. INGOT_UNTRUSTED, with a detail. */
ingot_status_t recipe_check_end(const struct recipe_check *check, const char *path);

#endif

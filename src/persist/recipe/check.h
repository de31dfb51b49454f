/*
 * check.h - decides whether a recipe that is being read is sealed as a policy requires, and makes seals.
 *
 * A seal covers the digest of all records before it, except other seals; see doc/recipe-format.md. The reader adds to
 * the digest the same bytes that it then uses. For a text, it adds the key by which it later verifies the text. The
 * reader therefore uses only what was sealed.
 */
#ifndef INGOT_PERSIST_RECIPE_CHECK_H
#define INGOT_PERSIST_RECIPE_CHECK_H

#include <sodium.h>

#include "persist/trust/keyring.h"

#define RECIPE_SEAL_SIZE 128u /* size of a seal's content, which has the form of a sealed blob's header */
#define RECIPE_MAX_SEALS 64u  /* further seals are not examined */
#define RECIPE_MAX_COVERED ((uint64_t)1 << 30) /* limit for what a seal covers, uncompressed, without texts */

/* The check of one file. A seal has no effect if records other than seals follow it. Only the seals after the last such
 * record are therefore kept, and examined at the end of the file. Not synchronized. */
struct recipe_check {
    crypto_generichash_blake2b_state covered; /* the digest of the records so far */
    bool is_damaged;                          /* a record is damaged, so no seal fits any more */
    const struct keyring *keyring;
    uint64_t covered_bytes;
    bool had_seal;     /* true: the file has a seal */
    bool has_seal;     /* true: a seal follows the last record that is not a seal */
    size_t seal_count; /* number of intact seals that are kept */
    uint8_t seals[RECIPE_MAX_SEALS][RECIPE_SEAL_SIZE];
};

void recipe_check_init(struct recipe_check *check, const struct keyring *keyring);
/* Must be called before a record's content is read. Returns INGOT_NO_SPACE if the contents exceed what a seal can
 * cover. */
ingot_status_t recipe_check_room(struct recipe_check *check, uint64_t size, const char *path);
/* Notes a record that is not a seal. `content` is NULL for a text. */
void recipe_check_record(struct recipe_check *check, uint32_t kind, const uint8_t *key, uint64_t size,
                         const uint8_t *content);
/* Notes a record that is not a seal and whose content is damaged. */
void recipe_check_damaged(struct recipe_check *check);
/* Notes a seal. `seal` is NULL if the seal's content is damaged. */
void recipe_check_seal(struct recipe_check *check, const uint8_t *seal);
/* True if this seal is one of those that will be examined. */
bool recipe_check_has(const struct recipe_check *check, const uint8_t *seal);
/* Called at the end of the file. If the policy refuses the file, sets the error detail and returns INGOT_UNTRUSTED. */
ingot_status_t recipe_check_end(const struct recipe_check *check, const char *path);
/* Makes the content of a seal over the records so far. The keyring must be able to seal. Returns INGOT_BLOB_CORRUPT if
 * a record is damaged, or INGOT_OUT_OF_MEMORY. */
ingot_status_t recipe_check_make_seal(const struct recipe_check *check, uint8_t seal[RECIPE_SEAL_SIZE]);

#endif

/*
 * directory.h - tells whose a directory store is, stores a blob in it, and lets only one process at a time build a
 * program.
 */
#ifndef INGOT_PERSIST_DIRECTORY_DIRECTORY_H
#define INGOT_PERSIST_DIRECTORY_DIRECTORY_H

#include "persist/directory/state.h"

/* True for a directory store that serves only files of the effective user, and only if no other user can write them.
 * Loads check all that, except for the namespace's directory, which this checks. */
bool directory_is_own(ingot_storage_t storage);

/* Returns the absolute path of the root of a storage's directory store, valid as long as the storage; NULL: it is none.
 */
const char *directory_path(ingot_storage_t storage);

/* ---- publish.c ---- */

/* Stores a blob. If `replaces` is false, an entry that already has the id stays, and that counts as success. */
ingot_status_t publish_entry(const struct root *root, bool replaces, size_t id_size, const uint8_t *id,
                             size_t blob_size, const uint8_t *blob);

#endif

/*
 * directory.h - tells whose a directory store is, stores a blob in it, lets only one process at a time build a program,
 * and limits how many builds run at the same time on a machine, by locks on bytes of the file `lock`, and keeps wishes.
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

/* ---- build_lock.c ---- */

/* Releases the locks by which the store tells other processes that waiting for a program is useless. */
void build_lock_fini(struct directory *directory);

/* ---- wishes.c ---- */

/* leave_wish of ingot_storage_ops_t, after wishes_look. */
ingot_status_t wishes_leave(void *self, size_t id_size, const uint8_t *id);

#endif

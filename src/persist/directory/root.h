/*
 * root.h - opens the root, the directory that contains a store, for one operation.
 */
#ifndef INGOT_PERSIST_DIRECTORY_ROOT_H
#define INGOT_PERSIST_DIRECTORY_ROOT_H

#include "persist/directory/state.h"

/* Opens the root at info's path, or creates it, and checks it. Remembers its path and its owner. Returns
 * INGOT_UNTRUSTED, INGOT_READ_ONLY or another status on failure. In any case, call root_close and root_fini. */
ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info, struct root *root);
void root_fini(struct directory *directory);

/* Opens whatever directory has the path now, and checks it. If it is missing, creates it if `makes` is set and the
 * store is not read-only. Otherwise returns INGOT_NOT_FOUND, or the statuses of root_init. The caller closes the root,
 * even on failure. */
ingot_status_t root_open(struct directory *directory, bool makes, struct root *root);
void root_close(struct root *root);

/* Opens the root of a storage's directory store for a public function. Returns INGOT_INVALID_ARGUMENTS if the storage
 * is NULL, INGOT_UNIMPLEMENTED if it is of another kind, INGOT_READ_ONLY if it must be writable and is not, or the
 * statuses of root_open. The caller closes the root, even on failure. */
ingot_status_t root_open_of(ingot_storage_t storage, bool must_be_writable, struct root *root);

#endif

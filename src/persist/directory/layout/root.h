/*
 * root.h - opens the root, the directory that contains a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ROOT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ROOT_H

#include "persist/directory/layout/state.h"

/* Opens the root at info's path, or creates it, and checks it. Returns INGOT_UNTRUSTED, INGOT_READ_ONLY or another
 * status on failure. */
ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info);
void root_fini(struct directory *directory);

/* If the root was deleted while the store is open, opens the directory that its path now names, or creates it, and
 * emits an event. If the application has closed the descriptor, opens the path, too. Returns true if the root was
 * opened again, so that a failed operation may be retried. */
bool root_renew(struct directory *directory);
/* Makes sure that the root's descriptor is still Ingot's. Must be called before writing below the root. */
ingot_status_t root_ready(struct directory *directory);

/* Gets the directory store of a storage for a public function. Returns INGOT_INVALID_ARGUMENTS if the storage is NULL,
 * and INGOT_UNIMPLEMENTED if it is of another kind. Makes sure that its root can be used (root_ready). */
ingot_status_t directory_get(ingot_storage_t storage, struct directory **directory);

#endif

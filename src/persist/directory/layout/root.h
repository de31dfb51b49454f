/*
 * root.h - the directory that a store is in.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ROOT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ROOT_H

#include "persist/directory/layout/state.h"

/* Opens the root of info, or creates it, and checks it: INGOT_UNTRUSTED, INGOT_READ_ONLY, ... */
ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info);
void root_fini(struct directory *directory);

/* If the root was deleted while the store is open, opens or creates the directory that its path now names, and emits
 * an event. True: the store is now in another directory, so an operation that failed may be retried. */
bool root_renew(struct directory *directory);

#endif

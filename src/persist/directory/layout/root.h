/*
 * root.h - the directory that a store is in.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ROOT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ROOT_H

#include "persist/directory/layout/state.h"

/* Opens the root of info, or makes it, and judges it: INGOT_UNTRUSTED, INGOT_READ_ONLY, ... */
ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info);
void root_fini(struct directory *directory);

/* If the root was deleted under the open store, opens or makes the directory that has its path now, and tells. True:
 * the store is in another directory than before, and what failed may be tried again. */
bool root_renew(struct directory *directory);

#endif

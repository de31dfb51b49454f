/*
 * storage.h - making a storage, and what it keeps for the rooms that work with it.
 */
#ifndef INGOT_PERSIST_STORAGE_STORAGE_H
#define INGOT_PERSIST_STORAGE_STORAGE_H

#include <ingot/persist.h>

#include "persist/storage/common/counters.h"
#include "persist/storage/common/kinds.h"

/* Does what ingot_storage_create does, with the allocator that self is from. Of info, which may be NULL and is checked,
 * it takes what is not the directory's alone: read-only, the callback, the backends, when to store and for how long. */
ingot_status_t storage_create(ingot_storage_t *storage, enum storage_kind kind, const ingot_storage_ops_t *ops,
                              void *self, const ingot_allocator_t *allocator, const ingot_persist_info_t *info);

/* Returns the self of a storage, or NULL if the storage is NULL or of another kind. */
void *storage_self(ingot_storage_t storage, enum storage_kind kind);
const ingot_allocator_t *storage_allocator(ingot_storage_t storage);

/* Fills in all counters: those of `own`, or the storage's if that is NULL. */
void storage_fill_stats(ingot_storage_t storage, const struct counters *own, ingot_persist_stats_t *stats);

/* Returns a part, or NULL if it was not added yet. */
void *storage_get_part(ingot_storage_t storage, enum storage_part which);
/* Adds a part, which destroy ends after the storage's last release, before the storage itself. Returns the part that
 * the storage has from now on: if another thread was faster, that thread's; the caller destroys its own then. */
void *storage_add_part(ingot_storage_t storage, enum storage_part which, void *part, storage_destroy_part_t destroy);

#endif

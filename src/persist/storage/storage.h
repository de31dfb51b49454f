/*
 * storage.h - creates a storage, and keeps the parts that other rooms attach to it.
 */
#ifndef INGOT_PERSIST_STORAGE_STORAGE_H
#define INGOT_PERSIST_STORAGE_STORAGE_H

#include <ingot/persist.h>
#include <stdbool.h>

#include "persist/storage/common/build_locks.h"
#include "persist/storage/common/counters.h"
#include "persist/storage/common/kinds.h"

/* Does what ingot_storage_create does, with the allocator from which self was allocated. From info, which may be
 * NULL and is checked, it uses only the fields that do not concern a directory: read-only, the callback, the
 * backends, when to store and for how long, the policy and the keys. */
ingot_status_t storage_create(ingot_storage_t *storage, enum storage_kind kind, const ingot_storage_ops_t *ops,
                              void *self, const ingot_allocator_t *allocator, const ingot_persist_info_t *info);

/* Sets the operation that loads blobs that the core checks before any other use, so the operation need not hash them.
 * May be called only right after the storage's creation. */
void storage_set_load_for_core(ingot_storage_t storage, storage_load_t load);
/* Does what ingot_storage_load does, with the operation of storage_set_load_for_core if it was set. */
ingot_status_t storage_load_for_core(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

/*
 * What a storage keeps is a blob, or an envelope with one (persist/trust/seal.h). The functions that applications call
 * take and return blobs. The tiers of a chain and the target of a switch are asked for what they keep, so that a blob
 * keeps its seal on its way to another tier, and that each storage on the way can check it.
 */

/* Loads what the storage keeps, and checks it at once by the policies of this storage and of all storages around it.
 * A later refusal would come too late, because a chain stores what it loads in its first tiers. with_core: uses the
 * operation for blobs that the core checks. around: NULL for none. */
ingot_status_t storage_load_kept(ingot_storage_t storage, bool with_core, const struct storage_around *around,
                                 size_t id_size, const uint8_t *id, ingot_buffer_t *kept);
/* Stores what another storage keeps, if this one's policy accepts it. Never seals it, because no key of this storage
 * can vouch for another storage's blob. */
ingot_status_t storage_store_kept(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                  const uint8_t *kept);
/* Sets the operations of a forwarding storage, which load and store what another storage keeps. May be called only
 * right after the storage's creation. Its table needs no load. */
void storage_set_forward(ingot_storage_t storage, storage_forward_load_t load, storage_forward_load_many_t load_many,
                         storage_store_t store);

/* True if the storage, or one that it forwards to, loads several blobs faster than one after another. */
bool storage_loads_many(ingot_storage_t storage);
/* Does what storage_load_kept does, for several ids; on_loaded as for ingot_storage_load_many. */
void storage_load_many_kept(ingot_storage_t storage, bool with_core, const struct storage_around *around, size_t count,
                            const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded, void *user);
/* Does what ingot_storage_load_many does, in the way of storage_load_for_core. The ids are not checked. */
void storage_load_many_for_core(ingot_storage_t storage, size_t count, const ingot_storage_id_t *ids,
                                ingot_storage_on_loaded_t on_loaded, void *user);

/* Checks what a load of a storage that keeps blobs itself returned, by its policy and those around it, and counts the
 * load. Returns the load's final status. */
ingot_status_t storage_judge_loaded(ingot_storage_t storage, const struct storage_around *around, size_t id_size,
                                    const uint8_t *id, ingot_status_t status, ingot_buffer_t *kept);
/* Counts a load by its final status, which it returns. */
ingot_status_t storage_count_load(ingot_storage_t storage, ingot_status_t status);

/* Sets the operation of a store that keeps counts for later processes (savings.h). May be called only right after
 * the storage's creation. */
void storage_set_save_counts(ingot_storage_t storage, storage_save_counts_t save);

/* Sets the locks of a directory store, so that processes build a program once. May be called only right after the
 * storage's creation. */
void storage_set_build_locks(ingot_storage_t storage, const struct build_locks *locks);

/* Returns the self of a storage, or NULL if the storage is NULL or of another kind. */
void *storage_self(ingot_storage_t storage, enum storage_kind kind);
const ingot_allocator_t *storage_allocator(ingot_storage_t storage);

/* Returns the tier that a chain stores to, or the storage itself. */
ingot_storage_t storage_stored_to(ingot_storage_t storage);

/* Fills in all counters: those of `own`, or the storage's if own is NULL. */
void storage_fill_stats(ingot_storage_t storage, const struct counters *own, ingot_persist_stats_t *stats);

/* Returns a part, or NULL if it has not been added yet. */
void *storage_get_part(ingot_storage_t storage, enum storage_part which);
/* Adds a part. After the last release of the storage, destroy destroys the part before the storage. Returns the part
 * that the storage has from then on. If another thread was faster, this is the other thread's part, and the caller must
 * destroy its own. */
void *storage_add_part(ingot_storage_t storage, enum storage_part which, void *part, storage_destroy_part_t destroy);

#endif

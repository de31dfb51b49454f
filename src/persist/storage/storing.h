/*
 * storing.h - determines when a storage stores, and how long this may delay the end of the process.
 */
#ifndef INGOT_PERSIST_STORAGE_STORING_H
#define INGOT_PERSIST_STORAGE_STORING_H

#include <ingot/persist.h>
#include <stdbool.h>

#include "persist/storage/common/kinds.h"

ingot_persist_store_mode_t storage_store_mode(ingot_storage_t storage);
/* Returns how long a storage may delay the end of the process; 0: not at all. */
uint64_t storage_exit_time_ns(ingot_storage_t storage);

/* True if the value is a store mode. */
bool storing_is_mode(ingot_persist_store_mode_t mode);
/* True if the storage can keep a stored blob: it is not read-only, or it is a chain with a tier that is not. */
bool storage_keeps_blobs(ingot_storage_t storage);
/* True if it is also on. */
bool storage_takes_blobs(ingot_storage_t storage);
/* True if the storage can also keep blobs that this process makes: no policy of the storage and of those in `around`
 * (NULL: none) requires seals, or a key can seal them. */
bool storage_is_writable(ingot_storage_t storage, const struct storage_around *around);

#endif

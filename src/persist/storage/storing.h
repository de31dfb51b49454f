/*
 * storing.h - determines when a storage stores, and for how long.
 */
#ifndef INGOT_PERSIST_STORAGE_STORING_H
#define INGOT_PERSIST_STORAGE_STORING_H

#include <ingot/persist.h>
#include <stdbool.h>

ingot_persist_store_mode_t storage_store_mode(ingot_storage_t storage);
/* Returns how long a storage may delay the end of the process; 0: not at all. */
uint64_t storage_exit_time_ns(ingot_storage_t storage);
/* Returns the time without a new program after which a storage is quiet; UINT64_MAX: never. */
uint64_t storage_quiet_time_ns(ingot_storage_t storage);
/* Copies the settings that currently apply to another storage. */
void storage_inherit_storing(ingot_storage_t storage, ingot_storage_t from);

/* True if the value is a store mode. */
bool storing_is_mode(ingot_persist_store_mode_t mode);
/* True if a stored blob may be kept: by a directory that was not opened read-only, by a tier of a chain, ... */
bool storage_keeps_blobs(ingot_storage_t storage);
/* True if even a blob that this process made may be kept: it need not be sealed, or a key can seal it. */
bool storage_is_writable(ingot_storage_t storage);

#endif

/*
 * savings.h - counts the programs that storages delivered without a compiler, and the time that this saved.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_SAVINGS_H
#define INGOT_PERSIST_STORAGE_COMMON_SAVINGS_H

#include <ingot/storage.h>
#include <stdbool.h>

/* If is_hit is set, counts a program that was loaded through a storage, and the time that this saved. Otherwise, counts
 * a program that was compiled. */
void savings_note(ingot_storage_t storage, bool is_hit, uint64_t saved_ns);
/* Adds the counts since the last save to the file of the directory store to which the storage stores. If that fails,
 * the next save tries again. */
void savings_save(ingot_storage_t storage);
/* Returns the writable directory store to which a storage stores, or NULL. It lives as long as the storage. */
ingot_storage_t savings_find_store(ingot_storage_t storage);

#endif

/*
 * serving.h - determines whether a storage is on.
 */
#ifndef INGOT_PERSIST_STORAGE_SERVING_H
#define INGOT_PERSIST_STORAGE_SERVING_H

#include <ingot/persist.h>
#include <stdbool.h>

/* False in a child that was forked from the process that opened the storage. There, another thread of the parent may
 * have held any lock, or been in the middle of any change. So every function that uses a storage's state begins with
 * one of these three. */
bool storage_is_here(ingot_storage_t storage);
/* Returns INGOT_INVALID_ARGUMENTS if the storage is NULL, and INGOT_READ_ONLY in a forked child. */
ingot_status_t storage_check(ingot_storage_t storage);
/* True if the storage is on. If it is off, nothing is loaded from it or stored to it. In a forked child, it is off. */
bool storage_is_on(ingot_storage_t storage);
/* Sets the error detail that says why a storage is off, and returns the status. The first refusal in a forked child is
 * also reported, so the caller holds no lock. */
ingot_status_t storage_refuse(ingot_storage_t storage, ingot_status_t status);
/* True once for a storage of its parent in a forked child, in which somebody should report that the storage is off. */
bool storage_is_first_refusal(ingot_storage_t storage);
/* True if the value is a store mode. */
bool storage_is_store_mode(ingot_persist_store_mode_t mode);

#endif

/*
 * store_flush.h - makes a storage store its pending items now: at a flush, and at the end of the process.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_FLUSH_H
#define INGOT_PERSIST_STORAGE_STORE_FLUSH_H

#include <ingot/persist.h>
#include <stdbool.h>

/* Stores all pending items, and waits for those that are being stored, within info's limits. Returns INGOT_BUSY if some
 * items are still pending afterwards. Otherwise returns the first failure since the last flush, or INGOT_SUCCESS.
 * progress may be NULL. */
ingot_status_t store_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                           ingot_persist_flush_progress_t *progress);

/* For last_work.c, at the end of the process: has the storage's thread store items until this time. May
 * be called again. Returns true if an item is being stored or can probably
 * be stored in that time. Does not wait for the queue's lock, and returns true if it is not available. */
bool store_flush_hurry(ingot_storage_t storage, uint64_t until_ns);

#endif

/*
 * deferred.h - stores programs: one at once, or those that wait until the application flushes or releases the storage.
 * Programs that were stored at once may wait, too, to be stored once more with the code of their launches.
 *
 * Nothing is stored by another thread than the caller's, and nothing in exit().
 */
#ifndef INGOT_PERSIST_STORAGE_DEFERRED_H
#define INGOT_PERSIST_STORAGE_DEFERRED_H

#include <ingot/persist.h>

/* Gets a program's blob from the driver and stores it if it has more than *size bytes. Reports a store and each failure
 * to the context. Sets *size to the bytes that were stored. desc: if the storage is a builder's, a program is
 * created from the blob first; NULL: it is not. */
ingot_status_t deferred_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                  const_ingot_program_desc_t desc, ingot_program_t program, size_t id_size,
                                  const uint8_t *id, size_t *size);

/* Adds a program to the list, with a reference. Does nothing if the list has the id. stored_size: the size of its blob
 * in the storage; 0: the storage has none. If the list is full, such a program takes the place of one that is stored
 * already; if there is none, it is not stored, and an event says so. */
void deferred_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program, size_t id_size,
                  const uint8_t *id, size_t stored_size);
/* Stores the listed programs, or only this one, in the calling thread, and begins none after until_ns. Adds to the
 * progress. Returns INGOT_BUSY if programs remain, or if another thread, or a caller of this thread, is storing one.
 * Otherwise returns the first failure, or INGOT_SUCCESS. */
ingot_status_t deferred_store(ingot_storage_t storage, const struct ingot_program *program, uint64_t until_ns,
                              ingot_persist_flush_progress_t *progress);
/* Waits until no other thread is storing a program from the list. Callbacks of a flush must not call this. */
void deferred_await(ingot_storage_t storage);
/* Returns how many programs are in the list or being stored from it. */
uint64_t deferred_count(ingot_storage_t storage);

#endif

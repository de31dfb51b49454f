/*
 * storage.h - a storage: a table of operations, a count of references, and the queue of programs that wait for it.
 */
#ifndef INGOT_PERSIST_STORAGE_H
#define INGOT_PERSIST_STORAGE_H

#include <ingot/persist.h>
#include <stdatomic.h>

#include "persist/store_queue.h"

struct ingot_storage {
    ingot_storage_ops_t ops;
    void *self;
    ingot_allocator_t allocator;
    ingot_persist_store_mode_t store_mode;
    atomic_size_t references; /* release pairs with acquire of the last one */
    struct store_queue queue;
};

/* As ingot_storage_create, for a storage that has wishes of its own. */
ingot_status_t storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self,
                              const ingot_allocator_t *allocator, ingot_persist_store_mode_t store_mode);

/* Takes a program's blob and stores it; in program.c, for the queue. */
ingot_status_t storage_take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                      ingot_program_t program, size_t id_size, const uint8_t *id);

#endif

/*
 * storage.h - a storage: a table of operations, a count of references, and the programs that wait for it.
 */
#ifndef INGOT_PERSIST_STORAGE_H
#define INGOT_PERSIST_STORAGE_H

#include <ingot/persist.h>
#include <pthread.h>
#include <stdatomic.h>

#define STORAGE_MAX_PENDING 256u

/* A program whose blob is to be taken later. */
struct pending_program {
    struct pending_program *next;
    ingot_program_t program; /* holds its context, too */
    const struct ingot_context *context;
    size_t id_size;
    uint8_t id[];
};

struct ingot_storage {
    ingot_storage_ops_t ops;
    void *self;
    ingot_allocator_t allocator;
    ingot_persist_store_mode_t store_mode;
    atomic_size_t references; /* release pairs with acquire of the last one */
    pthread_mutex_t mutex;
    struct pending_program *first_pending; /* under mutex, oldest first */
    struct pending_program *last_pending;  /* under mutex */
    size_t pending_count;                  /* under mutex */
};

/* As ingot_storage_create, for a storage that has wishes of its own. */
ingot_status_t storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self,
                              const ingot_allocator_t *allocator, ingot_persist_store_mode_t store_mode);

/* Takes and stores what waits; in program.c, which put it there. The first failure. */
ingot_status_t storage_flush(ingot_storage_t storage);

#endif

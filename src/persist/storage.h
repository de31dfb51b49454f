/*
 * storage.h - a storage: a table of operations, a count of references, the queue of programs that wait for it, what is
 * recorded of it, and what is loaded ahead from it.
 */
#ifndef INGOT_PERSIST_STORAGE_H
#define INGOT_PERSIST_STORAGE_H

#include <ingot/persist.h>
#include <stdatomic.h>

#include "persist/prewarm.h"
#include "persist/recorder.h"
#include "persist/store_queue.h"

struct ingot_storage {
    ingot_storage_ops_t ops;
    void *self;
    ingot_allocator_t allocator;
    ingot_persist_store_mode_t store_mode;
    atomic_size_t references; /* release pairs with acquire of the last one */
    _Atomic uint64_t rejected; /* blobs that the core or the driver refused; relaxed, a count */
    struct store_queue queue;
    struct recorder recorder;
    struct prewarm_list prewarms;
};

/* As ingot_storage_create, for a storage that has wishes of its own. */
ingot_status_t storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self,
                              const ingot_allocator_t *allocator, ingot_persist_store_mode_t store_mode);

/* Takes a program's blob and stores it; in program.c, for the queue. */
ingot_status_t storage_take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                      ingot_program_t program, size_t id_size, const uint8_t *id);

/* Asks for a blob and tells the context; in program.c as the next one, for who loads ahead, too. */
ingot_status_t storage_load_blob(ingot_storage_t storage, const struct ingot_context *context, size_t id_size,
                                 const uint8_t *id, ingot_buffer_t *blob);
/* A blob is of no use: counts it and removes it, and tells the context where it stays. */
void storage_reject(ingot_storage_t storage, const struct ingot_context *context, size_t id_size, const uint8_t *id);
/* As ingot_persist_program_create, but for a program that is not in memory, which is compiled and replaces what the
 * storage has. Arguments are checked. */
ingot_status_t storage_replace_program(ingot_storage_t storage, ingot_program_t *program,
                                       const_ingot_program_desc_t desc, ingot_origin_t *origin);

/* Makes the program of a blob; one that is refused is rejected. */
ingot_status_t storage_make_program(ingot_storage_t storage, ingot_program_t *program, const_ingot_program_desc_t desc,
                                    size_t id_size, const uint8_t *id, const ingot_buffer_t *blob);
bool storage_is_refusal(ingot_status_t status);

#endif

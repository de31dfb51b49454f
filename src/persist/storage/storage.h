/*
 * storage.h - a storage: a table of operations, a count of references, the queue of programs that wait for it, what is
 * recorded of it, and what is loaded ahead from it.
 */
#ifndef INGOT_PERSIST_STORAGE_STORAGE_H
#define INGOT_PERSIST_STORAGE_STORAGE_H

#include <ingot/persist.h>
#include <stdatomic.h>

#include "persist/directory/directory.h"
#include "persist/prewarm/prewarm.h"
#include "persist/prewarm/recorder.h"
#include "persist/storage/store_queue.h"

#define STORAGE_BACKENDS_CAPACITY 128u
#define STORAGE_OFF_BY_CALL 1u
#define STORAGE_OFF_BY_SWITCH 2u

/* What became of one program that was to be stored. */
struct storage_outcome {
    ingot_status_t status;
    uint64_t take_ns; /* of the driver */
    size_t bytes;     /* of the blob; 0: it was not had */
};

struct ingot_storage {
    ingot_storage_ops_t ops;
    void *self;
    ingot_allocator_t allocator;
    _Atomic(ingot_persist_store_mode_t) store_mode; /* relaxed, as the next two: they order nothing */
    _Atomic uint32_t exit_time_ms;                  /* as in ingot_persist_storing_t */
    _Atomic uint32_t quiet_time_ms;
    atomic_size_t references;                           /* release pairs with acquire of the last one */
    _Atomic(ingot_persist_store_mode_t) inherited_mode; /* of a switch: what counts where nothing was said to it */
    _Atomic uint32_t inherited_exit_ms;
    _Atomic uint32_t inherited_quiet_ms;
    _Atomic unsigned off;     /* of STORAGE_OFF_...; relaxed, a request more or less does no harm */
    atomic_bool has_backends; /* release pairs with acquire: whether it is worth taking the lock */
    struct process_lock backends_lock;
    char backends[STORAGE_BACKENDS_CAPACITY]; /* under backends_lock */
    struct directory_counters counters;       /* of loads and stores, where it is not a directory, which has its own */
    bool is_chain;
    ingot_storage_t model;     /* a chain's tier that is stored to, for what was not said to the chain; NULL: none */
    _Atomic uint64_t rejected; /* blobs that the core or the driver refused; relaxed, a count */
    struct store_queue queue;
    struct recorder recorder;
    struct prewarm_list prewarms;
};

/* As ingot_storage_create, for a storage that has wishes of its own. */
ingot_status_t storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self,
                              const ingot_allocator_t *allocator, ingot_persist_store_mode_t store_mode);

/* For how long it may hold up the end of the process (0: not at all), and after how long without a new program it is
 * quiet (UINT64_MAX: never). */
ingot_persist_store_mode_t storage_store_mode(ingot_storage_t storage);
uint64_t storage_exit_time_ns(ingot_storage_t storage);
uint64_t storage_quiet_time_ns(ingot_storage_t storage);

/* True if the value is a store mode. */
bool storing_is_mode(ingot_persist_store_mode_t mode);

/* True if what is stored may be kept: by a directory that was not opened read-only, by a tier of a chain, ... */
bool storage_is_writable(ingot_storage_t storage);

/* Off: nothing is loaded from it or stored to it. */
bool storage_is_on(ingot_storage_t storage);
void storage_set_off(ingot_storage_t storage, unsigned reason, bool is_off);
/* True if requests of this context go to it. */
bool storage_serves(ingot_storage_t storage, const struct ingot_context *context);
/* True if it is names with an optional minus each, and short enough; and whether a backend is among those meant. */
bool serving_is_list(const char *list);
bool serving_includes(const char *list, const char *backend);
/* Takes over what counts in another one now. */
void storage_inherit_storing(ingot_storage_t storage, ingot_storage_t from);

/* Adds a reference, unless the last one is gone. */
bool storage_retain_if_alive(ingot_storage_t storage);
/* To the context's callback and the storage's own. */
void storage_tell_degraded(ingot_storage_t storage, const struct ingot_context *context, ingot_status_t status,
                           const char *reason);

/* Takes a program's blob and stores it; in program.c, for the queue. */
struct storage_outcome storage_take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                              ingot_program_t program, size_t id_size, const uint8_t *id);

/* Stores a blob in the first tiers of a chain, as far as they can be written; in chain.c. Events tell of what failed.
 * Returns true if a tier took it. */
bool chain_promote(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id,
                   const ingot_buffer_t *blob);
/* Tells the first of a chain's directories, since a blob that is promoted belongs to no context. */
void chain_tell_degraded(ingot_storage_t chain, ingot_status_t status, const char *reason);

/* Asks for a blob and tells the context; in program.c as the next one, for prewarming, too. */
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

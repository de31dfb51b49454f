/*
 * kinds.h - the kinds of storages, the parts that other rooms attach to a storage, and when it stores.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_KINDS_H
#define INGOT_PERSIST_STORAGE_COMMON_KINDS_H

#include <ingot/storage.h>
#include <stdbool.h>

/* The kind of a storage, for files that must know it. */
enum storage_kind { STORAGE_OTHER, STORAGE_DIRECTORY, STORAGE_BUNDLE, STORAGE_CHAIN, STORAGE_SWITCH };

/* The parts that higher rooms attach to a storage. */
enum storage_part { STORAGE_RECORDER, STORAGE_PREWARMS, STORAGE_HEADERS, STORAGE_RECIPE, STORAGE_PART_COUNT };

typedef void (*storage_destroy_part_t)(void *part);
typedef ingot_status_t (*storage_load_t)(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
typedef ingot_status_t (*storage_store_t)(void *self, size_t id_size, const uint8_t *id, size_t blob_size,
                                          const uint8_t *blob);

/* The storages around another one, innermost first. Each forwards its loads to the previous one. */
struct storage_around;
/* Loads what another storage keeps, with storage_load_kept. around begins with the storage itself. */
typedef ingot_status_t (*storage_forward_load_t)(void *self, bool with_core, const struct storage_around *around,
                                                 size_t id_size, const uint8_t *id, ingot_buffer_t *kept);
/* Does the same for several ids, with storage_load_many_kept. */
typedef void (*storage_forward_load_many_t)(void *self, bool with_core, const struct storage_around *around,
                                            size_t count, const ingot_storage_id_t *ids,
                                            ingot_storage_on_loaded_t on_loaded, void *user);

struct savings_counts;
/* Adds counts to those that a store keeps. Returns false if that was not possible. */
typedef bool (*storage_save_counts_t)(void *self, const struct savings_counts *more);

/* When an item should be stored. */
enum store_queue_when {
    STORE_QUEUE_SOON = 0,       /* stored by the storage's thread */
    STORE_QUEUE_WHEN_QUIET = 1, /* also stored by that thread, once no program has been requested for a while */
    STORE_QUEUE_AT_FLUSH = 2,
    STORE_QUEUE_LISTS = 3
};

#endif

/*
 * storage_ahead.h - has the functions by which a storage's loads get the blobs that prewarms read ahead.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_STORAGE_AHEAD_H
#define INGOT_PERSIST_STORAGE_COMMON_STORAGE_AHEAD_H

#include <ingot/storage.h>
#include <stdbool.h>

/* The beginning of the storage's part STORAGE_AHEAD. */
struct storage_ahead {
    /* Takes the blob of an id. Returns false if it was not read ahead. */
    bool (*take)(struct storage_ahead *ahead, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
    /* Drops the blob of an id, because the storage has another one or none now. */
    void (*drop)(struct storage_ahead *ahead, size_t id_size, const uint8_t *id);
};

#endif

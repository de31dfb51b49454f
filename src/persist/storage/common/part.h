/*
 * part.h - how other folders attach parts to a storage; see storage_make_part.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_PART_H
#define INGOT_PERSIST_STORAGE_COMMON_PART_H

#include <ingot/storage.h>
#include <pthread.h>

/* What all parts of one kind have in common. */
struct storage_part_kind {
    size_t size; /* of the part's structure, which begins with a struct storage_part_base */
    /* Completes a new part, whose base is set, and whose other bytes are zeros. On failure, must undo what it did.
     * NULL: nothing to do. */
    ingot_status_t (*begin)(void *part, ingot_storage_t storage);
    /* Releases what the part holds, except for its base and its memory. The last release of the storage calls this,
     * before it destroys the storage itself. */
    void (*end)(void *part);
};

/* The beginning of each part. */
struct storage_part_base {
    const struct storage_part_kind *kind;
    ingot_allocator_t allocator;
    pthread_mutex_t lock;
};

#endif

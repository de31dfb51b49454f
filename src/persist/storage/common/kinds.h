/*
 * kinds.h - the kinds of storages, what other rooms keep with one, and when it stores.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_KINDS_H
#define INGOT_PERSIST_STORAGE_COMMON_KINDS_H

/* The implementation of a storage, where another file has to know it. */
enum storage_kind { STORAGE_OTHER, STORAGE_DIRECTORY, STORAGE_BUNDLE, STORAGE_CHAIN, STORAGE_SWITCH };

/* What rooms above keep with a storage. */
enum storage_part { STORAGE_RECORDER, STORAGE_PREWARMS, STORAGE_PART_COUNT };

typedef void (*storage_destroy_part_t)(void *part);

/* When an item is to be worked. */
enum store_queue_when {
    STORE_QUEUE_SOON = 0,       /* by the storage's thread */
    STORE_QUEUE_WHEN_QUIET = 1, /* by it, too, once no program was asked for in a while */
    STORE_QUEUE_AT_FLUSH = 2,
    STORE_QUEUE_LISTS = 3
};

#endif

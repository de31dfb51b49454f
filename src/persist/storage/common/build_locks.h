/*
 * build_locks.h - what a store offers so that processes build a program once: a lock for each id.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_BUILD_LOCKS_H
#define INGOT_PERSIST_STORAGE_COMMON_BUILD_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of an attempt to take a lock. */
enum build_lock_state {
    BUILD_LOCK_TAKEN,
    BUILD_LOCK_BUSY,     /* another process builds the program */
    BUILD_LOCK_POINTLESS /* waiting is of no use, or the lock cannot be used */
};

/* One use of the lock of one id. */
struct build_lock;

struct build_locks {
    /* Returns NULL if the store does not lock: the application does not want it, or the system cannot. self is the
     * store's, which must outlive the lock. */
    struct build_lock *(*open)(void *self, size_t id_size, const uint8_t *id);
    /* The name of the id's place in the store, for events. Valid as long as the lock. */
    const char *(*name)(const struct build_lock *lock);
    /* Never waits. */
    enum build_lock_state (*try_take)(struct build_lock *lock);
    /* True if the store may have got a blob for the id since the last call that returned true; the first time, if it
     * may have one. It may overlook a change, because it goes by times of the file system. */
    bool (*has_changed)(struct build_lock *lock);
    /* Gives the lock back. If is_pointless, the processes that wait for it are told to build at once. */
    void (*close)(struct build_lock *lock, bool is_pointless);
    /* Returns how long to wait for another process. */
    uint64_t (*max_wait_ns)(void *self);
};

#endif

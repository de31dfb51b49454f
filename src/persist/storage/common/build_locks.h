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
    BUILD_LOCK_POINTLESS /* waiting is useless, or the lock cannot be used */
};

/* One use of the lock of one id. */
struct build_lock;

struct build_locks {
    /* Returns NULL if the store has no locks, because the application turned them off or the system lacks them. self
     * is the store's, and the store must outlive the lock. */
    struct build_lock *(*open)(void *self, size_t id_size, const uint8_t *id);
    /* Returns the name of the id's place in the store, for events. It is valid as long as the lock. */
    const char *(*name)(const struct build_lock *lock);
    /* Never waits. */
    enum build_lock_state (*try_take)(struct build_lock *lock);
    /* True if the store may have received a blob for the id since the last call that returned true. The first call
     * returns true if the store may have one. It may miss a change, because it relies on file times. */
    bool (*has_changed)(struct build_lock *lock);
    /* Releases the lock. If is_pointless is set, tells the processes that wait for it to build at once. */
    void (*close)(struct build_lock *lock, bool is_pointless);
    /* Returns how long to wait for another process. */
    uint64_t (*max_wait_ns)(void *self);
};

#endif

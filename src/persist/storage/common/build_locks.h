/*
 * build_locks.h - declares the interface of a store's locks, one per id, which let only one of several processes build
 * a program.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_BUILD_LOCKS_H
#define INGOT_PERSIST_STORAGE_COMMON_BUILD_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of an attempt to take a lock. */
enum build_lock_state {
    BUILD_LOCK_TAKEN,
    BUILD_LOCK_BUSY,      /* another process builds the program */
    BUILD_LOCK_HELD_HERE, /* another thread of this process builds the program */
    BUILD_LOCK_POINTLESS, /* another process has found that waiting is useless, so the caller should build, too */
    BUILD_LOCK_UNUSABLE   /* the caller should build without the lock */
};

/* A handle to the lock of one id, or to a build's place among those that run at the same time or its wait for one. */
struct build_lock;

struct build_locks {
    /* Opens the lock of an id. Returns NULL if the store has no locks, because the application turned them off or the
     * system does not support them. `self` is the store's `self`. The store must outlive the lock. */
    struct build_lock *(*open)(void *self, size_t id_size, const uint8_t *id);
    /* Returns the name that events use for the id's place in the store. It is valid until close. */
    const char *(*name)(const struct build_lock *lock);
    /* Tries to take the lock, without waiting for it. */
    enum build_lock_state (*try_take)(struct build_lock *lock);
    /* True if the store may have received a blob for the id since the last call that returned true. The first call
     * returns true if the store may have a blob. A change may be missed, because this relies on file times. A look in
     * the store after this call finds what other machines stored before it. */
    bool (*has_changed)(struct build_lock *lock);
    /* Releases the lock. If is_pointless is set, processes that wait for the lock stop waiting, and build the program
     * themselves. */
    void (*close)(struct build_lock *lock, bool is_pointless);
    /* Returns the limit of each wait that the application has set; 0: none. */
    uint64_t (*wait_ns)(void *self);
    /* Asks for one of the places for builds (build_jobs of ingot_persist_info_t). Returns NULL if the store does not
     * limit builds, or if its locks are unusable. The store must outlive the place. */
    struct build_lock *(*ask_place)(void *self);
    /* True if this build has its place, which it takes in the order in which builds asked. Does not wait. */
    bool (*has_place)(struct build_lock *place);
    /* Gives the place back, or stops asking. */
    void (*leave_place)(struct build_lock *place);
};

#endif

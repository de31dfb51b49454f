/*
 * kinds.h - the kinds of storages, and what a directory store can do besides the public operations.
 */
#ifndef INGOT_PERSIST_STORAGE_KINDS_H
#define INGOT_PERSIST_STORAGE_KINDS_H

#include <errno.h>
#include <ingot/persist.h>
#include <stdbool.h>

/* The error code of INGOT_NO_SPACE if the limits that the user chose exclude a blob. For a flush, that is no failure.
 */
#define STORAGE_EXCLUDED_CODE ERANGE

#define STORAGE_NAME_SPACE_CAPACITY 65u

/* The kind of a storage. STORAGE_OTHER includes the storages that applications implement. */
enum storage_kind { STORAGE_OTHER, STORAGE_DIRECTORY, STORAGE_BUNDLE };

/* What a storage counts, for ingot_persist_get_stats. */
enum counter {
    COUNTER_HITS,
    COUNTER_MISSES,
    COUNTER_STORES,
    COUNTER_REFUSED,
    COUNTER_EVICTIONS,
    COUNTER_FAILURES,
    COUNTER_READ_ONLY, /* this and the next seven: failures by status */
    COUNTER_NO_SPACE,
    COUNTER_LOCK_TIMEOUTS,
    COUNTER_UNTRUSTED,
    COUNTER_CORRUPT,
    COUNTER_OTHER_VERSIONS,
    COUNTER_IO_ERRORS,
    COUNTER_OUT_OF_MEMORY,
    COUNTER_DISTRUSTED, /* blobs whose seal was refused */
    COUNTER_REJECTED,   /* blobs that the core or the driver refused */
    COUNTER_AWAITED,    /* programs that another process built while this one waited */
    COUNTER_WAIT_TIMEOUTS,
    COUNTER_NOT_KEPT, /* this and the next three, COUNTER_REFUSED and COUNTER_EVICTIONS: of a directory store */
    COUNTER_EXPIRED,
    COUNTER_UNSTAMPED,
    COUNTER_LEFTOVERS,
    COUNTER_COUNT
};

/* ---- locks of a store, one per id, which let only one of several processes build a program ---- */

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

/* The functions below are those of a directory store, which defines them; `self` is the storage's. Those of locks and
 * places are for a writable store, except build_lock_look, and so are those of wishes. */

/* Opens the lock of an id. Returns NULL if the store has no locks, because the application turned them off or the
 * system does not support them. The store must outlive the lock. */
struct build_lock *build_lock_open(void *self, size_t id_size, const uint8_t *id);
/* Returns the name that events use for the id's place in the store. It is valid until build_lock_close. */
const char *build_lock_name(const struct build_lock *lock);
/* Tries to take the lock, without waiting for it. */
enum build_lock_state build_lock_try_take(struct build_lock *lock);
/* Returns what build_lock_try_take would, but takes nothing: BUILD_LOCK_TAKEN if the lock is free. */
enum build_lock_state build_lock_look(void *self, size_t id_size, const uint8_t *id);
/* True if the store may have received a blob for the id since the last call that returned true. The first call returns
 * true if the store may have a blob. A change may be missed, because this relies on file times. A look in the store
 * after this call finds what other machines stored before it. */
bool build_lock_has_changed(struct build_lock *lock);
/* Releases the lock. If is_pointless is set, processes that wait for the lock stop waiting, and build the program
 * themselves. */
void build_lock_close(struct build_lock *lock, bool is_pointless);
/* Returns the limit of each wait that the application has set; 0: none. */
uint64_t build_lock_wait_ns(const void *self);

/* Asks for one of the places for builds (build_jobs of ingot_persist_info_t). Returns NULL if the store does not limit
 * builds, or if its locks are unusable. The store must outlive the place. */
struct build_lock *build_place_ask(void *self);
/* True if this build has a place, or shares one of another build of its process. Does not wait. */
bool build_place_try(struct build_lock *place);
/* Gives the place back, or stops asking. */
void build_place_leave(struct build_lock *place);

/* Does what `store` of ingot_storage_ops_t does. If `replaces` is false, a blob that is already stored under the id
 * stays. */
ingot_status_t directory_store(void *self, bool replaces, size_t id_size, const uint8_t *id, size_t blob_size,
                               const uint8_t *blob);
/* Finds an entry of an id in another namespace of the store, and copies that namespace, "" for none. Returns false if
 * there is no such entry. */
bool directory_find_elsewhere(void *self, size_t id_size, const uint8_t *id,
                              char name_space[STORAGE_NAME_SPACE_CAPACITY]);
/* Get and set the limits, which are part of the settings. */
void directory_get_limits(const void *self, ingot_persist_settings_t *settings);
void directory_set_limits(void *self, const ingot_persist_settings_t *settings);
const char *directory_name_space(const void *self); /* "" for none */

/* True for a directory store that serves only files of the effective user, and only if no other user can write them.
 * Loads check all that, except for the namespace's directory, which this checks. */
bool directory_is_own(ingot_storage_t storage);
/* Returns the absolute path of the root of a storage's directory store, valid as long as the storage; NULL: it is none.
 */
const char *directory_path(ingot_storage_t storage);

/* Looks whether a wish is needed. INGOT_BUSY: no, there is one, or somebody compiles the program; INGOT_BUILD_FAILED:
 * no, somebody has just failed; INGOT_SUCCESS: yes. */
ingot_status_t wishes_look(void *self, size_t id_size, const uint8_t *id);

#endif

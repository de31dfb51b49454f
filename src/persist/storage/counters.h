/*
 * counters.h - counts loads and stores, and their failures by reason, for ingot_persist_get_stats; see storage.c.
 *
 * All accesses are relaxed, because no other data depends on the counters.
 */
#ifndef INGOT_PERSIST_STORAGE_COUNTERS_H
#define INGOT_PERSIST_STORAGE_COUNTERS_H

#include <ingot/storage.h>
#include <stdatomic.h>

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
    COUNTER_NOT_KEPT, /* this and the next four, COUNTER_REFUSED and COUNTER_EVICTIONS: of a directory store */
    COUNTER_EXPIRED,
    COUNTER_UNSTAMPED,
    COUNTER_LEFTOVERS,
    COUNTER_COUNT
};

struct counters {
    _Atomic uint64_t values[COUNTER_COUNT];
};

void counters_add(struct counters *counters, enum counter counter, uint64_t more);
uint64_t counters_get(const struct counters *counters, enum counter counter);
/* Counts a failed load or store, other than a miss, and its reason. */
void counters_add_failure(struct counters *counters, ingot_status_t status);

#endif

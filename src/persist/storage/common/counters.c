/*
 * counters.c - counts loads and stores, and their failures by reason.
 */
#include "persist/storage/common/counters.h"

void counters_add(struct counters *counters, enum counter counter, uint64_t more)
{
    atomic_fetch_add_explicit(&counters->values[counter], more, memory_order_relaxed);
}

uint64_t counters_get(const struct counters *counters, enum counter counter)
{
    return atomic_load_explicit(&counters->values[counter], memory_order_relaxed);
}

static enum counter reason_of(ingot_status_t status)
{
    switch ((int)status) {
    case INGOT_READ_ONLY: return COUNTER_READ_ONLY;
    case INGOT_NO_SPACE: return COUNTER_NO_SPACE;
    case INGOT_BUSY: return COUNTER_LOCK_TIMEOUTS;
    case INGOT_UNTRUSTED: return COUNTER_UNTRUSTED;
    case INGOT_BLOB_TRUNCATED:
    case INGOT_BLOB_CORRUPT: return COUNTER_CORRUPT;
    case INGOT_BLOB_VERSION: return COUNTER_OTHER_VERSIONS;
    case INGOT_OUT_OF_MEMORY: return COUNTER_OUT_OF_MEMORY;
    default: return COUNTER_IO_ERRORS;
    }
}

void counters_add_failure(struct counters *counters, ingot_status_t status)
{
    counters_add(counters, COUNTER_FAILURES, 1);
    counters_add(counters, reason_of(status), 1);
}

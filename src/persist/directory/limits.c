/*
 * limits.c - sets and returns the limits of an open directory store, which may change while threads use it.
 *
 * The limits need no lock: they are independent of each other, and each is read again wherever it is needed.
 */
#include "persist/directory/limits.h"

#include "persist/directory/upkeep/evict.h"
#include "util/limit.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)

void limits_set(struct directory *directory, uint64_t max_bytes, uint64_t max_entries, uint64_t max_age_ms)
{
    directory->max_bytes = limit_of(max_bytes, DEFAULT_MAX_BYTES);
    directory->max_entries = limit_of(max_entries, UINT64_MAX);
    directory->max_age_ns = evict_age_ns(max_age_ms, UINT64_MAX);
}

void limits_get(void *self, ingot_persist_settings_t *settings)
{
    const struct directory *directory = self;
    const uint64_t age_ns = directory->max_age_ns;
    settings->max_bytes = limit_given(directory->max_bytes);
    settings->max_entries = limit_given(directory->max_entries);
    settings->max_age_ms = age_ns != UINT64_MAX ? limit_given(age_ns / NS_PER_MS) : INGOT_UNLIMITED;
}

void limits_change(void *self, const ingot_persist_settings_t *settings)
{
    limits_set(self, settings->max_bytes, settings->max_entries, settings->max_age_ms);
}

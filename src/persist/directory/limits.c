/*
 * limits.c - sets and returns the limits of an open directory store, which may change while threads use it.
 *
 * The limits need no lock: they are independent of each other, and each is read again wherever it is needed.
 */
#include "persist/directory/limits.h"
#include "persist/directory/layout/root.h"

#include <ingot/backend.h>

#include "persist/directory/upkeep/evict.h"
#include "util/limit.h"
#include "util/struct_size.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)

void limits_set(struct directory *directory, uint64_t max_bytes, uint64_t max_entries, uint64_t max_age_ms)
{
    directory->max_bytes = limit_of(max_bytes, DEFAULT_MAX_BYTES);
    directory->max_entries = limit_of(max_entries, UINT64_MAX);
    directory->max_age_ns = evict_age_ns(max_age_ms, UINT64_MAX);
}

ingot_status_t ingot_persist_set_limits(ingot_storage_t storage, const ingot_persist_limits_t *limits)
{
    struct directory *directory;
    ingot_persist_limits_t known;
    if (!STRUCT_READ(known, limits))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "limits or its struct_size is missing");
    const ingot_status_t status = directory_get(storage, &directory);
    if (status != INGOT_SUCCESS)
        return status;
    limits_set(directory, known.max_bytes, known.max_entries, known.max_age_ms);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_get_limits(ingot_storage_t storage, ingot_persist_limits_t *limits)
{
    struct directory *directory;
    ingot_persist_limits_t known;
    if (!STRUCT_READ(known, limits)) /* so that the other fields of `limits` stay unchanged */
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "limits or its struct_size is missing");
    const ingot_status_t status = directory_get(storage, &directory);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t age_ns = directory->max_age_ns;
    known.max_bytes = limit_given(directory->max_bytes);
    known.max_entries = limit_given(directory->max_entries);
    known.max_age_ms = age_ns != UINT64_MAX ? limit_given(age_ns / NS_PER_MS) : INGOT_UNLIMITED;
    (void)STRUCT_WRITE(limits, known);
    return INGOT_SUCCESS;
}

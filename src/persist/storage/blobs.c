/*
 * blobs.c - loads programs from a storage, and removes blobs that cannot be used.
 */
#include "persist/storage/blobs.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/storage/events.h"
#include "persist/storage/state.h"
#include "persist/storage/storage.h"

#define REASON_CAPACITY 256u

bool storage_is_refusal(ingot_status_t status)
{
    return status >= INGOT_BLOB_TRUNCATED && status <= INGOT_BLOB_REJECTED;
}

ingot_status_t storage_load_blob(ingot_storage_t storage, const struct ingot_context *context, bool with_core,
                                 size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    const uint64_t started_ns = files_steady_clock_ns();
    const ingot_status_t status = storage_load(storage, with_core, id_size, id, blob);
    events_tell_context(context, INGOT_EVENT_STORAGE_LOAD, status, blob->size, started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    return status;
}

void storage_reject(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    const uint64_t started_ns = files_steady_clock_ns();
    counters_add(&storage->counters, COUNTER_REJECTED, 1);
    const ingot_status_t status = ingot_storage_remove(storage, id_size, id);
    if (status == INGOT_SUCCESS || status == INGOT_NOT_FOUND)
        return;
    char reason[REASON_CAPACITY];
    (void)snprintf(reason, sizeof(reason), "a refused blob stays in the storage: %s", ingot_last_error_detail());
    storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, reason);
}

static ingot_status_t load_from_blob(ingot_program_t *program, struct ingot_native_program *native,
                                     const_ingot_program_desc_t desc, const ingot_buffer_t *blob)
{
    return native != NULL ? ingot_program_load_native(native, desc, blob->size, blob->bytes)
                          : ingot_program_load(program, desc, blob->size, blob->bytes);
}

ingot_status_t storage_make_program(ingot_storage_t storage, ingot_program_t *program,
                                    struct ingot_native_program *native, const_ingot_program_desc_t desc,
                                    size_t id_size, const uint8_t *id, const ingot_buffer_t *blob)
{
    const struct ingot_context *context = ingot_program_desc_get_context(desc);
    ingot_buffer_t checked = INGOT_BUFFER_INIT;
    ingot_status_t status = load_from_blob(program, native, desc, blob);
    if ((status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT) &&
        (storage->own->load_for_core != NULL || storage->tier_count != 0)) {
        /* The storage did not check this blob. Loading it again, now with a check, removes a damaged blob, and makes a
         * chain ask its other tiers. */
        if (storage_load_blob(storage, context, false, id_size, id, &checked) != INGOT_SUCCESS)
            return status;
        if (checked.size != blob->size || memcmp(checked.bytes, blob->bytes, blob->size) != 0)
            status = load_from_blob(program, native, desc, &checked);
    }
    memory_release_buffer(&checked);
    if (storage_is_refusal(status))
        storage_reject(storage, id_size, id);
    return status;
}

/*
 * take_blob.c - gets a program's blob from the driver and stores it.
 */
#include "persist/storage/take_blob.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/state.h"

/* Copies the program's blob to new memory at *blob. Its size is *capacity bytes, of which the blob takes *size. The
 * caller must free the memory, even on failure. */
static ingot_status_t take(ingot_storage_t storage, ingot_program_t program, size_t *size, uint8_t **blob,
                           size_t *capacity)
{
    const ingot_status_t status = ingot_program_get_cache_blob(program, size, NULL);
    if (status != INGOT_SUCCESS)
        return status;
    *capacity = *size;
    *blob = memory_allocate(&storage->allocator, *capacity);
    if (*blob == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", *size);
    return ingot_program_get_cache_blob(program, size, *blob);
}

struct storage_outcome storage_take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                              ingot_program_t program, size_t id_size, const uint8_t *id)
{
    size_t size = 0;
    size_t capacity = 0;
    uint8_t *blob = NULL;
    const uint64_t started_ns = files_steady_clock_ns();
    if (!process_end_enter()) /* no event is emitted, because exit() is already running */
        return (struct storage_outcome){.status = ingot_set_error_detail(INGOT_BUSY, "the process is ending")};
    ingot_status_t status = take(storage, program, &size, &blob, &capacity);
    process_end_leave();
    const uint64_t store_started_ns = status == INGOT_SUCCESS ? files_steady_clock_ns() : started_ns;
    if (status == INGOT_SUCCESS)
        status = ingot_storage_store(storage, id_size, id, size, blob);
    events_tell_context(context, INGOT_EVENT_STORAGE_STORE, status, size, store_started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    memory_free(&storage->allocator, blob, capacity);
    return (struct storage_outcome){status, store_started_ns - started_ns, size};
}

/*
 * artifact_blob.c - loads artifacts from a storage, and stores them; see artifact_blob.h.
 *
 * An artifact that cannot be used is a miss, as for programs.
 */
#include "persist/storage/artifact_blob.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/common/events.h"
#include "persist/storage/program_blob.h"

/* Removes an envelope for the reason that the thread's error message says, and reports it. */
static void reject_artifact_envelope(ingot_storage_t storage, ingot_status_t status, size_t id_size, const uint8_t *id,
                                     size_t size, uint64_t started_ns)
{
    struct kept_error kept;
    kept_error_save(&kept);
    storage_tell(storage, INGOT_EVENT_STORAGE_LOAD, status, size, started_ns, kept.text);
    storage_reject(storage, id_size, id);
    kept_error_restore(&kept);
}

ingot_status_t artifact_blob_load(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *value,
                                  bool *was_refused)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_status_t status = ingot_storage_load(storage, id_size, id, &blob);
    if (status == INGOT_NOT_FOUND)
        return status;
    if (status == INGOT_SUCCESS) {
        const size_t size = blob.size;
        status = ingot_artifact_unpack(id_size, id, &blob, value);
        if (status != INGOT_SUCCESS && status != INGOT_OUT_OF_MEMORY)
            reject_artifact_envelope(storage, status, id_size, id, size, started_ns);
        memory_release_buffer(&blob);
    }
    *was_refused = *was_refused || status != INGOT_SUCCESS;
    return status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY ? status : INGOT_NOT_FOUND;
}

ingot_status_t artifact_blob_store(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                   const ingot_artifact_info_t *info, size_t size, const void *bytes,
                                   ingot_buffer_t *blob)
{
    ingot_status_t status = ingot_artifact_pack(id_size, id, info, size, bytes, blob);
    if (status == INGOT_SUCCESS && storage != NULL)
        status = ingot_storage_store(storage, id_size, id, blob->size, blob->bytes);
    return status;
}

/*
 * kernel.c - creates kernels through a storage.
 *
 * Some drivers check a program's binary closely only when a kernel is created from the program. If they then refuse the
 * binary, the program is removed from memory, its blob is removed from the storage, and a newly compiled program
 * replaces both. Existing references to the old program stay valid.
 */
#include <ingot/backend.h>
#include <ingot/persist.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/program/program.h"
#include "persist/recipe/recording.h"
#include "persist/storage/common/events.h"
#include "persist/storage/program_blob.h"

/* The largest number of replacements. More than one may be needed, because another thread may load the refused blob
 * again before it is removed. */
#define ATTEMPTS 3u

/* True if the driver refused the binary. A missing name or a lack of memory is not a refusal, and a program that was
 * just compiled cannot be replaced by a better one. */
static bool is_refused(ingot_status_t status, const_ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    if (status == INGOT_BACKEND_ERROR || storage_is_refusal(status))
        (void)ingot_program_get_facts(program, &facts);
    return facts.is_from_cache_blob != 0;
}

static void tell_refusal(const_ingot_program_desc_t desc, uint64_t started_ns)
{
    events_tell_context(ingot_program_desc_get_context(desc), INGOT_EVENT_LOAD, INGOT_BLOB_REJECTED, 0, started_ns,
                        ingot_last_error_detail());
}

ingot_status_t ingot_persist_kernel_create(ingot_kernel_t *kernel, const_ingot_program_desc_t desc,
                                           ingot_storage_t storage, uint32_t device_index, const char *name,
                                           ingot_origin_t *origin)
{
    ingot_program_t program = NULL;
    ingot_origin_t made_from = INGOT_ORIGIN_MEMORY;
    if (kernel == NULL || name == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel or name is NULL");
    ingot_status_t status = ingot_persist_program_create(&program, desc, storage, &made_from);
    for (unsigned i = 0; status == INGOT_SUCCESS; ++i) {
        const uint64_t started_ns = files_steady_clock_ns();
        status = ingot_kernel_create(kernel, program, device_index, name);
        if (i == ATTEMPTS || !is_refused(status, program))
            break;
        tell_refusal(desc, started_ns);
        (void)ingot_program_forget(program);
        ingot_program_release(program);
        program = NULL;
        status = program_replace(storage, &program, desc, &made_from);
    }
    ingot_program_release(program);
    if (status == INGOT_SUCCESS)
        recording_note_kernel(storage, desc, name);
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = made_from;
    return status;
}

/*
 * recording.c - records the programs that are requested from a storage; see recording.h.
 *
 * The storage's part has the writer. The lock is held while a thread takes a reference to the writer.
 */
#include "persist/recipe/recording.h"

#include <ingot/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/base/process_lock.h"
#include "persist/recipe/writer.h"
#include "persist/storage/common/events.h"
#include "persist/storage/storage.h"
#include "util/cancellation.h"

/* Its descriptors are made of the ids of objects, so the OpenCL layer records its links itself. */
#define LINK_BACKEND "opencl_link"

struct recording {
    ingot_allocator_t allocator;
    struct process_lock lock;
    ingot_recipe_writer_t writer; /* under lock; NULL: not recording */
    atomic_bool is_recording;     /* false saves taking the lock; relaxed, because writer is checked under the lock */
};

/* A forked child records, too: the writer itself notices the fork. */
static void keep(void *user)
{
    (void)user;
}

static ingot_recipe_writer_t take_writer(struct recording *recording)
{
    process_lock_take(&recording->lock, keep, NULL);
    ingot_recipe_writer_t writer = recording->writer;
    if (writer != NULL)
        (void)ingot_recipe_writer_retain(writer);
    process_lock_give(&recording->lock);
    return writer;
}

static void tell(ingot_recipe_writer_t writer, ingot_status_t status, uint64_t started_ns)
{
    static const char beginning[] = "a program is not recorded: ";
    char reason[512];
    const char *detail = ingot_last_error_detail();
    const size_t length = strnlen(detail, sizeof(reason) - sizeof(beginning));
    memcpy(reason, beginning, sizeof(beginning) - 1);
    memcpy(reason + sizeof(beginning) - 1, detail, length);
    reason[sizeof(beginning) - 1 + length] = '\0';
    if (!writer_tell(writer, status, "", reason))
        return;
    events_tell(NULL, NULL, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, "", reason);
}

void recording_note(ingot_storage_t storage, const_ingot_program_desc_t desc, const_ingot_program_t program)
{
    struct recording *recording = storage_get_part(storage, STORAGE_RECIPE);
    if (recording == NULL || !atomic_load_explicit(&recording->is_recording, memory_order_relaxed))
        return;
    if (strcmp(ingot_context_get_backend_name(ingot_program_desc_get_context(desc)), LINK_BACKEND) == 0)
        return;
    ingot_recipe_writer_t writer = take_writer(recording);
    if (writer == NULL)
        return;
    const int cancellation = cancellation_hold(); /* a canceled thread would keep the file's lock */
    const uint64_t started_ns = files_steady_clock_ns();
    const ingot_status_t status = ingot_recipe_writer_add(writer, desc, program, NULL);
    if (status != INGOT_SUCCESS)
        tell(writer, status, started_ns);
    ingot_recipe_writer_release(writer);
    cancellation_allow(cancellation);
}

static void end_recording(void *part)
{
    struct recording *recording = part;
    const ingot_allocator_t allocator = recording->allocator;
    ingot_recipe_writer_release(recording->writer);
    process_lock_fini(&recording->lock);
    memory_free(&allocator, recording, sizeof(*recording));
}

static ingot_status_t get_recording(ingot_storage_t storage, struct recording **recording)
{
    *recording = storage_get_part(storage, STORAGE_RECIPE);
    if (*recording != NULL)
        return INGOT_SUCCESS;
    struct recording *made = memory_allocate(storage_allocator(storage), sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a recording");
    *made = (struct recording){.allocator = *storage_allocator(storage)};
    const ingot_status_t status = process_lock_init(&made->lock);
    if (status != INGOT_SUCCESS) {
        memory_free(storage_allocator(storage), made, sizeof(*made));
        return status;
    }
    *recording = storage_add_part(storage, STORAGE_RECIPE, made, end_recording);
    if (*recording != made)
        end_recording(made);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_record_recipe(ingot_storage_t storage, ingot_recipe_writer_t writer)
{
    struct recording *recording = NULL;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    const ingot_status_t status = get_recording(storage, &recording);
    if (status != INGOT_SUCCESS)
        return status;
    if (writer != NULL)
        (void)ingot_recipe_writer_retain(writer);
    process_lock_take(&recording->lock, keep, NULL);
    ingot_recipe_writer_t before = recording->writer;
    recording->writer = writer;
    atomic_store_explicit(&recording->is_recording, writer != NULL, memory_order_relaxed);
    process_lock_give(&recording->lock);
    ingot_recipe_writer_release(before);
    return INGOT_SUCCESS;
}

void recording_begin(ingot_storage_t storage, const char *path, ingot_event_callback_t on_event, void *user)
{
    ingot_recipe_writer_info_t info = INGOT_RECIPE_WRITER_INFO_INIT;
    ingot_recipe_writer_t writer = NULL;
    const uint64_t started_ns = files_steady_clock_ns();
    info.path = path;
    info.on_event = on_event;
    info.on_event_user = user;
    ingot_status_t status = writer_open_later(&writer, &info);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_record_recipe(storage, writer);
    if (status != INGOT_SUCCESS)
        events_tell(on_event, user, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, path,
                    ingot_last_error_detail());
    ingot_recipe_writer_release(writer);
}

ingot_status_t ingot_persist_get_recipe_writer(ingot_storage_t storage, ingot_recipe_writer_t *writer)
{
    if (storage == NULL || writer == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or writer is NULL");
    struct recording *recording = storage_get_part(storage, STORAGE_RECIPE);
    ingot_recipe_writer_t taken = recording != NULL ? take_writer(recording) : NULL;
    if (taken == NULL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the storage does not record");
    *writer = taken;
    return INGOT_SUCCESS;
}

/*
 * recording.c - writes the programs that are requested from a storage to a recipe; see recording.h.
 *
 * The part that this file adds to a storage has two writers: the writer that the application set, and one for the
 * recipe that the store keeps. The lock is held only while a writer is set, or while a thread takes a reference to a
 * writer.
 */
#include "persist/recipe/recording.h"

#include <ingot/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/recipe/writer.h"
#include "persist/storage/events.h"
#include "persist/storage/kinds.h"
#include "persist/storage/serving.h"
#include "persist/storage/storage.h"

/* WHICH_WRITER: the application's writer. WHICH_KEPT: that of the store's own recipe. */
enum which { WHICH_WRITER, WHICH_KEPT, WHICH_COUNT };

struct recording {
    struct storage_part_base base;
    ingot_recipe_writer_t writers[WHICH_COUNT]; /* NULL: none; guarded by the lock */
    atomic_bool is_recording; /* if false, no need to lock; relaxed: the writers are checked under the lock */
};

static ingot_recipe_writer_t take_writer(struct recording *recording, enum which which)
{
    pthread_mutex_lock(&recording->base.lock);
    ingot_recipe_writer_t writer = recording->writers[which];
    writer_reference(writer);
    pthread_mutex_unlock(&recording->base.lock);
    return writer;
}

static void tell_not_recorded(ingot_recipe_writer_t writer, bool is_kernel, ingot_status_t status, uint64_t started_ns)
{
    char reason[512];
    (void)snprintf(reason, sizeof(reason), "a %s is not recorded: %s", is_kernel ? "kernel" : "program",
                   ingot_last_error_detail());
    writer_tell(writer, status, started_ns, reason);
}

/* Returns the storage's recording, or NULL if the storage does not record. */
static struct recording *active_part(ingot_storage_t storage)
{
    struct recording *recording = storage != NULL ? storage_get_part(storage, STORAGE_RECIPE) : NULL;
    return recording != NULL && atomic_load_explicit(&recording->is_recording, memory_order_relaxed) ? recording : NULL;
}

/* An item to record: a program, or a kernel of a recorded program. */
struct item {
    const_ingot_program_desc_t desc;
    const_ingot_program_t program;
    const char *kernel; /* NULL: not a kernel */
};

static ingot_status_t add_recipe_item(ingot_recipe_writer_t writer, const struct item *item)
{
    if (item->kernel != NULL) {
        const ingot_status_t status = ingot_recipe_writer_add_kernel(writer, item->desc, item->kernel);
        /* if the recipe does not have the program, an event has already reported that */
        return status != INGOT_NOT_FOUND ? status : INGOT_SUCCESS;
    }
    return ingot_recipe_writer_add(writer, item->desc, item->program, NULL);
}

/* Adds the item to one of the recipes of `recording`, which may be NULL. An event reports a failure. */
static void record_in(struct recording *recording, enum which which, const struct item *item)
{
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_recipe_writer_t writer = recording != NULL ? take_writer(recording, which) : NULL;
    const ingot_status_t status = writer != NULL ? add_recipe_item(writer, item) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        tell_not_recorded(writer, item->kernel != NULL, status, started_ns);
    ingot_recipe_writer_release(writer);
}

/* Adds the item to the application's recipe and to the recipe that the store keeps. A chain and the tier in which it
 * stores can both have a recording. In that case, the application's recipe belongs to the chain, and the kept recipe to
 * the tier. */
static void record_recipe_item(ingot_storage_t storage, const struct item *item)
{
    struct recording *own = active_part(storage);
    struct recording *stored_to = active_part(storage_stored_to(storage));
    if (own == NULL && stored_to == NULL)
        return;
    const struct ingot_context *before = events_enter(ingot_program_desc_get_context(item->desc));
    record_in(own != NULL ? own : stored_to, WHICH_WRITER, item);
    record_in(stored_to != NULL ? stored_to : own, WHICH_KEPT, item);
    events_leave(before);
}

ingot_status_t ingot_recipe_record_program(ingot_storage_t storage, const_ingot_program_desc_t desc,
                                           const_ingot_program_t program)
{
    if (storage == NULL || desc == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or desc is NULL");
    record_recipe_item(storage, &(struct item){.desc = desc, .program = program});
    return INGOT_SUCCESS;
}

ingot_status_t ingot_recipe_record_kernel(ingot_storage_t storage, const_ingot_program_desc_t desc, const char *name)
{
    if (storage == NULL || desc == NULL || name == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, desc or name is NULL");
    const size_t length = strnlen(name, RECIPE_MAX_KERNEL_NAME + 1);
    if (length != 0 && length <= RECIPE_MAX_KERNEL_NAME)
        record_recipe_item(storage, &(struct item){.desc = desc, .kernel = name});
    return INGOT_SUCCESS;
}

static void end_recording(void *part)
{
    struct recording *recording = part;
    for (int which = 0; which < WHICH_COUNT; ++which)
        ingot_recipe_writer_release(recording->writers[which]);
}

/* Sets the writer and adds a reference to it. NULL ends recording. */
static ingot_status_t set_writer(ingot_storage_t storage, enum which which, ingot_recipe_writer_t writer)
{
    static const struct storage_part_kind kind = {.size = sizeof(struct recording), .end = end_recording};
    void *part;
    const ingot_status_t status = storage_make_part(storage, STORAGE_RECIPE, &kind, &part);
    if (status != INGOT_SUCCESS)
        return status;
    struct recording *recording = part;
    writer_reference(writer);
    pthread_mutex_lock(&recording->base.lock);
    ingot_recipe_writer_t before = recording->writers[which];
    bool is_recording = false;
    recording->writers[which] = writer;
    for (int each = 0; each < WHICH_COUNT; ++each)
        is_recording = is_recording || recording->writers[each] != NULL;
    atomic_store_explicit(&recording->is_recording, is_recording, memory_order_relaxed);
    pthread_mutex_unlock(&recording->base.lock);
    ingot_recipe_writer_release(before);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_recipe_record(ingot_storage_t storage, const ingot_recipe_record_info_t *info)
{
    ingot_recipe_writer_t writer = NULL;
    ingot_status_t status = storage_check(storage);
    if (status == INGOT_SUCCESS && info != NULL)
        status = ingot_recipe_writer_open(&writer, info);
    if (status == INGOT_SUCCESS)
        status = set_writer(storage, WHICH_WRITER, writer);
    ingot_recipe_writer_release(writer);
    return status;
}

/* Opens a writer and sets it. If the file cannot be used, an event reports that. */
static void open_recording_writer(ingot_storage_t storage, enum which which, const ingot_recipe_record_info_t *info)
{
    ingot_recipe_writer_t writer = NULL;
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_status_t status = which == WHICH_KEPT ? writer_open_kept(&writer, info) : writer_open_later(&writer, info);
    if (status == INGOT_SUCCESS)
        status = set_writer(storage, which, writer);
    if (status != INGOT_SUCCESS)
        events_tell(info->on_event, info->on_event_user, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns,
                    info->path, ingot_last_error_detail());
    ingot_recipe_writer_release(writer);
}

void recording_begin(ingot_storage_t storage, const char *path, ingot_event_callback_t on_event, void *user)
{
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    info.path = path;
    info.on_event = on_event;
    info.on_event_user = user;
    open_recording_writer(storage, WHICH_WRITER, &info);
}

void recording_keep(ingot_storage_t storage, const char *path, uint64_t max_bytes, ingot_event_callback_t on_event,
                    void *user)
{
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    info.path = path;
    info.max_bytes = max_bytes;
    info.on_event = on_event;
    info.on_event_user = user;
    open_recording_writer(storage, WHICH_KEPT, &info);
}

/*
 * deferred.c - stores programs at once, or keeps those that wait for a flush; see storage.h.
 *
 * The list is for devices that generate code at launch. There, the driver takes longer to provide the blob of a large
 * program than it took to build it, so the application chooses the time. The lock is not held while a program is
 * stored. In a forked child, the storage is off, so nothing uses the list there.
 *
 * A program that is stored already is stored again only if its blob has grown: only launches add to it.
 */
#include "persist/storage/storage.h"

#include <ingot/private/persist.h>
#include <ingot/private/program.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/state.h"
#include "util/nanoseconds.h"

#define MAX_COUNT 256u

struct deferred_item {
    struct deferred_item *next;
    ingot_program_t program; /* a reference, which keeps its context alive */
    const struct ingot_context *context;
    size_t stored_size; /* of its blob in the storage; 0: it has none */
    size_t id_size;
    uint8_t id[];
};

/* ---- storing ---- */

ingot_status_t deferred_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                  const_ingot_program_desc_t desc, ingot_program_t program, size_t id_size,
                                  const uint8_t *id, size_t *stored_size)
{
    ingot_program_t checked = NULL;
    size_t size = 0;
    uint8_t *blob = NULL;
    uint64_t started_ns = files_steady_clock_ns();
    ingot_status_t status = ingot_program_get_cache_blob(program, &size, NULL);
    const size_t capacity = size;
    if (status == INGOT_SUCCESS) {
        blob = memory_allocate(&storage->allocator, capacity);
        status = blob != NULL ? ingot_program_get_cache_blob(program, &size, blob)
                              : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", size);
    }
    const bool is_stored = status == INGOT_SUCCESS && size <= *stored_size;
    *stored_size = 0;
    if (is_stored)
        goto done;
    if (status == INGOT_SUCCESS && desc != NULL && storage->is_of_builder)
        status = ingot_program_load(&checked, desc, size, blob);
    ingot_program_release(checked);
    if (status == INGOT_SUCCESS) {
        started_ns = files_steady_clock_ns();
        status = ingot_storage_store(storage, id_size, id, size, blob);
    }
    events_tell_context(context, INGOT_EVENT_STORAGE_STORE, status, size, started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    if (status == INGOT_SUCCESS)
        *stored_size = size;
done:
    memory_free(&storage->allocator, blob, capacity);
    return status;
}

void ingot_persist_set_builder(ingot_storage_t storage)
{
    storage->is_of_builder = true;
}

/* ---- the list ---- */

static void free_item(ingot_storage_t storage, struct deferred_item *item)
{
    ingot_program_release(item->program);
    memory_free(&storage->allocator, item, sizeof(*item) + item->id_size);
}

/* Frees an item that take_item has returned. */
static void end_item(ingot_storage_t storage, struct deferred_item *item)
{
    free_item(storage, item);
    pthread_mutex_lock(&storage->deferred.lock);
    --storage->deferred.active_count;
    pthread_mutex_unlock(&storage->deferred.lock);
}

void deferred_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program, size_t id_size,
                  const uint8_t *id, size_t stored_size)
{
    if (stored_size != 0 && storage->is_of_builder)
        return; /* nothing is launched that would add code */
    struct deferred *deferred = &storage->deferred;
    struct deferred_item *item = memory_allocate(&storage->allocator, sizeof(*item) + id_size);
    struct deferred_item *replaced = NULL;
    if (item != NULL) {
        ingot_program_retain(program);
        *item = (struct deferred_item){
            .program = program, .context = context, .stored_size = stored_size, .id_size = id_size};
        memcpy(item->id, id, id_size);
    }
    pthread_mutex_lock(&deferred->lock);
    struct deferred_item **at = &deferred->first;
    struct deferred_item **stored = NULL;
    while (*at != NULL && ((*at)->id_size != id_size || memcmp((*at)->id, id, id_size) != 0)) {
        if (stored == NULL && (*at)->stored_size != 0)
            stored = at;
        at = &(*at)->next;
    }
    const bool is_new = *at == NULL; /* false: the application builds the program again and again */
    if (is_new && item != NULL && deferred->count == MAX_COUNT && stored_size == 0 && stored != NULL) {
        replaced = *stored;
        *stored = replaced->next;
        at = at == &replaced->next ? stored : at;
        --deferred->count;
    }
    const bool is_added = is_new && item != NULL && deferred->count < MAX_COUNT;
    if (is_added) {
        *at = item;
        ++deferred->count;
    }
    pthread_mutex_unlock(&deferred->lock);
    if (replaced != NULL)
        free_item(storage, replaced);
    if (is_new && !is_added && stored_size == 0)
        events_tell_context(context, INGOT_EVENT_STORAGE_DEGRADED, item == NULL ? INGOT_OUT_OF_MEMORY : INGOT_NO_SPACE,
                            0, files_steady_clock_ns(),
                            item == NULL ? "a program is not stored: no memory to let it wait for a flush"
                                         : "a program is not stored: too many wait for a flush");
    if (item != NULL && !is_added)
        free_item(storage, item);
}

/* Removes and returns the oldest item, or that of a program, which then counts as active, or NULL. */
static struct deferred_item *take_item(struct deferred *deferred, const struct ingot_program *program)
{
    pthread_mutex_lock(&deferred->lock);
    struct deferred_item **at = &deferred->first;
    while (program != NULL && *at != NULL && (*at)->program != program)
        at = &(*at)->next;
    struct deferred_item *item = *at;
    if (item != NULL) {
        *at = item->next;
        --deferred->count;
        ++deferred->active_count;
    }
    pthread_mutex_unlock(&deferred->lock);
    return item;
}

ingot_status_t deferred_store(ingot_storage_t storage, const struct ingot_program *program, uint64_t until_ns,
                              ingot_persist_flush_progress_t *progress)
{
    struct deferred *deferred = &storage->deferred;
    struct deferred_item *item;
    struct kept_error kept;
    ingot_status_t failure = INGOT_SUCCESS;
    while (files_steady_clock_ns() < until_ns && (item = take_item(deferred, program)) != NULL) {
        const struct ingot_context *before = events_enter(item->context);
        size_t size = item->stored_size;
        const ingot_status_t status =
            deferred_store_now(storage, item->context, NULL, item->program, item->id_size, item->id, &size);
        progress->stored_count += size != 0;
        progress->stored_bytes += size;
        progress->failed_count += status != INGOT_SUCCESS && status != INGOT_NOT_CACHEABLE;
        /* the driver's refusal and the user's own limits are not failures */
        if (failure == INGOT_SUCCESS && status != INGOT_SUCCESS && status != INGOT_NOT_CACHEABLE &&
            !(status == INGOT_NO_SPACE && ingot_last_error_code() == STORAGE_EXCLUDED_CODE)) {
            failure = status;
            kept_error_save(&kept);
        }
        events_leave(before);
        end_item(storage, item);
    }
    progress->waiting_count = deferred_count(storage);
    if (progress->waiting_count != 0)
        return ingot_set_error_detail(INGOT_BUSY, "%llu programs still wait for a flush",
                                      (unsigned long long)progress->waiting_count);
    if (failure != INGOT_SUCCESS)
        kept_error_restore(&kept);
    return failure;
}

void deferred_forget(ingot_storage_t storage, const struct ingot_program *program)
{
    struct deferred_item *item = take_item(&storage->deferred, program);
    if (item != NULL)
        end_item(storage, item);
}

void deferred_await(ingot_storage_t storage)
{
    struct deferred *deferred = &storage->deferred;
    size_t active_count = 1;
    while (active_count != 0) {
        pthread_mutex_lock(&deferred->lock);
        active_count = deferred->active_count;
        pthread_mutex_unlock(&deferred->lock);
        if (active_count != 0)
            files_pause_ns(NS_PER_MS);
    }
}

uint64_t deferred_count(ingot_storage_t storage)
{
    struct deferred *deferred = &storage->deferred;
    pthread_mutex_lock(&deferred->lock);
    const uint64_t count = deferred->count + deferred->active_count;
    pthread_mutex_unlock(&deferred->lock);
    return count;
}

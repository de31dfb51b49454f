/*
 * prewarm.c - loads programs before they are requested, and hands them to callers that request them.
 *
 * The lock of a storage's list guards its prewarms, their items and their counts. It is held only for a few
 * assignments; loads take thousands of times longer. A caller that requests an item that is loading waits for that
 * item. If the item's turn has not come, the caller marks it as gone and loads the program itself. A prewarming thread
 * never waits for an item that is loading, even if an event callback in that thread requests such an item. It may wait
 * for another thread that loads the blobs of a group (prewarm_fetch.h). Each wait is reported to the core
 * (ingot_work_t), which refuses a wait that would close a cycle of waiting threads.
 *
 * A forked child has neither the threads nor the driver's state. It forgets the list, and a prewarm's handle is useless
 * there.
 */
#include "persist/prewarm/prewarm.h"

#include <ingot/backend.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/prewarm/prewarm_fetch.h"
#include "persist/prewarm/prewarm_list.h"
#include "persist/prewarm/prewarm_load.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/storage.h"
#include "util/cancellation.h"
#include "util/struct_size.h"

#define DEFAULT_THREADS 2u
#define MAX_THREADS 64u

/* ---- handing over ---- */

static bool is_own_thread(const struct ingot_prewarm *prewarm)
{
    for (size_t i = 0; i < prewarm->thread_count && !prewarm->is_joined; ++i) {
        if (pthread_equal(prewarm->threads[i].thread, pthread_self()))
            return true;
    }
    return false;
}

/* Waits until the thread that does `work` signals `condition`. The prewarm is not freed while a thread waits. Requires
 * the lock, but releases it while it waits. Returns false, without waiting, if the other thread waits for this one. */
static bool wait_for(struct ingot_prewarm *prewarm, const ingot_work_t *work, pthread_cond_t *condition)
{
    struct prewarm_list *list = prewarm->list;
    if (ingot_work_begin_wait(work) != INGOT_SUCCESS)
        return false;
    ++prewarm->waiting_count;
    process_lock_wait(&list->lock, condition);
    if (--prewarm->waiting_count == 0)
        pthread_cond_broadcast(&list->changed);
    ingot_work_end_wait();
    return true;
}

/* Takes the program of an item. If the item is still loading, waits for it. If its turn has not come, marks it as gone.
 * Returns true if the program was taken. Requires the lock, but releases it while it waits. */
static bool take_item(struct ingot_prewarm *prewarm, struct prewarm_item *item, ingot_program_t *program,
                      bool *has_waited)
{
    if (item->state == PREWARM_WAITING) {
        item->state = PREWARM_GONE;
        ++prewarm->progress.overtaken;
        ++prewarm->progress.done;
        return false;
    }
    while (item->state == PREWARM_LOADING && wait_for(prewarm, &item->work, &prewarm->list->loaded))
        *has_waited = true;
    if (item->state != PREWARM_READY)
        return false;
    *program = item->program;
    item->program = NULL;
    item->state = PREWARM_GONE;
    ++prewarm->progress.taken;
    return true;
}

static bool is_any_own_thread(const struct prewarm_list *list)
{
    for (const struct ingot_prewarm *prewarm = list->first; prewarm != NULL; prewarm = prewarm->next) {
        if (is_own_thread(prewarm))
            return true;
    }
    return false;
}

bool prewarm_take(ingot_storage_t storage, const struct ingot_context *context, size_t id_size, const uint8_t *id,
                  ingot_program_t *program)
{
    struct prewarm_list *list = prewarm_list_of(storage);
    bool has_waited = false; /* if true, the list may have changed, so the loop must end */
    bool is_taken = false;
    if (list == NULL || atomic_load_explicit(&list->count, memory_order_relaxed) == 0)
        return false;
    const uint64_t started_ns = files_steady_clock_ns();
    prewarm_list_lock(list);
    const bool may_wait = !is_any_own_thread(list);
    for (struct ingot_prewarm *prewarm = list->first; prewarm != NULL && !is_taken && !has_waited;
         prewarm = prewarm->next) {
        const size_t number =
            prewarm->context == context ? id_list_find(&prewarm->manifest.ids, id_size, id) : ID_LIST_NONE;
        if (number == ID_LIST_NONE)
            continue;
        struct prewarm_item *item = &prewarm->items[number];
        if (item->state != PREWARM_LOADING || may_wait)
            is_taken = take_item(prewarm, item, program, &has_waited);
    }
    prewarm_list_unlock(list);
    if (has_waited)
        events_tell_context(context, INGOT_EVENT_WAIT, is_taken ? INGOT_SUCCESS : INGOT_NOT_FOUND, 0, started_ns,
                            "loaded ahead");
    return is_taken;
}

/* ---- starting ---- */

static ingot_status_t read_info(ingot_prewarm_info_t *copy, const ingot_prewarm_info_t *info)
{
    if (!STRUCT_READ(*copy, info))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info or its struct_size is missing");
    if (copy->manifest == NULL || copy->manifest[0] == '\0' || copy->thread_count > MAX_THREADS)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the manifest is missing, or more than %u threads",
                                      MAX_THREADS);
    if (copy->thread_count == 0)
        copy->thread_count = DEFAULT_THREADS;
    return INGOT_SUCCESS;
}

static size_t size_of(const struct ingot_prewarm *prewarm)
{
    return sizeof(*prewarm) + prewarm->info.thread_count * sizeof(prewarm->threads[0]);
}

static void destroy(struct ingot_prewarm *prewarm)
{
    const ingot_allocator_t allocator = prewarm->allocator;
    const size_t count = prewarm->manifest.ids.count;
    for (size_t i = 0; i < count && prewarm->items != NULL; ++i) {
        ingot_program_release(prewarm->items[i].program);
        prewarm_blob_release(&prewarm->items[i].blob);
    }
    memory_free(&allocator, prewarm->items, count * sizeof(*prewarm->items));
    manifest_fini(&prewarm->manifest);
    memory_free(&allocator, prewarm, size_of(prewarm));
}

/* Reads the manifest. If it cannot be read or has no ids, there is nothing to load, which is not a failure. Before the
 * first run has ended, there is no manifest. */
static ingot_status_t read_manifest(struct ingot_prewarm *prewarm)
{
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_prewarm_progress_t *progress = &prewarm->progress;
    progress->manifest_status = manifest_read(&prewarm->manifest, prewarm->info.manifest);
    if (progress->manifest_status != INGOT_SUCCESS && progress->manifest_status != INGOT_NOT_FOUND)
        events_tell_context(prewarm->context, INGOT_EVENT_STORAGE_DEGRADED, progress->manifest_status, 0, started_ns,
                            ingot_last_error_detail());
    const size_t count = prewarm->manifest.ids.count;
    progress->total = count;
    if (count == 0)
        return INGOT_SUCCESS;
    prewarm->items = memory_allocate(&prewarm->allocator, count * sizeof(*prewarm->items));
    if (prewarm->items == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu programs", count);
    for (size_t i = 0; i < count; ++i)
        prewarm->items[i] = (struct prewarm_item){.state = PREWARM_WAITING};
    return INGOT_SUCCESS;
}

static bool start_thread(struct ingot_prewarm *prewarm)
{
    struct prewarm_thread *own = &prewarm->threads[prewarm->thread_count];
    own->prewarm = prewarm;
    own->runs = pthread_create(&own->thread, NULL, prewarm_run, own) == 0;
    return own->runs;
}

/* Starts the threads. Requires the lock. The threads block all signals, because signals belong to the application. */
static void start_threads(struct ingot_prewarm *prewarm)
{
    sigset_t all;
    sigset_t before;
    const size_t wanted = prewarm->info.thread_count < prewarm->manifest.ids.count ? prewarm->info.thread_count
                                                                                   : prewarm->manifest.ids.count;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (prewarm->thread_count < wanted && start_thread(prewarm)) {
        ++prewarm->thread_count;
        ++prewarm->active_count;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (prewarm->thread_count == 0)
        prewarm->progress.state = INGOT_PREWARM_COMPLETE;
}

static ingot_status_t start(struct ingot_prewarm *prewarm)
{
    struct prewarm_list *list = prewarm->list;
    process_end_watch();
    prewarm_list_lock(list);
    start_threads(prewarm);
    const bool has_failed = prewarm->thread_count == 0 && prewarm->manifest.ids.count != 0;
    if (!has_failed)
        prewarm_list_add(list, prewarm);
    prewarm_list_unlock(list);
    return has_failed ? ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no thread to load programs ahead") : INGOT_SUCCESS;
}

ingot_status_t ingot_prewarm_start(ingot_prewarm_t *prewarm, ingot_context_t context, ingot_storage_t storage,
                                   const ingot_prewarm_info_t *info)
{
    ingot_prewarm_info_t known;
    if (prewarm == NULL || context == NULL || storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm, context or storage is NULL");
    ingot_status_t status = read_info(&known, info);
    if (status != INGOT_SUCCESS)
        return status;
    const size_t size = sizeof(struct ingot_prewarm) + known.thread_count * sizeof(struct prewarm_thread);
    struct ingot_prewarm *made = memory_allocate(storage_allocator(storage), size);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a prewarm");
    memset(made, 0, size);
    made->allocator = *storage_allocator(storage);
    made->storage = storage;
    made->context = context;
    made->info = known;
    made->process = (long)files_process();
    made->start_ns = files_steady_clock_ns();
    made->fetches_ahead = storage_loads_many(storage);
    made->progress = (ingot_prewarm_progress_t)INGOT_PREWARM_PROGRESS_INIT;
    manifest_init(&made->manifest, &made->allocator);
    status = prewarm_list_make(storage, &made->list);
    if (status == INGOT_SUCCESS)
        status = read_manifest(made);
    made->info.manifest = NULL; /* it is the caller's string, which may now be freed */
    if (status == INGOT_SUCCESS)
        status = start(made);
    if (status != INGOT_SUCCESS) {
        destroy(made);
        return status;
    }
    (void)ingot_context_retain(context);
    (void)ingot_storage_retain(storage);
    *prewarm = made;
    return INGOT_SUCCESS;
}

/* ---- ending ---- */

static bool is_ours(const struct ingot_prewarm *prewarm)
{
    return prewarm->process == (long)files_process();
}

static void join_threads(struct ingot_prewarm *prewarm)
{
    const int before = cancellation_hold();
    for (size_t i = 0; i < prewarm->thread_count; ++i)
        (void)pthread_join(prewarm->threads[i].thread, NULL);
    cancellation_allow(before);
}

/* Waits until the prewarm's threads have ended; one of the waiting callers joins them. Requires the lock, but releases
 * it while it waits. Returns INGOT_BUSY if one of the prewarm's threads waits for the calling thread. */
static ingot_status_t wait_for_threads(struct ingot_prewarm *prewarm)
{
    static const ingot_work_t short_work; /* stands for the joining of ended threads, which never waits for long */
    pthread_cond_t *changed = &prewarm->list->changed;
    for (size_t i = 0; i < prewarm->thread_count; ++i) {
        while (prewarm->threads[i].runs) {
            if (!wait_for(prewarm, &prewarm->threads[i].work, changed))
                return ingot_set_error_detail(INGOT_BUSY,
                                              "a thread of the prewarm waits for a program that this thread is making");
        }
    }
    while (prewarm->is_being_joined)
        (void)wait_for(prewarm, &short_work, changed);
    if (prewarm->is_joined)
        return INGOT_SUCCESS;
    prewarm->is_being_joined = true;
    prewarm_list_unlock(prewarm->list);
    join_threads(prewarm);
    prewarm_list_lock(prewarm->list);
    prewarm->is_being_joined = false;
    prewarm->is_joined = true;
    pthread_cond_broadcast(changed);
    return INGOT_SUCCESS;
}

static ingot_status_t end(struct ingot_prewarm *prewarm, bool cancels, ingot_prewarm_progress_t *progress)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (!is_ours(prewarm)) {
        (void)STRUCT_WRITE(progress, prewarm->progress);
        return INGOT_SUCCESS;
    }
    prewarm_list_lock(prewarm->list);
    if (cancels && !prewarm->is_ending && prewarm->progress.state == INGOT_PREWARM_RUNNING) {
        prewarm->is_ending = true;
        prewarm->progress.state = INGOT_PREWARM_CANCELLED;
    }
    if (is_own_thread(prewarm))
        status = ingot_set_error_detail(INGOT_BUSY, "a thread of a prewarm cannot wait for that prewarm to end");
    else
        status = wait_for_threads(prewarm);
    (void)STRUCT_WRITE(progress, prewarm->progress);
    prewarm_list_unlock(prewarm->list);
    return status;
}

ingot_status_t ingot_prewarm_wait(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress)
{
    if (prewarm == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm is NULL");
    if (progress != NULL && !STRUCT_IS_SET(progress))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the struct_size of progress is not set");
    return end(prewarm, false, progress);
}

ingot_status_t ingot_prewarm_cancel(ingot_prewarm_t prewarm)
{
    if (prewarm == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm is NULL");
    return end(prewarm, true, NULL);
}

ingot_status_t ingot_prewarm_get_progress(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress)
{
    if (prewarm == NULL || !STRUCT_IS_SET(progress))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm, progress or its struct_size is missing");
    const bool locks = is_ours(prewarm);
    if (locks)
        prewarm_list_lock(prewarm->list);
    (void)STRUCT_WRITE(progress, prewarm->progress);
    if (locks)
        prewarm_list_unlock(prewarm->list);
    return INGOT_SUCCESS;
}

/* Ends the prewarm. Waits until all its threads have ended, even if one of them waits for the caller, because what the
 * threads use is about to be freed. */
static void end_for_good(struct ingot_prewarm *prewarm)
{
    while (end(prewarm, true, NULL) != INGOT_SUCCESS) {
        prewarm_list_lock(prewarm->list);
        while (prewarm->active_count != 0)
            process_lock_wait(&prewarm->list->lock, &prewarm->list->changed);
        prewarm_list_unlock(prewarm->list);
    }
}

void ingot_prewarm_release(ingot_prewarm_t prewarm)
{
    if (prewarm == NULL)
        return;
    struct kept_error kept;
    ingot_storage_t storage = prewarm->storage;
    ingot_context_t context = prewarm->context;
    kept_error_save(&kept);
    if (is_ours(prewarm)) {
        end_for_good(prewarm);
        prewarm_list_lock(prewarm->list);
        prewarm_list_remove(prewarm->list, prewarm);
        while (prewarm->waiting_count != 0)
            process_lock_wait(&prewarm->list->lock, &prewarm->list->changed);
        prewarm_list_unlock(prewarm->list);
        destroy(prewarm);
    } /* otherwise this is a forked child: the programs belong to the parent's driver, so they are leaked */
    ingot_context_release(context);
    ingot_storage_release(storage);
    kept_error_restore(&kept);
}

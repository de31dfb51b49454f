/*
 * store_flush.c - makes a storage store its pending items now: at a flush, and at the end of the process.
 *
 * A flush without a time limit stores the items in the calling thread. With a limit, and at the end of the process, the
 * storage's thread does the work, so a slow driver does not delay the caller. All functions use the queue's lock.
 */
#include "persist/storage/store_flush.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/storage/common/state.h"
#include "persist/storage/store_queue.h"
#include "util/limit.h"
#include "util/thread.h"

#define NO_TIME THREAD_NO_TIME

struct flush {
    ingot_storage_t storage;
    ingot_persist_flush_info_t info;
    uint64_t began_ns;
    uint64_t until_ns;
    ingot_persist_flush_progress_t before;
    ingot_persist_flush_progress_t reported;
    ingot_status_t stopped; /* the status with which on_progress stopped the flush; INGOT_SUCCESS if it did not */
};

static ingot_persist_flush_progress_t progress_of(const struct flush *flush)
{
    const struct store_queue *queue = &flush->storage->queue;
    ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    progress.stored_count = queue->total.stored_count - flush->before.stored_count;
    progress.failed_count = queue->total.failed_count - flush->before.failed_count;
    progress.stored_bytes = queue->total.stored_bytes - flush->before.stored_bytes;
    progress.waiting_count = store_queue_count_locked(queue);
    progress.elapsed_ns = files_steady_clock_ns() - flush->began_ns;
    return progress;
}

/* Reports progress, if there is any. Requires the lock, but releases it during the callback. Returns false if
 * on_progress stopped the flush. */
static bool report_flush_progress(struct flush *flush)
{
    const ingot_persist_flush_progress_t progress = progress_of(flush);
    /* waiting_count is compared, too, because an item that is not cacheable changes only this count */
    const ingot_persist_flush_progress_t *reported = &flush->reported;
    if (flush->info.on_progress == NULL ||
        (progress.stored_count + progress.failed_count == reported->stored_count + reported->failed_count &&
         progress.waiting_count == reported->waiting_count))
        return true;
    flush->reported = progress;
    pthread_mutex_unlock(&flush->storage->queue.lock);
    flush->stopped = flush->info.on_progress(&progress, flush->info.user);
    pthread_mutex_lock(&flush->storage->queue.lock);
    return flush->stopped == INGOT_SUCCESS;
}

/* Stores items until none waits, the time is up, or on_progress stops it. Requires the lock, but releases it while
 * it stores an item, waits, or reports progress. A callback of a thread that is storing an item does not wait for what
 * other threads are storing, because their callbacks may wait for this thread's item. */
static void work_all(struct flush *flush)
{
    struct store_queue *queue = &flush->storage->queue;
    uint64_t left_ns;
    const bool is_last = atomic_load_explicit(&flush->storage->references, memory_order_relaxed) == 0;
    const bool is_callback = store_queue_is_working() && !is_last; /* a storage ends after its thread */
    const bool is_own_thread = store_queue_is_own_thread(flush->storage);
    const bool is_for_thread = flush->until_ns != NO_TIME && !is_own_thread;
    while (report_flush_progress(flush) && (left_ns = store_queue_time_left(flush->until_ns)) != 0) {
        const bool has_item = store_queue_has(queue, left_ns);
        if (has_item && !(is_for_thread && store_queue_start_thread(flush->storage, flush->until_ns))) {
            (void)store_queue_work(flush->storage, store_queue_pop(queue, left_ns), false);
            continue;
        }
        if (is_own_thread || (!has_item && (is_callback || queue->active.count == 0)))
            break;
        thread_wait(&queue->is_done, &queue->lock, flush->until_ns);
    }
    if (is_for_thread) { /* other flushes in progress set until_ns again */
        queue->until_ns = 0;
        pthread_cond_broadcast(&queue->is_done);
    }
}

ingot_status_t store_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                           ingot_persist_flush_progress_t *progress)
{
    struct store_queue *queue = &storage->queue;
    struct flush flush = {.storage = storage, .info = *info, .began_ns = files_steady_clock_ns(), .until_ns = NO_TIME};
    if (info->max_time_ms != 0 && info->max_time_ms != INGOT_UNLIMITED)
        flush.until_ns = flush.began_ns + limit_time_ns(info->max_time_ms, 0);
    pthread_mutex_lock(&queue->lock);
    flush.before = queue->total;
    flush.reported.waiting_count = store_queue_count_locked(queue);
    work_all(&flush);
    const ingot_persist_flush_progress_t reached = progress_of(&flush);
    const bool is_cut_short = reached.waiting_count > store_queue_count_own(storage);
    ingot_status_t status = queue->failure.status;
    if (flush.stopped != INGOT_SUCCESS)
        status = flush.stopped;
    else if (is_cut_short)
        status = ingot_set_error_detail(INGOT_BUSY, "%llu programs are not stored yet",
                                        (unsigned long long)reached.waiting_count);
    else if (status != INGOT_SUCCESS) /* perhaps of another thread, so its sentence was kept */
        (void)ingot_set_error_detail(status, "%s", queue->failure.detail);
    if (!is_cut_short && flush.stopped == INGOT_SUCCESS)
        queue->failure.status = INGOT_SUCCESS;
    pthread_mutex_unlock(&queue->lock);
    if (progress != NULL)
        *progress = reached;
    return status;
}

bool store_flush_hurry(ingot_storage_t storage, uint64_t until_ns)
{
    struct store_queue *queue = &storage->queue;
    if (pthread_mutex_trylock(&queue->lock) != 0)
        return true;
    const uint64_t left_ns = store_queue_time_left(until_ns);
    const bool is_hurrying = left_ns != 0 &&
                             (store_queue_has(queue, left_ns) || (queue->active.count != 0 && queue->is_running)) &&
                             store_queue_start_thread(storage, until_ns);
    pthread_mutex_unlock(&queue->lock);
    return is_hurrying;
}

/*
 * store_queue.c - queues programs whose blobs will be stored: at a flush, or at the end of the process.
 *
 * A driver that generates code at launch (PoCL) takes up to 20 times as long to provide a blob as it took to build the
 * program. It holds its own locks meanwhile, so the application's builds wait. A blob also lacks the code that the
 * driver generates at launches after the blob was made. Programs of such a driver therefore wait for a flush or the end
 * of the process. A blob that would take too long (store_cost.h) is left for another flush.
 *
 * A thread that flushes stores the items itself, unless the time is limited. Then the storage's thread does, with a
 * lower priority. It starts when it is needed, and ends when the time is up or nothing is left to do. Waiting items are
 * bounded in number. The blob of a program is in memory only while it is being stored. The lock is not held while an
 * item is being stored.
 *
 * Flushes, and the work at the end of the process, are in store_flush.c.
 */
#include "persist/storage/store_queue.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/state.h"
#include "persist/storage/store_cost.h"
#include "util/error_text.h"
#include "util/thread.h"

#define MAX_COUNT 256u

/* A program that waits. */
struct store_queue_item {
    struct store_queue_item *next;
    ingot_program_t program; /* a reference, which keeps its context alive */
    const struct ingot_context *context;
    uint64_t build_ns;
    uint64_t cost_ns;  /* how long the driver takes to provide the blob, at least */
    uint64_t began_ns; /* when a thread began to store it; 0: not yet */
    bool is_settled;   /* true: it was stored, or an event has reported that it was not */
    size_t id_size;
    uint8_t id[];
};

static _Thread_local ingot_storage_t own_storage; /* in a storage's thread: that storage */

/* An item that this thread is storing. Its callback may store another one. */
struct work {
    ingot_storage_t storage;
    const struct work *outer;
};
static _Thread_local const struct work *works; /* the innermost one, or NULL */

void store_queue_init(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    memset(queue, 0, sizeof(*queue));
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->is_done, NULL);
}

/* ---- lists ---- */

static void append_queue_item(struct store_queue_list *list, struct store_queue_item *item)
{
    struct store_queue_item **at = &list->first;
    while (*at != NULL)
        at = &(*at)->next;
    item->next = NULL;
    *at = item;
    ++list->count;
}

/* Removes an item from a list, if it is in it. */
static void remove_queue_item(struct store_queue_list *list, const struct store_queue_item *item)
{
    struct store_queue_item **at = &list->first;
    while (*at != NULL && *at != item)
        at = &(*at)->next;
    if (*at == NULL)
        return;
    *at = item->next;
    --list->count;
}

/* Of the items that cost at most limit_ns, returns the one that took longest to build, or with is_fastest the one that
 * was fastest to build. Returns NULL if there is none. */
static struct store_queue_item *find_best_item(const struct store_queue_list *list, uint64_t limit_ns, bool is_fastest)
{
    struct store_queue_item *best = NULL;
    for (struct store_queue_item *item = list->first; item != NULL; item = item->next) {
        if (item->cost_ns <= limit_ns &&
            (best == NULL || (is_fastest ? item->build_ns < best->build_ns : item->build_ns > best->build_ns)))
            best = item;
    }
    return best;
}

bool store_queue_has(struct store_queue *queue, uint64_t limit_ns)
{
    return find_best_item(&queue->waiting, limit_ns, false) != NULL;
}

struct store_queue_item *store_queue_pop(struct store_queue *queue, uint64_t limit_ns)
{
    struct store_queue_item *item = find_best_item(&queue->waiting, limit_ns, false);
    if (item != NULL)
        remove_queue_item(&queue->waiting, item);
    return item;
}

uint64_t store_queue_count_locked(const struct store_queue *queue)
{
    return queue->waiting.count + queue->active.count;
}

static struct store_queue_item *make_item(ingot_storage_t storage, const struct ingot_context *context,
                                          ingot_program_t program, size_t id_size, const uint8_t *id)
{
    struct store_queue_item *item = memory_allocate(&storage->allocator, sizeof(*item) + id_size);
    if (item == NULL)
        return NULL;
    ingot_program_retain(program);
    *item = (struct store_queue_item){.program = program, .context = context, .id_size = id_size};
    memcpy(item->id, id, id_size);
    return item;
}

static void free_item(ingot_storage_t storage, struct store_queue_item *item)
{
    memory_free(&storage->allocator, item, sizeof(*item) + item->id_size);
}

/* ---- storing ---- */

/* The result of storing one program. */
struct outcome {
    ingot_status_t status;
    size_t bytes; /* size of the blob */
    bool is_late; /* true: not begun, because the process is ending */
};

/* Copies the program's blob to new memory at *blob. Its size is *capacity bytes, of which the blob takes *size. The
 * caller must free the memory, even on failure. */
static ingot_status_t copy_program_blob(ingot_storage_t storage, ingot_program_t program, size_t *size, uint8_t **blob,
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

/* Gets a program's blob from the driver and stores it. Reports the result to the context. */
static struct outcome take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id)
{
    size_t size = 0;
    size_t capacity = 0;
    uint8_t *blob = NULL;
    uint64_t started_ns = files_steady_clock_ns();
    if (!process_end_enter()) /* no event is emitted, because exit() is already running */
        return (struct outcome){ingot_set_error_detail(INGOT_BUSY, "the process is ending"), 0, true};
    ingot_status_t status = copy_program_blob(storage, program, &size, &blob, &capacity);
    process_end_leave();
    if (status == INGOT_SUCCESS) {
        started_ns = files_steady_clock_ns();
        status = ingot_storage_store(storage, id_size, id, size, blob);
    }
    events_tell_context(context, INGOT_EVENT_STORAGE_STORE, status, size, started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    memory_free(&storage->allocator, blob, capacity);
    return (struct outcome){status, size, false};
}

/* Releases an item's program. This may call the driver, which the storage's thread must not do once the process is
 * ending. In that case, returns false. */
static bool release_program(const struct store_queue_item *item, bool is_own_thread)
{
    const bool may_call = process_end_enter();
    if (may_call || !is_own_thread)
        ingot_program_release(item->program);
    if (may_call)
        process_end_leave();
    return may_call || !is_own_thread;
}

/* Returns what a flush is to say about an outcome. Called right after it, because it reads the thread's error. */
static struct store_failure failure_of(const struct outcome *outcome)
{
    struct store_failure failure = {.status = outcome->status};
    if (outcome->status == INGOT_NOT_CACHEABLE ||
        (outcome->status == INGOT_NO_SPACE && ingot_last_error_code() == STORAGE_EXCLUDED_CODE))
        failure.status = INGOT_SUCCESS;
    if (failure.status != INGOT_SUCCESS)
        error_text_copy(failure.detail, sizeof(failure.detail), ingot_last_error_detail());
    return failure;
}

/* Notes a failure for the next flush. Requires the lock. */
static void note_store_failure(struct store_queue *queue, const struct store_failure *failure)
{
    if (queue->failure.status == INGOT_SUCCESS && failure->status != INGOT_SUCCESS)
        queue->failure = *failure;
}

/* Counts a stored or failed item. Requires the lock. */
static void count_outcome(struct store_queue *queue, const struct outcome *outcome)
{
    if (outcome->status == INGOT_SUCCESS) {
        ++queue->total.stored_count;
        queue->total.stored_bytes += outcome->bytes;
    } else if (outcome->status != INGOT_NOT_CACHEABLE) {
        ++queue->total.failed_count;
    }
}

bool store_queue_work(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread)
{
    struct store_queue *queue = &storage->queue;
    item->began_ns = files_steady_clock_ns();
    append_queue_item(&queue->active, item);
    pthread_mutex_unlock(&queue->lock);
    const struct work work = {storage, works};
    works = &work;
    const struct ingot_context *before = events_enter(item->context);
    const struct outcome outcome = take_and_store(storage, item->context, item->program, item->id_size, item->id);
    const struct store_failure failure = failure_of(&outcome);
    events_leave(before);
    pthread_mutex_lock(&queue->lock);
    item->is_settled = item->is_settled || !outcome.is_late; /* before the release: see store_queue_give_up */
    pthread_mutex_unlock(&queue->lock);
    const bool is_released = release_program(item, is_own_thread);
    works = work.outer;
    pthread_mutex_lock(&queue->lock);
    remove_queue_item(&queue->active, item);
    if (is_released || !outcome.is_late) {
        count_outcome(queue, &outcome);
        note_store_failure(queue, &failure);
    }
    if (is_released)
        free_item(storage, item);
    else
        append_queue_item(outcome.is_late ? &queue->waiting : &queue->unfreed, item);
    pthread_cond_broadcast(&queue->is_done);
    return is_released;
}

uint64_t store_queue_time_left(uint64_t until_ns)
{
    const uint64_t now_ns = files_steady_clock_ns();
    return until_ns == THREAD_NO_TIME ? THREAD_NO_TIME : until_ns > now_ns ? until_ns - now_ns : 0;
}

/* Detaches the storage's thread, which then never has to be joined. Requires the lock. */
static void detach_thread(struct store_queue *queue)
{
    (void)pthread_detach(queue->thread);
    queue->has_thread = false;
}

static void *run_store_thread(void *user)
{
    ingot_storage_t storage = user;
    struct store_queue *queue = &storage->queue;
    uint64_t left_ns;
    bool goes_on = true;
    files_lower_priority();
    own_storage = storage;
    pthread_mutex_lock(&queue->lock);
    while (goes_on && !queue->is_ending && (left_ns = store_queue_time_left(queue->until_ns)) != 0) {
        struct store_queue_item *item = store_queue_pop(queue, left_ns);
        goes_on = item != NULL && store_queue_work(storage, item, true);
    }
    queue->is_running = false;
    if (process_end_began_ns() != 0 && !queue->is_ending) /* see store_queue_let_go */
        detach_thread(queue);
    pthread_cond_broadcast(&queue->is_done);
    const bool is_orphan = queue->is_orphan;
    pthread_mutex_unlock(&queue->lock);
    own_storage = NULL;
    if (is_orphan)
        storage->finish(storage);
    return NULL;
}

bool store_queue_start_thread(ingot_storage_t storage, uint64_t until_ns)
{
    struct store_queue *queue = &storage->queue;
    if (queue->until_ns < until_ns)
        queue->until_ns = until_ns;
    if (queue->is_running || queue->is_ending)
        return queue->is_running;
    if (queue->has_thread)
        thread_join(queue->thread); /* it has ended, or is about to */
    queue->has_thread = queue->is_running = thread_start(&queue->thread, run_store_thread, storage);
    return queue->is_running;
}

/* ---- queueing ---- */

/* Takes out the item that was fastest to build. Stores it or, if its blob has a cost, drops it. Requires the lock, but
 * releases it meanwhile. */
static void give_way(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    struct store_queue_item *item = find_best_item(&queue->waiting, UINT64_MAX, true);
    remove_queue_item(&queue->waiting, item);
    if (item->cost_ns == 0) {
        (void)store_queue_work(storage, item, false);
        return;
    }
    pthread_mutex_unlock(&queue->lock);
    events_tell_context(item->context, INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE, 0, files_steady_clock_ns(),
                        "a program is not stored: too many wait for a flush, and its build was the fastest");
    (void)release_program(item, false);
    free_item(storage, item);
    pthread_mutex_lock(&queue->lock);
}

static bool is_waiting(struct store_queue *queue, size_t id_size, const uint8_t *id)
{
    pthread_mutex_lock(&queue->lock);
    const struct store_queue_item *item = queue->waiting.first;
    while (item != NULL && (item->id_size != id_size || memcmp(item->id, id, id_size) != 0))
        item = item->next;
    pthread_mutex_unlock(&queue->lock);
    return item != NULL;
}

void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, uint64_t build_ns, uint64_t cost_ns)
{
    struct store_queue *queue = &storage->queue;
    if (is_waiting(queue, id_size, id))
        return; /* the application builds the program again and again, and each one would keep a native program */
    struct store_queue_item *item = make_item(storage, context, program, id_size, id);
    if (item == NULL) {
        events_tell_context(context, INGOT_EVENT_STORAGE_DEGRADED, INGOT_OUT_OF_MEMORY, 0, files_steady_clock_ns(),
                            "a program is not stored: no memory to queue it");
        return;
    }
    item->build_ns = build_ns;
    item->cost_ns = cost_ns;
    process_end_watch();
    pthread_mutex_lock(&queue->lock);
    append_queue_item(&queue->waiting, item);
    while (queue->waiting.count > MAX_COUNT)
        give_way(storage);
    pthread_mutex_unlock(&queue->lock);
}

ingot_status_t store_queue_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id)
{
    const struct outcome outcome = take_and_store(storage, context, program, id_size, id);
    const struct store_failure failure = failure_of(&outcome);
    pthread_mutex_lock(&storage->queue.lock);
    note_store_failure(&storage->queue, &failure);
    pthread_mutex_unlock(&storage->queue.lock);
    return outcome.status;
}

/* ---- what threads and the end of the process ask ---- */

bool store_queue_is_own_thread(ingot_storage_t storage)
{
    return own_storage == storage;
}

bool store_queue_is_working(void)
{
    return works != NULL;
}

uint64_t store_queue_count_own(ingot_storage_t storage)
{
    uint64_t count = 0;
    for (const struct work *work = works; work != NULL; work = work->outer)
        count += work->storage == storage;
    return count;
}

uint64_t store_queue_count(ingot_storage_t storage)
{
    pthread_mutex_lock(&storage->queue.lock);
    const uint64_t count = store_queue_count_locked(&storage->queue);
    pthread_mutex_unlock(&storage->queue.lock);
    return count;
}

bool store_queue_orphan(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (own_storage != storage)
        return false;
    pthread_mutex_lock(&queue->lock);
    queue->is_ending = queue->is_orphan = true;
    detach_thread(queue);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

void store_queue_fini(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    pthread_mutex_lock(&queue->lock);
    queue->is_ending = true;
    const bool has_thread = queue->has_thread;
    pthread_mutex_unlock(&queue->lock);
    if (has_thread)
        thread_join(queue->thread);
    pthread_cond_destroy(&queue->is_done);
    pthread_mutex_destroy(&queue->lock);
}

static bool has_items(struct store_queue *queue, bool may_wait)
{
    if (pthread_mutex_trylock(&queue->lock) != 0)
        return true;
    const bool has = queue->active.count != 0 || (may_wait && queue->waiting.count != 0);
    pthread_mutex_unlock(&queue->lock);
    return has;
}

bool store_queue_is_active(ingot_storage_t storage)
{
    return has_items(&storage->queue, false);
}

bool store_queue_is_pending(ingot_storage_t storage)
{
    return has_items(&storage->queue, true);
}

bool store_queue_let_go(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (pthread_mutex_trylock(&queue->lock) != 0)
        return false;
    if (queue->has_thread && !queue->is_running)
        detach_thread(queue);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

void store_queue_note_costs(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (pthread_mutex_trylock(&queue->lock) != 0)
        return;
    for (struct store_queue_item *item = queue->active.first; item != NULL; item = item->next) {
        if (item->cost_ns != 0)
            store_cost_note(storage, item->id_size, item->id, files_steady_clock_ns() - item->began_ns);
    }
    pthread_mutex_unlock(&queue->lock);
}

size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context)
{
    struct store_queue *queue = &storage->queue;
    const struct store_queue_list *lists[] = {&queue->waiting, &queue->active};
    size_t count = 0;
    if (pthread_mutex_trylock(&queue->lock) != 0)
        return 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); ++i) {
        for (struct store_queue_item *item = lists[i]->first; item != NULL; item = item->next) {
            if (item->is_settled || (count != 0 && item->context != *context))
                continue;
            if (count == 0)
                ingot_program_retain(item->program); /* this also retains the context */
            *context = item->context;
            item->is_settled = true;
            ++count;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return count;
}

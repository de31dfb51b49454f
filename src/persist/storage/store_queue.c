/*
 * store_queue.c - queues programs whose blobs will be stored, and blobs that a chain promotes. They are stored in the
 * background, at a flush, or at the end of the process.
 *
 * Each storage has one thread, which starts with the first item that it has to store. Waiting items are bounded in
 * number and in the bytes of their ids and promoted blobs. The blob of a program is in memory only while it is being
 * stored. The lock is not held while an item is being stored.
 *
 * A driver that generates code at launch (PoCL) takes up to 20 times as long to provide a blob as it took to build the
 * program. It holds its own locks meanwhile, so the application's builds wait. A blob also lacks the code that the
 * driver generates at launches after the blob was made. Programs of such a driver therefore wait for a flush or the end
 * of the process. The thread has a lower priority. The time that the driver will take is estimated (costs.h). Blobs
 * that would delay the end of the process for too long are left for a flush.
 *
 * A forked child has neither the thread nor the driver's state, so it treats the queue as empty and creates its locks
 * again, because they may have been held during the fork. Flushes, and the work at the end of the process, are in
 * store_flush.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "persist/storage/store_queue.h"

#include <ingot/backend.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/base/own_thread.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/state.h"
#include "persist/storage/store_cost.h"
#include "persist/storage/storing.h"
#include "util/cancellation.h"
#include "util/error_text.h"

#define MAX_COUNT 256u
#define MAX_BYTES ((size_t)64 << 20)
#define NO_TIME PROCESS_NO_TIME

static _Thread_local ingot_storage_t own_storage; /* in a storage's thread: that storage */
static atomic_bool is_watched_for_blobs;          /* relaxed: an extra call to process_end_watch is harmless */

/* An item that this thread is storing. Its callback may store another one. */
struct work {
    ingot_storage_t storage;
    const struct work *outer;
};
static _Thread_local const struct work *works; /* the innermost one, or NULL */

static ingot_status_t init_conditions(struct store_queue *queue)
{
    if (!process_lock_condition_init(&queue->has_work))
        goto no_has_work;
    if (!process_lock_condition_init(&queue->is_done))
        goto no_is_done;
    return INGOT_SUCCESS;

no_is_done:
    pthread_cond_destroy(&queue->has_work);
no_has_work:
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "a storage's locks could not be created");
}

ingot_status_t store_queue_init(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    memset(queue, 0, sizeof(*queue));
    ingot_status_t status = process_lock_init(&queue->lock);
    if (status != INGOT_SUCCESS)
        return status;
    status = init_conditions(queue);
    if (status != INGOT_SUCCESS)
        process_lock_fini(&queue->lock);
    return status;
}

/* Called in a forked child when it first takes the lock: sets the parent's items aside, because the child has neither
 * the thread nor the driver's state. */
static void forget_parents_items(void *user)
{
    struct store_queue *queue = user;
    memcpy(queue->inherited, queue->lists, sizeof(queue->inherited));
    memset(queue->lists, 0, sizeof(queue->lists));
    queue->active = (struct store_queue_list){0};
    queue->active_count = 0;
    queue->urgent_until_ns = 0;
    queue->failure.status = INGOT_SUCCESS;
    queue->has_thread = queue->is_ending = false;
    (void)init_conditions(queue); /* on Linux they need no memory and cannot fail */
}

void store_queue_lock(struct store_queue *queue)
{
    process_lock_take(&queue->lock, forget_parents_items, queue);
}

bool store_queue_try_lock(struct store_queue *queue)
{
    return process_lock_try(&queue->lock, forget_parents_items, queue);
}

void store_queue_unlock(struct store_queue *queue)
{
    process_lock_give(&queue->lock);
}

/* Finds an item whose blob the driver is expected to provide within limit_ns. In the list of items to store soon, this
 * is the oldest such item; in the other lists, the one that took longest to build. Requires the lock. */
static struct store_queue_item **find(struct store_queue *queue, enum store_queue_when when, uint64_t limit_ns)
{
    return store_list_find(&queue->lists[when], when == STORE_QUEUE_SOON, limit_ns, &queue->costs);
}

/* Removes and returns the item that `find` finds, or NULL. Requires the lock. */
static struct store_queue_item *pop(struct store_queue *queue, enum store_queue_when when, uint64_t limit_ns)
{
    struct store_queue_item **at = find(queue, when, limit_ns);
    return at != NULL ? store_list_take_out(&queue->lists[when], at) : NULL;
}

struct store_queue_item *store_queue_pop_any(struct store_queue *queue, uint64_t limit_ns)
{
    struct store_queue_item *item = NULL;
    for (int when = 0; item == NULL && when < STORE_QUEUE_LISTS; ++when)
        item = pop(queue, (enum store_queue_when)when, limit_ns);
    return item;
}

bool store_queue_has_any(struct store_queue *queue, uint64_t limit_ns)
{
    bool has = false;
    for (int when = 0; !has && when < STORE_QUEUE_LISTS; ++when)
        has = find(queue, (enum store_queue_when)when, limit_ns) != NULL;
    return has;
}

uint64_t store_queue_count_locked(const struct store_queue *queue)
{
    uint64_t count = queue->active_count;
    for (int when = 0; when < STORE_QUEUE_LISTS; ++when)
        count += queue->lists[when].count;
    return count;
}

/* The result of storing one program. */
struct outcome {
    ingot_status_t status;
    uint64_t take_ns; /* time that the driver took to provide the blob */
    size_t bytes;     /* size of the blob; 0: the driver did not provide one */
};

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

/* Gets a program's blob from the driver and stores it. Reports the result to the context. */
static struct outcome take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id)
{
    size_t size = 0;
    size_t capacity = 0;
    uint8_t *blob = NULL;
    const uint64_t started_ns = files_steady_clock_ns();
    if (!process_end_enter()) /* no event is emitted, because exit() is already running */
        return (struct outcome){.status = ingot_set_error_detail(INGOT_BUSY, "the process is ending")};
    ingot_status_t status = take(storage, program, &size, &blob, &capacity);
    process_end_leave();
    const uint64_t store_started_ns = status == INGOT_SUCCESS ? files_steady_clock_ns() : started_ns;
    if (status == INGOT_SUCCESS)
        status = ingot_storage_store(storage, id_size, id, size, blob);
    events_tell_context(context, INGOT_EVENT_STORAGE_STORE, status, size, store_started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    memory_free(&storage->allocator, blob, capacity);
    return (struct outcome){status, store_started_ns - started_ns, size};
}

/* Frees an item. This may call the driver, which the storage's thread must not do once the process is ending. In that
 * case, returns false and keeps the item. */
static bool free_item(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread)
{
    const bool may_call = process_end_enter();
    if (may_call || !is_own_thread) {
        ingot_program_release(item->program);
        store_list_free_item(&storage->allocator, item);
    }
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
static void note_failure(struct store_queue *queue, const struct store_failure *failure)
{
    if (queue->failure.status == INGOT_SUCCESS && failure->status != INGOT_SUCCESS)
        queue->failure = *failure;
}

/* Counts a stored or failed item. Requires the lock. */
static void count_outcome(struct store_queue *queue, const struct outcome *outcome, const struct store_cost *cost)
{
    if (outcome->status == INGOT_SUCCESS) {
        queue->total.stored_count += outcome->bytes != 0; /* a blob that no tier stored does not count */
        queue->total.stored_bytes += outcome->bytes;
    } else if (outcome->status != INGOT_NOT_CACHEABLE) {
        ++queue->total.failed_count;
    }
    if (outcome->bytes != 0 && cost->build_ns != 0)
        costs_add(&queue->costs, cost, outcome->take_ns);
}

static struct outcome store_item(ingot_storage_t storage, const struct store_queue_item *item)
{
    if (item->program != NULL)
        return take_and_store(storage, item->context, item->program, item->id_size, item->id);
    if (!process_end_enter()) /* the application's storages may be gone */
        return (struct outcome){.status = ingot_set_error_detail(INGOT_BUSY, "the process is ending")};
    process_end_leave();
    const ingot_buffer_t blob = {.bytes = item->id + item->id_size, .size = item->blob_size};
    const bool is_stored = storage->own->promote(storage, item->tier_count, item->id_size, item->id, &blob);
    return (struct outcome){.status = INGOT_SUCCESS, .bytes = is_stored ? blob.size : 0};
}

bool store_queue_work(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread)
{
    struct store_queue *queue = &storage->queue;
    const struct store_cost cost = item->cost;
    item->began_ns = files_steady_clock_ns();
    store_list_append(&queue->active, item);
    ++queue->active_count;
    store_queue_unlock(queue);
    const int cancellation = cancellation_hold(); /* if this thread were canceled, flushes would wait for it forever */
    const struct work work = {storage, works};
    works = &work;
    const struct ingot_context *before = events_enter(item->context);
    const struct outcome outcome = store_item(storage, item);
    const struct store_failure failure = failure_of(&outcome);
    events_leave(before);
    store_queue_lock(queue);
    struct store_queue_item **at = store_list_find_item(&queue->active, item);
    if (*at != NULL) /* NULL in a child that was forked while the item was being stored */
        (void)store_list_take_out(&queue->active, at);
    const bool is_cancelled = item->is_cancelled;
    store_queue_unlock(queue);
    if (is_cancelled)
        storage->own->withdraw(storage, item->tier_count, item->id_size, item->id);
    const bool is_done = free_item(storage, item, is_own_thread);
    works = work.outer;
    cancellation_allow(cancellation);
    store_queue_lock(queue);
    if (is_done) {
        count_outcome(queue, &outcome, &cost);
        note_failure(queue, &failure);
    } else { /* any list will do: the process is ending, so only a flush still frees items, and it looks at all lists */
        item->is_over = item->is_over || outcome.status == INGOT_SUCCESS || outcome.status == INGOT_NOT_CACHEABLE;
        item->is_settled = item->is_settled || item->is_over;
        store_list_append(&queue->lists[STORE_QUEUE_SOON], item);
    }
    queue->active_count -= queue->active_count != 0;
    pthread_cond_broadcast(&queue->is_done);
    return is_done;
}

/* Returns the next item for the storage's thread. If there is none yet, returns NULL and sets the time to look again.
 * Requires the lock. */
static struct store_queue_item *next_item(struct store_queue *queue, uint64_t *look_again_ns)
{
    const uint64_t now_ns = files_steady_clock_ns();
    const bool is_urgent = now_ns < queue->urgent_until_ns;
    *look_again_ns = is_urgent ? queue->urgent_until_ns : NO_TIME;
    return is_urgent ? store_queue_pop_any(queue, queue->urgent_until_ns - now_ns)
                     : pop(queue, STORE_QUEUE_SOON, NO_TIME);
}

static void *run(void *user)
{
    ingot_storage_t storage = user;
    struct store_queue *queue = &storage->queue;
    files_lower_priority();
    own_storage = storage;
    store_queue_lock(queue);
    while (!queue->is_ending) {
        uint64_t look_again_ns;
        struct store_queue_item *item = next_item(queue, &look_again_ns);
        if (item == NULL || (!store_queue_work(storage, item, true) && !queue->is_ending))
            process_lock_wait_until(&queue->lock, &queue->has_work, look_again_ns);
    }
    const bool is_orphan = queue->is_orphan;
    store_queue_unlock(queue);
    own_storage = NULL;
    if (is_orphan)
        storage->finish(storage);
    return NULL;
}

bool store_queue_start_thread(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (!queue->has_thread && !queue->is_ending)
        queue->has_thread = own_thread_start(&queue->thread, run, storage);
    return queue->has_thread;
}

static struct store_queue_item *make_item(ingot_storage_t storage, const struct ingot_context *context,
                                          ingot_program_t program, size_t id_size, const uint8_t *id)
{
    struct store_queue_item *item = store_list_make_item(&storage->allocator, id_size, id, 0, NULL);
    if (item == NULL)
        return NULL;
    ingot_program_retain(program);
    item->program = program;
    item->context = context;
    return item;
}

/* Drops the item that was cheapest to build. Requires the lock, but releases it while it reports and frees the item. */
static void drop_cheapest(ingot_storage_t storage, struct store_queue_list *list)
{
    struct store_queue_item *item = store_list_take_out(list, store_list_find_cheapest(list));
    store_queue_unlock(&storage->queue);
    events_tell_context(item->context, INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE, 0, files_steady_clock_ns(),
                        "a program is not stored: too many wait for a flush, and its build was the fastest");
    (void)free_item(storage, item, false);
    store_queue_lock(&storage->queue);
}

/* Stores or drops items until the list is within its bounds. If the storage's thread, which should store them, cannot
 * be started, stores all of them. Requires the lock, but releases it while it stores or drops an item. */
static void keep_bounds(ingot_storage_t storage, enum store_queue_when when)
{
    struct store_queue *queue = &storage->queue;
    struct store_queue_list *list = &queue->lists[when];
    const bool will_be_stored = when != STORE_QUEUE_SOON || store_queue_start_thread(storage);
    while (list->count != 0 && (!will_be_stored || list->count > MAX_COUNT || list->bytes > MAX_BYTES)) {
        if (when == STORE_QUEUE_AT_END) {
            drop_cheapest(storage, list);
            continue;
        }
        (void)store_queue_work(storage, store_list_take_out(list, &list->first), false);
    }
}

static void add(ingot_storage_t storage, struct store_queue_item *item, enum store_queue_when when)
{
    struct store_queue *queue = &storage->queue;
    if (item->program != NULL || !atomic_exchange_explicit(&is_watched_for_blobs, true, memory_order_relaxed))
        process_end_watch(); /* only once for blobs: tiers load no drivers, and the number of handlers is limited */
    store_queue_lock(queue);
    store_list_append(&queue->lists[when], item);
    keep_bounds(storage, when);
    if (when == STORE_QUEUE_SOON)
        pthread_cond_signal(&queue->has_work);
    store_queue_unlock(queue);
}

void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, const struct store_cost *cost, enum store_queue_when when)
{
    struct store_queue_item *item = make_item(storage, context, program, id_size, id);
    if (item == NULL) {
        events_tell_context(context, INGOT_EVENT_STORAGE_DEGRADED, INGOT_OUT_OF_MEMORY, 0, files_steady_clock_ns(),
                            "a program is not stored: no memory to queue it");
        return;
    }
    item->cost = *cost;
    add(storage, item, when);
}

bool store_queue_add_blob(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id,
                          const ingot_buffer_t *blob, enum store_queue_when when)
{
    store_queue_lock(&chain->queue);
    struct store_queue_item **known = store_list_find_blob(&chain->queue.lists[when], id_size, id);
    const bool is_known = known != NULL && (*known)->tier_count == tier_count;
    store_queue_unlock(&chain->queue);
    if (is_known)
        return true;
    struct store_queue_item *item = store_list_make_item(&chain->allocator, id_size, id, blob->size, blob->bytes);
    if (item == NULL)
        return false;
    item->tier_count = tier_count;
    add(chain, item, when);
    return true;
}

void store_queue_cancel(ingot_storage_t chain, size_t id_size, const uint8_t *id)
{
    struct store_queue *queue = &chain->queue;
    struct store_queue_list cancelled = {0};
    store_queue_lock(queue);
    for (int when = 0; when < STORE_QUEUE_LISTS; ++when) {
        struct store_queue_item **at;
        while ((at = store_list_find_blob(&queue->lists[when], id_size, id)) != NULL)
            store_list_append(&cancelled, store_list_take_out(&queue->lists[when], at));
    }
    for (struct store_queue_item *item = queue->active.first; item != NULL; item = item->next)
        item->is_cancelled = item->is_cancelled || store_list_is_blob(item, id_size, id);
    store_queue_unlock(queue);
    while (cancelled.first != NULL)
        store_list_free_item(&chain->allocator, store_list_take_out(&cancelled, &cancelled.first));
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

ingot_status_t store_queue_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id)
{
    const struct outcome outcome = take_and_store(storage, context, program, id_size, id);
    const struct store_failure failure = failure_of(&outcome);
    store_queue_lock(&storage->queue);
    note_failure(&storage->queue, &failure);
    store_queue_unlock(&storage->queue);
    return outcome.status;
}

uint64_t store_queue_count(ingot_storage_t storage)
{
    const struct store_queue *queue = &storage->queue;
    store_queue_lock(&storage->queue);
    uint64_t count = store_queue_count_locked(queue);
    for (int when = 0; when < STORE_QUEUE_LISTS; ++when) {
        for (const struct store_queue_item *item = queue->lists[when].first; item != NULL; item = item->next)
            count -= item->is_over;
    }
    store_queue_unlock(&storage->queue);
    return count;
}

bool store_queue_orphan(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (own_storage != storage)
        return false;
    store_queue_lock(queue);
    queue->is_ending = queue->is_orphan = true;
    queue->has_thread = false; /* no thread joins it */
    (void)pthread_detach(queue->thread);
    store_queue_unlock(queue);
    return true;
}

void store_queue_fini(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    store_queue_lock(queue);
    queue->is_ending = true;
    const bool has_thread = queue->has_thread;
    pthread_cond_broadcast(&queue->has_work);
    store_queue_unlock(queue);
    if (has_thread)
        (void)pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->is_done);
    pthread_cond_destroy(&queue->has_work);
    process_lock_fini(&queue->lock);
}

bool store_queue_is_active(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (!store_queue_try_lock(queue))
        return true;
    const bool is_active = queue->active_count != 0;
    store_queue_unlock(queue);
    return is_active;
}

void store_queue_note_costs(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    if (!store_queue_try_lock(queue))
        return;
    for (struct store_queue_item *item = queue->active.first; item != NULL; item = item->next) {
        if (item->cost.kernel_count != 0)
            store_cost_note(storage, item->id_size, item->id, files_steady_clock_ns() - item->began_ns);
    }
    store_queue_unlock(queue);
}

size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context)
{
    struct store_queue *queue = &storage->queue;
    size_t count = 0;
    if (!store_queue_try_lock(queue))
        return 0;
    for (int when = 0; when <= STORE_QUEUE_LISTS; ++when) {
        struct store_queue_list *list = when < STORE_QUEUE_LISTS ? &queue->lists[when] : &queue->active;
        for (struct store_queue_item *item = list->first; item != NULL; item = item->next) {
            if (item->is_settled || (count != 0 && item->context != *context))
                continue;
            if (count == 0 && item->program != NULL)
                ingot_program_retain(item->program); /* this also retains the context */
            *context = item->context;
            item->is_settled = true;
            ++count;
        }
    }
    store_queue_unlock(queue);
    return count;
}

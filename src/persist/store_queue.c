/*
 * store_queue.c - programs whose blobs are to be taken and stored later: in the background, or at a flush.
 *
 * One thread a storage, started with the first item. What waits is bounded in number and in the bytes of its ids; a
 * blob is in memory only while it is being stored. The lock is not held while an item is worked.
 *
 * A forked child has neither the thread nor the driver's state, so it takes the queue for empty, and makes its locks
 * anew: they may have been held when it was forked. At exit nothing more is stored, but the one blob that is being
 * taken is waited for (process_end.c): what was not stored is compiled again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "persist/store_queue.h"

#include <ingot/backend.h>
#include <signal.h>
#include <string.h>

#include "persist/events.h"
#include "persist/files.h"
#include "persist/memory.h"
#include "persist/process_end.h"
#include "persist/storage.h"
#include "util/cancellation.h"

#define MAX_COUNT 256u
#define MAX_BYTES ((size_t)64 << 20)

struct store_queue_item {
    struct store_queue_item *next;
    ingot_program_t program; /* holds its context, too */
    const struct ingot_context *context;
    size_t id_size;
    uint8_t id[];
};

static ingot_status_t init_conditions(struct store_queue *queue)
{
    if (pthread_cond_init(&queue->has_work, NULL) != 0)
        goto no_has_work;
    if (pthread_cond_init(&queue->is_done, NULL) != 0)
        goto no_is_done;
    return INGOT_SUCCESS;

no_is_done:
    pthread_cond_destroy(&queue->has_work);
no_has_work:
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no locks for a storage");
}

ingot_status_t store_queue_init(struct store_queue *queue)
{
    memset(queue, 0, sizeof(*queue));
    const ingot_status_t status = init_conditions(queue);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_status_t locked = process_lock_init(&queue->lock);
    if (locked != INGOT_SUCCESS) {
        pthread_cond_destroy(&queue->is_done);
        pthread_cond_destroy(&queue->has_work);
    }
    return locked;
}

static void forget(void *user)
{
    struct store_queue *queue = user;
    memcpy(queue->inherited, queue->lists, sizeof(queue->inherited));
    memset(queue->lists, 0, sizeof(queue->lists));
    queue->active_count = 0;
    queue->failure = INGOT_SUCCESS;
    queue->has_thread = queue->is_ending = false;
    (void)init_conditions(queue); /* cannot fail where they need no memory, as on Linux */
}

static void lock(struct store_queue *queue)
{
    process_lock_take(&queue->lock, forget, queue);
}

static void unlock(struct store_queue *queue)
{
    process_lock_give(&queue->lock);
}

/* Locked. The oldest item, which is then being worked; NULL: none. */
static struct store_queue_item *pop(struct store_queue *queue, enum store_queue_when when)
{
    struct store_queue_list *list = &queue->lists[when];
    struct store_queue_item *oldest = list->first;
    if (oldest == NULL)
        return NULL;
    list->first = oldest->next;
    if (oldest->next == NULL)
        list->last = NULL;
    --list->count;
    list->bytes -= oldest->id_size;
    ++queue->active_count;
    return oldest;
}

static void append(struct store_queue_list *list, struct store_queue_item *item)
{
    item->next = NULL;
    if (list->last != NULL)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    ++list->count;
    list->bytes += item->id_size;
}

/* Letting go of a program may call the driver, so that the storage's thread does not once the process is ending. */
static bool free_item(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread)
{
    const bool may_call = process_end_enter();
    if (may_call || !is_own_thread) {
        ingot_program_release(item->program);
        memory_free(&storage->allocator, item, sizeof(*item) + item->id_size);
    }
    if (may_call)
        process_end_leave();
    return may_call || !is_own_thread;
}

/* Locked when called and when it returns, not in between. false: nothing can be done any more; the item waits on. */
static bool work(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread)
{
    struct store_queue *queue = &storage->queue;
    unlock(queue);
    const int cancellation = cancellation_hold(); /* who flushes would wait for this item for ever */
    const struct ingot_context *before = events_enter(item->context);
    const ingot_status_t status =
        storage_take_and_store(storage, item->context, item->program, item->id_size, item->id);
    events_leave(before);
    const bool is_done = free_item(storage, item, is_own_thread);
    cancellation_allow(cancellation);
    lock(queue);
    if (!is_done)
        append(&queue->lists[STORE_QUEUE_SOON], item);
    if (queue->failure == INGOT_SUCCESS)
        queue->failure = status;
    if (--queue->active_count == 0)
        pthread_cond_broadcast(&queue->is_done);
    return is_done;
}

static void *run(void *user)
{
    ingot_storage_t storage = user;
    struct store_queue *queue = &storage->queue;
    lock(queue);
    while (!queue->is_ending) {
        struct store_queue_item *item = pop(queue, STORE_QUEUE_SOON);
        if (item == NULL || (!work(storage, item, true) && !queue->is_ending))
            process_lock_wait(&queue->lock, &queue->has_work);
    }
    unlock(queue);
    return NULL;
}

/* Locked. The thread takes no signals: they are the application's. */
static bool start_thread(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    sigset_t all;
    sigset_t before;
    if (queue->has_thread)
        return true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    queue->has_thread = pthread_create(&queue->thread, NULL, run, storage) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return queue->has_thread;
}

static struct store_queue_item *make_item(ingot_storage_t storage, const struct ingot_context *context,
                                          ingot_program_t program, size_t id_size, const uint8_t *id)
{
    struct store_queue_item *item = memory_allocate(&storage->allocator, sizeof(*item) + id_size);
    if (item == NULL || ingot_program_retain(program) != INGOT_SUCCESS) {
        memory_free(&storage->allocator, item, sizeof(*item) + id_size);
        return NULL;
    }
    *item = (struct store_queue_item){.program = program, .context = context, .id_size = id_size};
    memcpy(item->id, id, id_size);
    return item;
}

void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, enum store_queue_when when)
{
    struct store_queue *queue = &storage->queue;
    struct store_queue_list *list = &queue->lists[when];
    struct store_queue_item *item = make_item(storage, context, program, id_size, id);
    if (item == NULL) {
        events_tell_context(context, INGOT_EVENT_STORAGE_DEGRADED, INGOT_OUT_OF_MEMORY, 0, files_steady_clock_ns(),
                            "a program is not stored: no memory to remember it");
        return;
    }
    process_end_watch(context);
    lock(queue);
    append(list, item);
    const bool is_in_hands = when == STORE_QUEUE_AT_FLUSH || start_thread(storage);
    while (list->count != 0 && (!is_in_hands || list->count > MAX_COUNT || list->bytes > MAX_BYTES))
        (void)work(storage, pop(queue, when), false);
    if (when == STORE_QUEUE_SOON)
        pthread_cond_signal(&queue->has_work);
    unlock(queue);
}

ingot_status_t store_queue_flush(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    lock(queue);
    struct store_queue_item *item;
    /* an event's callback that flushes in the queue's thread would wait for itself */
    const bool is_own_thread = queue->has_thread && pthread_equal(queue->thread, pthread_self());
    for (;;) {
        while ((item = pop(queue, STORE_QUEUE_SOON)) != NULL || (item = pop(queue, STORE_QUEUE_AT_FLUSH)) != NULL)
            (void)work(storage, item, false);
        if (queue->active_count == 0 || is_own_thread)
            break;
        process_lock_wait(&queue->lock, &queue->is_done); /* after which an item may be back */
    }
    const ingot_status_t failure = queue->failure;
    queue->failure = INGOT_SUCCESS;
    unlock(queue);
    return failure;
}

void store_queue_fini(ingot_storage_t storage)
{
    struct store_queue *queue = &storage->queue;
    (void)store_queue_flush(storage);
    lock(queue);
    queue->is_ending = true;
    const bool has_thread = queue->has_thread;
    pthread_cond_broadcast(&queue->has_work);
    unlock(queue);
    if (has_thread)
        (void)pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->is_done);
    pthread_cond_destroy(&queue->has_work);
    process_lock_fini(&queue->lock);
}

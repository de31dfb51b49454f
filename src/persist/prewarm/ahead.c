/*
 * ahead.c - keeps the blobs that prewarms read ahead; see ahead.h.
 *
 * The lock is held for a few assignments, and never while a blob is read or released. A load waits for the blob of a
 * group that is being read, which costs less than reading it once more. It waits for at most MAX_WAIT_NS, because an
 * event callback in the prewarm's thread may itself wait for the loading thread. A forked child has no prewarms.
 */
#include "persist/prewarm/ahead.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"

#define MAX_WAIT_NS NS_PER_SECOND

static void forget(void *user)
{
    struct ahead *ahead = user;
    ahead->first = NULL;
    atomic_store_explicit(&ahead->count, 0, memory_order_relaxed);
    (void)process_lock_condition_init(&ahead->changed); /* on Linux it needs no memory and cannot fail */
}

void ahead_lock(struct ahead *ahead)
{
    process_lock_take(&ahead->lock, forget, ahead);
}

void ahead_unlock(struct ahead *ahead)
{
    process_lock_give(&ahead->lock);
}

void ahead_add(struct ahead *ahead, struct ingot_prewarm *prewarm)
{
    prewarm->next = ahead->first;
    ahead->first = prewarm;
    atomic_fetch_add_explicit(&ahead->count, 1, memory_order_relaxed);
}

void ahead_remove(struct ahead *ahead, const struct ingot_prewarm *prewarm)
{
    struct ingot_prewarm **place = &ahead->first;
    while (*place != prewarm)
        place = &(*place)->next;
    *place = prewarm->next;
    atomic_fetch_sub_explicit(&ahead->count, 1, memory_order_relaxed);
}

/* Finds an item of this id that is not gone. Requires the lock. */
static struct ahead_item *find(const struct ahead *ahead, size_t id_size, const uint8_t *id,
                               struct ingot_prewarm **prewarm)
{
    for (*prewarm = ahead->first; *prewarm != NULL; *prewarm = (*prewarm)->next) {
        const size_t number = manifest_find(&(*prewarm)->manifest, id_size, id);
        if (number != MANIFEST_NONE && (*prewarm)->items[number].state != AHEAD_GONE)
            return &(*prewarm)->items[number];
    }
    return NULL;
}

static bool may_wait(const struct ingot_prewarm *prewarm, uint64_t until_ns)
{
    return files_steady_clock_ns() < until_ns && !pthread_equal(prewarm->thread, pthread_self());
}

static bool take(struct storage_ahead *base, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct ahead *ahead = (struct ahead *)base;
    struct ingot_prewarm *prewarm;
    struct ahead_item *item;
    bool is_taken = false;
    if (atomic_load_explicit(&ahead->count, memory_order_relaxed) == 0)
        return false;
    const uint64_t until_ns = files_steady_clock_ns() + MAX_WAIT_NS;
    ahead_lock(ahead);
    while (!is_taken && (item = find(ahead, id_size, id, &prewarm)) != NULL) {
        if (item->state == AHEAD_ASKED && may_wait(prewarm, until_ns)) {
            process_lock_wait_until(&ahead->lock, &ahead->changed, until_ns);
            continue; /* the prewarm may be gone */
        }
        is_taken = item->state == AHEAD_READY;
        if (is_taken)
            *blob = item->blob;
        *(is_taken ? &prewarm->progress.taken : &prewarm->progress.overtaken) += 1;
        item->state = AHEAD_GONE;
    }
    ahead_unlock(ahead);
    return is_taken;
}

static void drop(struct storage_ahead *base, size_t id_size, const uint8_t *id)
{
    struct ahead *ahead = (struct ahead *)base;
    struct ingot_prewarm *prewarm;
    struct ahead_item *item;
    if (atomic_load_explicit(&ahead->count, memory_order_relaxed) == 0)
        return;
    ahead_lock(ahead);
    while ((item = find(ahead, id_size, id, &prewarm)) != NULL) {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        if (item->state == AHEAD_READY)
            blob = item->blob;
        else
            ++prewarm->progress.overtaken;
        item->state = AHEAD_GONE;
        ahead_unlock(ahead);
        memory_release_buffer(&blob);
        ahead_lock(ahead);
    }
    ahead_unlock(ahead);
}

/* Destroys the list. It is empty, because each prewarm holds a reference to the storage. */
static void destroy(void *part)
{
    struct ahead *ahead = part;
    const ingot_allocator_t allocator = ahead->allocator;
    process_lock_fini(&ahead->lock);
    pthread_cond_destroy(&ahead->changed);
    memory_free(&allocator, ahead, sizeof(*ahead));
}

static ingot_status_t create(const ingot_allocator_t *allocator, struct ahead **ahead)
{
    struct ahead *made = memory_allocate(allocator, sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a prewarm");
    *made = (struct ahead){.base = {take, drop}, .allocator = *allocator};
    ingot_status_t status = process_lock_init(&made->lock);
    if (status == INGOT_SUCCESS && !process_lock_condition_init(&made->changed)) {
        process_lock_fini(&made->lock);
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "a storage's locks could not be created");
    }
    if (status == INGOT_SUCCESS)
        *ahead = made;
    else
        memory_free(allocator, made, sizeof(*made));
    return status;
}

ingot_status_t ahead_make(ingot_storage_t storage, struct ahead **ahead)
{
    struct ahead *made = NULL;
    *ahead = storage_get_part(storage, STORAGE_AHEAD);
    if (*ahead != NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = create(storage_allocator(storage), &made);
    if (status != INGOT_SUCCESS)
        return status;
    *ahead = storage_add_part(storage, STORAGE_AHEAD, made, destroy);
    if (*ahead != made)
        destroy(made);
    return INGOT_SUCCESS;
}

/*
 * pending.c - programs that are begun, and who makes them; see ingot/pending.h.
 *
 * A thread that takes a program which somebody else compiles makes other begun programs meanwhile, each at most once.
 * It waits for nobody while it does so, so two threads never wait for each other. What it has made is kept for the one
 * who takes it.
 *
 * Locks: the lock of lock.h guards the list and the fields that are marked. It is never held while a program is made.
 */
#include "front/pending.h"

#include <ingot/private/wish.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "front/lock.h"
#include "persist/base/base.h"
#include "persist/storage/storage.h"
#include "util/error_text.h"
#include "util/limit.h"
#include "util/process_number.h"

#define SERVER_PAUSE_NS (100 * NS_PER_MS)
#define SHORTEST_PAUSE_NS NS_PER_MS
#define LONGEST_PAUSE_NS (20 * NS_PER_MS)
#define ROUND_UP(size) (((size) + 7) & ~(size_t)7) /* so that each part is aligned */

struct ingot_pending {
    struct ingot_pending *next; /* the cache's next begun program; the lock guards this and the next seven */
    struct ingot_cache *cache;  /* NULL: none, or it was released */
    ingot_status_t state;       /* that ingot_pending_poll returned last */
    unsigned long made_in;      /* the process of which another thread makes it now; 0: none */
    pthread_t maker;            /* that thread */
    bool is_made;               /* another thread has made it, and `self` keeps it */
    bool is_dropped;            /* by an event callback of the thread that makes it, which destroys it */
    uint64_t last_take;         /* the number of the last take that has made it or tried to */
    const struct pending_ops *ops;
    void *self;
    struct begun begun;
    bool has_wish;     /* the wish that begin has left, or found */
    uint64_t asked_ns; /* when servers were asked last */
    char why[256];     /* the detail of a state that is neither INGOT_SUCCESS nor INGOT_BUSY */
};

static void end_arguments(const struct pending_ops *ops, void *self)
{
    ops->forget(self);
    if (ops->release != NULL)
        ops->release(self);
    free(self);
}

static void destroy_pending(struct ingot_pending *pending)
{
    end_arguments(pending->ops, pending->self);
    free(pending->begun.id);
    free(pending);
}

/* True if another thread makes it. Its thread does not exist in a forked child. Requires the lock. */
static bool is_in_work(const struct ingot_pending *pending)
{
    return pending->made_in == process_number();
}

/* Takes it out of the list, if it is there. Requires the lock. */
static void delist_pending(struct ingot_pending *pending)
{
    struct ingot_pending **at = pending->cache != NULL ? &pending->cache->begun : NULL;
    while (at != NULL && *at != NULL && *at != pending)
        at = &(*at)->next;
    if (at != NULL && *at != NULL)
        *at = pending->next;
}

void pending_leave_cache(struct ingot_cache *cache)
{
    lock_take();
    for (struct ingot_pending *begun = cache->begun; begun != NULL; begun = begun->next)
        begun->cache = NULL;
    cache->begun = NULL;
    lock_give();
}

static void set_state(struct ingot_pending *pending, ingot_status_t state)
{
    error_text_copy(pending->why, sizeof(pending->why), ingot_last_error_detail());
    lock_take();
    pending->state = state;
    lock_give();
}

/* Returns the part's bytes, or NULL, and its size. */
static const void *find_part(const void *arguments, const struct pending_part *part, size_t *size)
{
    const void *bytes = NULL;
    memcpy(&bytes, (const uint8_t *)arguments + part->offset, sizeof(bytes));
    *size = bytes == NULL ? 0 : part->size == PENDING_TEXT ? strlen(bytes) : part->size;
    return bytes;
}

void *pending_copy(size_t size, const void *arguments, size_t count, const struct pending_part *parts)
{
    size_t total = size;
    size_t each = 0;
    for (size_t i = 0; i < count; ++i) {
        (void)find_part(arguments, &parts[i], &each);
        total += ROUND_UP(each + 1);
    }
    uint8_t *copy = malloc(total);
    if (copy == NULL)
        return NULL;
    memcpy(copy, arguments, size);
    uint8_t *to = copy + size;
    for (size_t i = 0; i < count; ++i) {
        const void *from = find_part(arguments, &parts[i], &each);
        if (from == NULL)
            continue;
        memcpy(to, from, each);
        to[each] = '\0';
        memcpy(copy + parts[i].offset, &to, sizeof(to));
        to += ROUND_UP(each + 1);
    }
    return copy;
}

ingot_status_t pending_begin(ingot_pending_t *out, struct ingot_cache *cache, const struct pending_ops *ops, void *self)
{
    struct request wanted;
    struct ingot_context *context = NULL;
    struct ingot_pending *pending = self != NULL ? calloc(1, sizeof(*pending)) : NULL;
    if (pending == NULL) {
        if (self != NULL)
            end_arguments(ops, self);
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a pending program");
    }
    *pending = (struct ingot_pending){.cache = cache, .ops = ops, .self = self};
    ingot_status_t status =
        cache_storage(cache) != NULL ? ops->open(self, cache, &wanted, &context) : cache_refuse(cache, INGOT_NOT_FOUND);
    if (status == INGOT_SUCCESS) /* looks for the program, and leaves a wish if it is missing */
        status = request_begin(cache, &wanted, context, &pending->begun);
    ingot_context_release(context);
    set_state(pending, status);
    pending->has_wish = pending->state == INGOT_BUSY;
    pending->asked_ns = files_steady_clock_ns();
    if (cache != NULL) {
        lock_take();
        struct ingot_pending **end = &cache->begun;
        while (*end != NULL)
            end = &(*end)->next;
        *end = pending;
        lock_give();
    }
    *out = pending;
    return INGOT_SUCCESS;
}

/* ---- polling ---- */

ingot_status_t ingot_pending_poll(ingot_pending_t pending)
{
    if (pending == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "pending is NULL");
    lock_take();
    const bool in_work = is_in_work(pending);
    const ingot_status_t state = pending->is_made ? INGOT_SUCCESS : pending->state;
    lock_give();
    if (state != INGOT_BUSY)
        return state == INGOT_SUCCESS ? state : ingot_set_error_detail(state, "%s", pending->why);
    if (in_work)
        return ingot_set_error_detail(INGOT_BUSY, "another thread compiles the program");
    const uint64_t now_ns = files_steady_clock_ns();
    const bool asks_all = now_ns - pending->asked_ns >= SERVER_PAUSE_NS;
    const struct begun *begun = &pending->begun;
    ingot_storage_t storage = cache_storage(pending->cache);
    if (storage == NULL)
        return cache_refuse(pending->cache, INGOT_NOT_FOUND);
    if (asks_all)
        pending->asked_ns = now_ns;
    if (storage_has(storage, asks_all, begun->id_size, begun->id))
        set_state(pending, INGOT_SUCCESS);
    else if (storage_is_hopeless(storage, begun->id_size, begun->id))
        set_state(pending, ingot_set_error_detail(INGOT_BUILD_FAILED, "somebody could not compile or store it"));
    else
        return ingot_set_error_detail(INGOT_BUSY, "the program is not there yet");
    return pending->state;
}

ingot_status_t ingot_pending_wait(ingot_pending_t pending, uint64_t max_time_ms)
{
    const uint64_t end_ns = limit_moment_ns(max_time_ms);
    uint64_t pause_ns = SHORTEST_PAUSE_NS;
    ingot_status_t status = ingot_pending_poll(pending);
    for (uint64_t now_ns; status == INGOT_BUSY && (now_ns = files_steady_clock_ns()) < end_ns;) {
        files_pause_ns(pause_ns < end_ns - now_ns ? pause_ns : end_ns - now_ns);
        pause_ns = 2 * pause_ns < LONGEST_PAUSE_NS ? 2 * pause_ns : LONGEST_PAUSE_NS;
        status = ingot_pending_poll(pending);
    }
    return status;
}

/* ---- sharing the work ---- */

/* Returns a begun program that this take should make, or NULL. Requires the lock. */
static struct ingot_pending *claim_other(struct ingot_cache *cache, uint64_t take)
{
    struct ingot_pending *other = cache != NULL ? cache->begun : NULL;
    while (other != NULL &&
           (other->state != INGOT_BUSY || other->is_made || is_in_work(other) || other->last_take >= take))
        other = other->next;
    if (other != NULL) {
        other->last_take = take;
        other->made_in = process_number();
        other->maker = pthread_self();
    }
    return other;
}

/* Makes it for the one who takes it, unless somebody else does. If it does not compile, its own take compiles it again
 * for the log. */
static void make_other(struct ingot_pending *other, struct ingot_cache *cache)
{
    const bool is_made = other->ops->get(other->self, cache, PROGRAM_TRY) == INGOT_SUCCESS;
    if (!is_made)
        other->ops->forget(other->self);
    lock_take();
    other->is_made = is_made;
    other->made_in = 0;
    const bool is_dropped = other->is_dropped;
    lock_wake();
    lock_give();
    if (is_dropped)
        destroy_pending(other);
}

/* Makes the program that is taken. While somebody else does, makes others, and waits once there are none. */
static ingot_status_t make_own(struct ingot_pending *pending, struct ingot_cache *cache, uint64_t take)
{
    ingot_status_t status = pending->ops->get(pending->self, cache, PROGRAM_TRY);
    bool has_others = true;
    while (status == INGOT_BUSY && has_others) {
        lock_take();
        struct ingot_pending *other = claim_other(cache, take);
        lock_give();
        has_others = other != NULL;
        if (has_others)
            make_other(other, cache);
        status = pending->ops->get(pending->self, cache, has_others ? PROGRAM_TRY : PROGRAM_WAIT);
    }
    return status;
}

/* Nobody needs to answer the wish any more. */
static void withdraw_wish(ingot_storage_t storage, const struct begun *begun)
{
    (void)ingot_persist_take_wish(storage, begun->id_size, begun->id); /* a chain and a server have none to take */
    for (size_t i = 0; storage_tier(storage, i) != NULL; ++i)
        withdraw_wish(storage_tier(storage, i), begun);
}

ingot_status_t pending_take(ingot_pending_t pending, const struct pending_ops *ops, void *out, ingot_origin_t *origin)
{
    static _Atomic uint64_t take_count; /* relaxed: only the order of numbers counts */
    if (out == NULL || pending == NULL || pending->ops != ops)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the place for the result or pending is NULL, or pending is of another backend");
    struct ingot_cache *cache = pending->cache;
    const uint64_t take = atomic_fetch_add_explicit(&take_count, 1, memory_order_relaxed) + 1;
    lock_take();
    delist_pending(pending);
    while (is_in_work(pending)) { /* makes others meanwhile, and waits if there are none */
        struct ingot_pending *other = claim_other(cache, take);
        if (other == NULL) {
            lock_wait();
            continue;
        }
        lock_give();
        make_other(other, cache);
        lock_take();
    }
    const bool is_made = pending->is_made;
    lock_give();
    const ingot_status_t status = is_made ? INGOT_SUCCESS : make_own(pending, cache, take);
    if (status == INGOT_SUCCESS && pending->has_wish && cache_storage(cache) != NULL)
        withdraw_wish(cache->storage, &pending->begun);
    ops->give(pending->self, status, out, origin);
    destroy_pending(pending);
    return status;
}

void ingot_pending_drop(ingot_pending_t pending)
{
    if (pending == NULL)
        return;
    lock_take();
    delist_pending(pending);
    /* Whoever makes it uses the application's context, which may end once this returns. */
    while (is_in_work(pending) && !pthread_equal(pending->maker, pthread_self()))
        lock_wait();
    pending->is_dropped = is_in_work(pending);
    const bool is_dropped = pending->is_dropped;
    lock_give();
    if (!is_dropped)
        destroy_pending(pending);
}

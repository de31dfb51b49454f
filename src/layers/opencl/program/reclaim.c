/*
 * reclaim.c - destroys shadows that nothing uses anymore; see reclaim.h.
 */
#include "layers/opencl/program/reclaim.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "front/lock.h"

#define MOST_OTHERS 16u

static atomic_size_t waiting_count; /* number of waiting shadows; written only by threads that hold the lock */
/* The list of waiting shadows, guarded by the lock. The shadow that was tried last is at the end. */
static struct shadow *first_waiting;
static struct shadow *last_waiting;

bool reclaim_is_due(void)
{
    return atomic_load_explicit(&waiting_count, memory_order_relaxed) > 0;
}

/* Adds a shadow to the list. Requires the lock, like the next function. */
static void begin_waiting(struct shadow *shadow)
{
    shadow->previous_waiting = last_waiting;
    shadow->next_waiting = NULL;
    *(last_waiting != NULL ? &last_waiting->next_waiting : &first_waiting) = shadow;
    last_waiting = shadow;
    (void)atomic_fetch_add_explicit(&waiting_count, 1, memory_order_relaxed);
}

static void end_waiting(struct shadow *shadow)
{
    struct shadow *previous = shadow->previous_waiting;
    struct shadow *next = shadow->next_waiting;
    *(previous != NULL ? &previous->next_waiting : &first_waiting) = next;
    *(next != NULL ? &next->previous_waiting : &last_waiting) = previous;
    (void)atomic_fetch_sub_explicit(&waiting_count, 1, memory_order_relaxed);
}

void reclaim_retain(struct shadow *shadow)
{
    lock_take();
    if (shadow->references++ == 0)
        end_waiting(shadow);
    lock_give();
}

bool reclaim_release(struct shadow *shadow)
{
    lock_take();
    const cl_uint before = shadow->references;
    if (before > 0)
        --shadow->references;
    if (before == 1)
        begin_waiting(shadow);
    lock_give();
    return before > 0;
}

/* If the shadow waits and no other thread needs it, marks it as busy and returns it. Otherwise, returns NULL. Requires
 * the lock. */
static struct shadow *begin_reclaiming(struct shadow *shadow)
{
    if (shadow == NULL || shadow->references > 0)
        return NULL;
    end_waiting(shadow); /* the shadow goes to the end of the list */
    begin_waiting(shadow);
    if (shadow->pin_count > 0)
        return NULL;
    if (shadow->is_busy) {
        shadow->is_to_retry = true;
        return NULL;
    }
    shadow->is_busy = true;
    return shadow;
}

/* Ends what `begin_reclaiming` began. If nothing uses the shadow anymore, removes it from all tables, so that no other
 * thread can reach it, and returns true. Otherwise, sets *is_to_retry if another thread tried to destroy the shadow in
 * the meantime, because the uses may have ended after they were counted. The shadow then stays busy, and this thread
 * must try again. */
static bool end_reclaiming(struct shadow *shadow, bool is_used, bool *is_to_retry)
{
    lock_take();
    const bool is_over = !is_used && shadow->references == 0 && shadow->pin_count == 0;
    if (is_over) {
        shadow_forget(shadow);
        end_waiting(shadow);
    }
    *is_to_retry = !is_over && shadow->is_to_retry;
    shadow->is_busy = *is_to_retry;
    shadow->is_to_retry = false;
    lock_wake();
    lock_give();
    return is_over;
}

/* Destroys a busy shadow if nothing uses it anymore. Does nothing if shadow is NULL. */
static void destroy_if_unused(struct shadow *shadow)
{
    bool is_to_retry = false;
    bool is_over = false;
    if (shadow == NULL)
        return;
    do {
        is_over = end_reclaiming(shadow, shadow_count_uses(shadow) > 0, &is_to_retry);
    } while (is_to_retry);
    if (is_over)
        shadow_destroy(shadow);
}

/* Tries to destroy up to `most` waiting shadows, beginning with those that were tried longest ago. */
static void reclaim_some(size_t most)
{
    const size_t count = atomic_load_explicit(&waiting_count, memory_order_relaxed);
    for (size_t i = 0; i < count && i < most; ++i) {
        lock_take();
        struct shadow *shadow = begin_reclaiming(first_waiting);
        lock_give();
        destroy_if_unused(shadow);
    }
}

void reclaim_try(cl_program program)
{
    if (!reclaim_is_due())
        return;
    lock_take();
    struct shadow *shadow = begin_reclaiming(handles_find(program));
    lock_give();
    destroy_if_unused(shadow);
    reclaim_some(MOST_OTHERS);
}

void reclaim_try_all(void)
{
    reclaim_some(SIZE_MAX);
}

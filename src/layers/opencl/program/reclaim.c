/*
 * reclaim.c - destroys shadows that nothing uses anymore; see reclaim.h.
 *
 * When the last shadow with a result is gone, no program that waits to be stored can be launched anymore, so the layer
 * stores (flushes) all such programs. It does not do so earlier, because a driver such as PoCL crashes if a program is
 * launched for the first time while the driver generates its binary. All these flushes and the exit of the process
 * together take at most the store's exit time: each flush takes its own time off it.
 */
#include "layers/opencl/program/reclaim.h"

#include <ingot/persist.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "cache/lock.h"
#include "layers/common/settings.h"
#include "layers/common/statistics.h"
#include "layers/opencl/program/exit_time.h"

#define NS_PER_MS 1000000u
#define MOST_OTHERS 16u

static atomic_size_t waiting_count; /* number of waiting shadows; written only by threads that hold the lock */
/* The list of waiting shadows, guarded by the lock. The shadow that was tried last is at the end. */
static struct shadow *first_waiting;
static struct shadow *last_waiting;
static atomic_bool is_ending; /* true if the process is ending; the store then flushes itself */

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

static ingot_status_t continue_flush(const ingot_persist_flush_progress_t *so_far, void *user)
{
    (void)so_far;
    (void)user;
    return shadow_has_any_result() ? INGOT_BUSY : INGOT_SUCCESS;
}

static void note_end(void)
{
    atomic_store_explicit(&is_ending, true, memory_order_relaxed);
}

void reclaim_init(void)
{
    exit_time_begin();
    (void)atexit(note_end);
}

/* Flushes within the exit time that is left. If two threads flush at the same time, both times are taken off. */
static void flush_store(void)
{
    ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
    if (atomic_load_explicit(&is_ending, memory_order_relaxed))
        return;
    info.max_time_ms = exit_time_spend(0);
    if (info.max_time_ms == INGOT_NONE)
        return;
    info.on_progress = continue_flush;
    const uint64_t started_ns = statistics_clock_ns();
    (void)ingot_persist_flush(settings_store(), &info, NULL);
    (void)exit_time_spend((statistics_clock_ns() - started_ns) / NS_PER_MS);
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
static bool destroy_if_unused(struct shadow *shadow)
{
    bool is_to_retry = false;
    bool is_over = false;
    if (shadow == NULL)
        return false;
    do {
        is_over = end_reclaiming(shadow, shadow_count_uses(shadow) > 0, &is_to_retry);
    } while (is_to_retry);
    if (is_over)
        shadow_destroy(shadow);
    return is_over;
}

static bool reclaim_program(cl_program program)
{
    lock_take();
    struct shadow *shadow = begin_reclaiming(handles_find(program));
    lock_give();
    return destroy_if_unused(shadow);
}

/* Tries to destroy up to `most` waiting shadows, beginning with those that were tried longest ago. */
static bool reclaim_some(size_t most)
{
    const size_t count = atomic_load_explicit(&waiting_count, memory_order_relaxed);
    bool has_reclaimed = false;
    for (size_t i = 0; i < count && i < most; ++i) {
        lock_take();
        struct shadow *shadow = begin_reclaiming(first_waiting);
        lock_give();
        has_reclaimed |= destroy_if_unused(shadow);
    }
    return has_reclaimed;
}

void reclaim_try(cl_program program)
{
    if (!reclaim_is_due())
        return;
    const bool has_reclaimed = reclaim_program(program);
    if ((reclaim_some(MOST_OTHERS) || has_reclaimed) && !shadow_has_any_result())
        flush_store();
}

void reclaim_try_all(void)
{
    if (reclaim_some(SIZE_MAX) && !shadow_has_any_result())
        flush_store();
}

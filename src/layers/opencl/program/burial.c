/*
 * burial.c - the end of shadows.
 *
 * When the last shadow with a result has ended, no waiting program can be launched, and they are stored: a driver such
 * as PoCL generates code at the launch, and must not be asked for a program that is launched for the first time. These
 * flushes take, together, at most the time that the store has while the process exits.
 */
#include "layers/opencl/program/burial.h"

#include <ingot/persist.h>

#include <stdatomic.h>

#include "layers/opencl/lock.h"
#include "layers/opencl/settings.h"
#include "layers/opencl/statistics.h"

#define DEFAULT_EXIT_TIME_MS 5000u
#define NS_PER_MS 1000000u
#define MOST_AT_ONCE 64u

static atomic_size_t waiting_count; /* changed under the lock */
static _Atomic uint64_t flush_ns;   /* of all flushes */

bool burial_is_due(void)
{
    return atomic_load_explicit(&waiting_count, memory_order_relaxed) > 0;
}

static int is_waiting(const struct shadow *shadow)
{
    return shadow->references == 0;
}

static int has_result(const struct shadow *shadow)
{
    return shadow->result != NULL;
}

static bool has_results(void)
{
    struct shadow *found = NULL;
    lock_take();
    const size_t count = handles_select(1, &found, has_result);
    lock_release();
    return count > 0;
}

static int continue_flush(const ingot_persist_flush_progress_t *so_far, void *user)
{
    (void)so_far;
    (void)user;
    return !has_results();
}

static void flush(void)
{
    ingot_persist_storing_t storing = INGOT_PERSIST_STORING_INIT;
    ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
    ingot_storage_t store = settings_open_store();
    const uint64_t spent_ns = atomic_load_explicit(&flush_ns, memory_order_relaxed);
    if (store == NULL || ingot_persist_get_storing(store, &storing) != INGOT_SUCCESS ||
        storing.exit_time_ms == INGOT_PERSIST_NO_TIME)
        return;
    const uint64_t most_ms = storing.exit_time_ms != 0 ? storing.exit_time_ms : DEFAULT_EXIT_TIME_MS;
    if (spent_ns >= most_ms * NS_PER_MS)
        return;
    info.max_time_ns = most_ms * NS_PER_MS - spent_ns;
    info.on_progress = continue_flush;
    const uint64_t started_ns = statistics_clock_ns();
    (void)ingot_persist_flush_with(store, &info, NULL);
    (void)atomic_fetch_add_explicit(&flush_ns, statistics_clock_ns() - started_ns, memory_order_relaxed);
}

void burial_retain(struct shadow *shadow)
{
    lock_take();
    if (shadow->references++ == 0)
        (void)atomic_fetch_sub_explicit(&waiting_count, 1, memory_order_relaxed);
    lock_release();
}

bool burial_release(struct shadow *shadow)
{
    lock_take();
    const cl_uint before = shadow->references;
    if (before > 0)
        --shadow->references;
    if (before == 1)
        (void)atomic_fetch_add_explicit(&waiting_count, 1, memory_order_relaxed);
    lock_release();
    return before > 0;
}

/* Returns the shadow, busy, if it waits. */
static struct shadow *begin(const void *key)
{
    lock_take();
    struct shadow *shadow = handles_find(key);
    if (shadow != NULL && (shadow->references > 0 || shadow->is_busy))
        shadow = NULL;
    if (shadow != NULL)
        shadow->is_busy = true;
    lock_release();
    return shadow;
}

/* True: no other thread can reach the shadow any more. */
static bool end(struct shadow *shadow, bool is_used)
{
    lock_take();
    const bool is_over = !is_used && shadow->references == 0 && shadow->pin_count == 0;
    if (is_over) {
        handles_remove(&shadow->by_shadow);
        handles_remove(&shadow->by_native);
        handles_remove(&shadow->by_result);
        (void)atomic_fetch_sub_explicit(&waiting_count, 1, memory_order_relaxed);
    }
    shadow->is_busy = false;
    lock_wake();
    lock_release();
    return is_over;
}

static void bury(const void *key)
{
    struct shadow *shadow = begin(key);
    if (shadow == NULL || !end(shadow, shadow_count_uses(shadow) > 0))
        return;
    shadow_destroy(shadow);
    if (!has_results())
        flush();
}

void burial_try(cl_program native)
{
    bury(native);
}

void burial_try_all(void)
{
    struct shadow *found[MOST_AT_ONCE];
    if (!burial_is_due())
        return;
    lock_take();
    const size_t count = handles_select(MOST_AT_ONCE, found, is_waiting);
    lock_release();
    for (size_t i = 0; i < count; ++i)
        bury(found[i]);
}

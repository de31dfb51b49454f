/*
 * build_permit.c - waits for a place for a compilation; see build_permit.h.
 *
 * The wait polls, because the kernel's wait for a file lock has no deadline. A thread that has a place, and compiles
 * another program meanwhile, does not wait for a second one, because two threads could then wait for each other.
 */
#include "persist/storage/turns/build_permit.h"

#include <stdio.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/storage/common/build_locks.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/state.h"
#include "persist/storage/turns/build_turn.h"
#include "util/nanoseconds.h"

#define SHORTEST_PAUSE_NS NS_PER_MS
#define LONGEST_PAUSE_NS (20 * NS_PER_MS)
#define PAUSES_OF_WAIT 16u

struct build_permit {
    ingot_storage_t store; /* a reference */
    struct build_place *place;
};

static _Thread_local unsigned own_permits;

static void tell_timeout(ingot_storage_t store, uint64_t began_ns)
{
    char reason[160];
    (void)snprintf(reason, sizeof(reason),
                   "no place for a compilation became free within %llu ms, so the program is compiled without one; see "
                   "build_jobs and build_wait_ms",
                   (unsigned long long)((files_steady_clock_ns() - began_ns) / NS_PER_MS));
    events_tell(store->on_event, store->on_event_user, INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY, 0, began_ns, "",
                reason);
}

static void wait_for_place(const struct build_permit *permit)
{
    const struct build_locks *locks = permit->store->build_locks;
    const uint64_t began_ns = files_steady_clock_ns();
    const uint64_t wait_ns = locks->wait_ns(permit->store->self);
    const uint64_t until_ns = began_ns + (wait_ns != 0 ? wait_ns : BUILD_TURN_LONGEST_WAIT_NS);
    while (!locks->has_place(permit->place)) {
        const uint64_t now_ns = files_steady_clock_ns();
        if (now_ns >= until_ns) {
            tell_timeout(permit->store, began_ns);
            return;
        }
        uint64_t pause_ns = (now_ns - began_ns) / PAUSES_OF_WAIT;
        pause_ns = pause_ns < SHORTEST_PAUSE_NS ? SHORTEST_PAUSE_NS : pause_ns;
        pause_ns = pause_ns > LONGEST_PAUSE_NS ? LONGEST_PAUSE_NS : pause_ns;
        files_pause_ns(pause_ns < until_ns - now_ns ? pause_ns : until_ns - now_ns);
    }
}

struct build_permit *build_permit_take(ingot_storage_t storage)
{
    bool is_stored_to = true;
    ingot_storage_t store = own_permits == 0 ? build_turn_take_store(storage, &is_stored_to) : NULL;
    struct build_place *place = store != NULL ? store->build_locks->ask_place(store->self) : NULL;
    struct build_permit *permit = place != NULL ? memory_allocate(&store->allocator, sizeof(*permit)) : NULL;
    if (permit == NULL) {
        if (place != NULL)
            store->build_locks->leave_place(place);
        ingot_storage_release(store);
        return NULL;
    }
    *permit = (struct build_permit){store, place};
    ++own_permits;
    wait_for_place(permit);
    return permit;
}

void build_permit_give(struct build_permit *permit)
{
    if (permit == NULL)
        return;
    ingot_storage_t store = permit->store;
    --own_permits;
    store->build_locks->leave_place(permit->place);
    memory_free(&store->allocator, permit, sizeof(*permit));
    ingot_storage_release(store);
}

/*
 * load_many.c - loads several blobs from the server, in groups; see load.h.
 *
 * To the guard, each blob is a request with its own time and result. So a batch that fails loses as much time, and
 * counts as many failures, as the same loads in parallel threads would. Results are delivered while no request is under
 * way, because the receiver may be slow.
 *
 * Objects that share a slow network must not make one another miss their deadlines. So the first group has few objects,
 * and the next group has more if this one was quick. In a group, an object may have at most OBJECT_LIMIT bytes, so that
 * the memory of a group is bounded. A larger object is loaded alone, and so are the following objects, until they are
 * smaller again.
 */
#include <ingot/backend.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/load.h"
#include "util/cancellation.h"

#define MOST 16u
#define OBJECT_LIMIT (size_t)1048576u

struct batch {
    struct tier *tier;
    const ingot_storage_id_t *ids;
    size_t count; /* number of ids */
    size_t next;  /* the first id that has not been examined yet */
    ingot_storage_on_loaded_t on_loaded;
    void *user;
    bool is_ended;     /* on_loaded stopped the load */
    size_t most;       /* the most objects in a group; at most MOST */
    size_t group_size; /* objects in the next group, adapted to the server's speed */
    size_t asked_count;
    size_t asked[MOST]; /* indices (in ids) of the ids that the server must be asked for */
    char keys[MOST][OBJECT_KEY_CAPACITY];
    struct fetch fetches[MOST];
};

static void deliver(struct batch *batch, size_t number, ingot_status_t status, ingot_buffer_t *blob)
{
    if (batch->on_loaded(number, status, blob, batch->user) != INGOT_SUCCESS)
        batch->is_ended = true;
}

/* ---- before a group ---- */

/* Adds ids to those that the previous group left over. Delivers the results for ids that need no request. */
static void collect(struct batch *batch)
{
    while (!batch->is_ended && batch->asked_count < batch->group_size && batch->next < batch->count) {
        const ingot_storage_id_t *id = &batch->ids[batch->next];
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        ingot_status_t status = INGOT_SUCCESS;
        if (load_here(batch->tier, id->size, id->bytes, &blob, &status))
            deliver(batch, batch->next, status, &blob);
        else
            batch->asked[batch->asked_count++] = batch->next;
        ++batch->next;
    }
}

/* Removes ids from the front of the list of ids to ask for. */
static void drop_asked(struct batch *batch, size_t count)
{
    batch->asked_count -= count;
    memmove(batch->asked, batch->asked + count, batch->asked_count * sizeof(batch->asked[0]));
}

/* Asks the guard to admit the group. Returns how many requests it admitted. If it admitted none, delivers a failure for
 * the first id. */
static size_t admit(struct batch *batch)
{
    struct tier *tier = batch->tier;
    const uint64_t now_ns = clock_now_ns();
    const size_t wanted = batch->asked_count < batch->group_size ? batch->asked_count : batch->group_size;
    for (size_t i = 0; i < wanted; ++i) {
        const ingot_storage_id_t *id = &batch->ids[batch->asked[i]];
        struct fetch *fetch = &batch->fetches[i];
        const size_t max_size = envelope_max_size(id->size, tier->max_blob_bytes);
        *fetch = (struct fetch){.key = batch->keys[i],
                                .max_size = wanted > 1 && max_size > OBJECT_LIMIT ? OBJECT_LIMIT : max_size,
                                .request = tier_make_request(tier),
                                .began_ns = now_ns};
        const enum guard_verdict verdict = tier_admit(tier, &fetch->request, now_ns);
        if (verdict != GUARD_PASS && i == 0) {
            ingot_buffer_t none = INGOT_BUFFER_INIT;
            deliver(batch, batch->asked[0], load_skip(tier, verdict), &none);
            drop_asked(batch, 1);
        }
        if (verdict != GUARD_PASS)
            return i;
        tier_end_with_pause(&fetch->request);
        object_key_of(tier->name_space, id->size, id->bytes, batch->keys[i]);
    }
    return wanted;
}

/* ---- after a group ---- */

static bool is_too_large_for_group(const struct batch *batch, size_t index)
{
    const struct fetch *fetch = &batch->fetches[index];
    const size_t id_size = batch->ids[batch->asked[index]].size;
    return fetch->outcome == OUTCOME_TOO_LARGE &&
           fetch->max_size < envelope_max_size(id_size, batch->tier->max_blob_bytes);
}

/* Returns how many objects the next group may have. If each takes as long as in this group, all of them together must
 * take at most the time that a miss may take, and at most half of the time after which a load fails. */
static size_t next_group_size(const struct batch *batch, size_t count)
{
    const struct fetch *first = &batch->fetches[0];
    const uint64_t begin_ns = first->began_ns;
    const uint64_t slow_ns = guard_fair_miss_ns(&batch->tier->guard);
    const uint64_t half_ns = (first->request.deadline_ns - begin_ns) / 2;
    const uint64_t limit_ns = slow_ns < half_ns ? slow_ns : half_ns;
    uint64_t time_ns = 1;
    for (size_t i = 0; i < count; ++i) {
        const struct fetch *fetch = &batch->fetches[i];
        const bool is_fine = fetch->outcome == OUTCOME_DONE || fetch->outcome == OUTCOME_MISSING;
        if (!is_fine || (fetch->outcome == OUTCOME_DONE && fetch->object.size > OBJECT_LIMIT))
            return 1;
        if (fetch->ended_ns > begin_ns + time_ns)
            time_ns = fetch->ended_ns - begin_ns;
    }
    const uint64_t room = limit_ns / time_ns > MOST ? MOST : count * limit_ns / time_ns;
    size_t size = count < batch->group_size ? batch->group_size : 2 * batch->group_size;
    if (size > batch->most)
        size = batch->most;
    if (size > room)
        size = room != 0 ? (size_t)room : 1;
    return size;
}

/* Delivers the results of the first `count` fetches. Continues even if the receiver wants no more, because the objects
 * have already been loaded. */
static void deliver_group(struct batch *batch, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t number = batch->asked[i];
        const ingot_storage_id_t *id = &batch->ids[number];
        struct fetch *fetch = &batch->fetches[i];
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        if (!is_too_large_for_group(batch, i)) {
            deliver(batch, number, load_settle(batch->tier, fetch, id->size, id->bytes, &blob), &blob);
            continue;
        }
        tier_settle(batch->tier, BREAKER_WORKS, guard_fair_hit_ns(&batch->tier->guard, 0), fetch->began_ns,
                    fetch->ended_ns, "");
        if (!batch->is_ended)
            deliver(batch, number, load_from_server(batch->tier, id->size, id->bytes, &blob), &blob);
    }
    drop_asked(batch, count);
}

static void load_group(struct batch *batch)
{
    const struct transport *transport = &batch->tier->transport;
    collect(batch);
    if (batch->is_ended || batch->asked_count == 0)
        return;
    const size_t admitted_count = admit(batch);
    if (admitted_count == 0)
        return;
    const size_t count = transport->ops->get(transport->self, admitted_count, batch->fetches);
    tier_leave(batch->tier, (unsigned)admitted_count);
    batch->group_size = next_group_size(batch, count);
    deliver_group(batch, count);
}

void tier_load_many(void *self, size_t count, const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded,
                    void *user)
{
    struct tier *tier = self;
    struct batch batch; /* not initialized as a whole, because it is large */
    const int cancellation = cancellation_hold();
    batch.tier = tier;
    batch.ids = ids;
    batch.count = count;
    batch.next = 0;
    batch.on_loaded = on_loaded;
    batch.user = user;
    batch.is_ended = false;
    batch.most = tier->transport.ops->most < MOST ? tier->transport.ops->most : MOST;
    batch.group_size = atomic_load_explicit(&tier->group_size, memory_order_relaxed);
    batch.asked_count = 0;
    while (!batch.is_ended && (batch.next < count || batch.asked_count != 0))
        load_group(&batch);
    atomic_store_explicit(&tier->group_size, batch.group_size, memory_order_relaxed);
    cancellation_allow(cancellation);
}

/*
 * load.c - loads blobs from the server, in groups; see load.h. A single load is a group of one.
 *
 * To the circuit breaker, each blob is a request with its own time and result. So a batch that fails loses as much
 * time, and counts as many failures, as the same loads in parallel threads would. Results are delivered while no
 * request is under way, because the receiver may be slow.
 *
 * Objects that share a slow network must not make one another miss their deadlines. So the first group has few objects,
 * and the next group has more if this one was quick. In a group, an object may have at most OBJECT_LIMIT bytes, so that
 * the memory of a group is bounded. A larger object is asked for again, alone, and so are the following objects, until
 * they are smaller again.
 */
#include "remote/tier/load.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/tier.h"
#include "remote/tier/worker.h"

#define MOST 16u
#define OBJECT_LIMIT (size_t)1048576u
#define BYTES_PER_SECOND UINT64_C(16777216) /* a slower transfer counts as lost time */

/* ---- buffers ---- */

static void release_bytes(ingot_buffer_t *buffer)
{
    free(buffer->owner);
}

/* Hands over the blob together with the memory that contains it. */
static void hand_over(ingot_buffer_t *object, const struct envelope_blob *found, ingot_buffer_t *blob)
{
    *blob = (ingot_buffer_t){found->size, found->bytes, object->release, object->owner};
    if (found->unpacked != NULL) {
        object->release(object);
        blob->release = release_bytes;
        blob->owner = found->unpacked;
    }
}

/* ---- the server ---- */

ingot_status_t tier_skip(struct tier *tier, enum tier_verdict verdict)
{
    TIER_COUNT(tier, skipped, 1);
    if (verdict == TIER_IS_IN_EXIT)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier is off because the process is ending");
    if (verdict == TIER_IS_PAUSED) {
        (void)worker_ensure(
            tier); /* the thread that probes the server may be missing, because memory ran out earlier */
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier's server failed and is not asked now");
    }
    if (!atomic_exchange_explicit(&tier->has_told_no_time, true, memory_order_relaxed))
        tier_tell(tier, INGOT_IO_ERROR, 0,
                  "the remote tier's server is not asked: failed and slow loads took all the time that may be lost");
    return ingot_set_error_detail(INGOT_NOT_FOUND,
                                  "failed and slow loads took all the time that the remote tier may lose");
}

/* Returns what an unusable object shows about the server. An object that is only too new or too large does not count
 * against the server. */
static enum breaker_finding finding_of_object(ingot_status_t status)
{
    const bool is_bad = status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_MISMATCH;
    return is_bad ? BREAKER_DOUBTFUL : BREAKER_WORKS;
}

void tier_settle(struct tier *tier, enum breaker_finding finding, uint64_t fair_ns, uint64_t began_ns,
                 uint64_t ended_ns, const char *reason)
{
    if (ended_ns - began_ns > fair_ns)
        tier_lose(tier, began_ns, ended_ns);
    if (!tier_note(tier, TIER_LOADS, finding, ended_ns, reason))
        return;
    (void)worker_ensure(tier);
    upload_queue_wake(&tier->queue); /* the tier's thread must find out when the next probe is due */
}

void tier_settle_outcome(struct tier *tier, enum outcome outcome, uint64_t began_ns, uint64_t ended_ns,
                         const char *reason)
{
    const bool works = outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING || outcome == OUTCOME_NO_MEMORY;
    tier_settle(tier, tier_finding_of(outcome), works ? tier_fair_miss_ns(tier) : 0, began_ns, ended_ns, reason);
}

/* Returns how long a request may take that receives so many bytes, before its time counts as lost. */
static uint64_t fair_hit_ns(const struct tier *tier, uint64_t byte_count)
{
    return tier->slow_ns + byte_count * CLOCK_NS_PER_S / BYTES_PER_SECOND;
}

static ingot_status_t take_object(struct tier *tier, struct fetch *fetch, const ingot_storage_id_t *id,
                                  ingot_buffer_t *blob)
{
    struct envelope_blob found = {.size = 0};
    ingot_buffer_t *object = &fetch->object;
    const size_t byte_count = object->size;
    const ingot_status_t status =
        envelope_decode(object->size, object->bytes, id->size, id->bytes, tier->max_blob_bytes, &found);
    if (status != INGOT_SUCCESS) {
        object->release(object);
        tier_settle(tier, finding_of_object(status), 0, fetch->began_ns, fetch->ended_ns, ingot_last_error_detail());
        TIER_COUNT(tier, failures, 1);
        TIER_COUNT(tier, bad_objects, 1);
        return status;
    }
    hand_over(object, &found, blob);
    tier_settle(tier, BREAKER_WORKS, fair_hit_ns(tier, byte_count), fetch->began_ns, fetch->ended_ns, "");
    TIER_COUNT(tier, hits, 1);
    TIER_COUNT(tier, loaded_bytes, byte_count);
    return INGOT_SUCCESS;
}

ingot_status_t tier_conclude(struct tier *tier, enum outcome outcome, const struct request *request, uint64_t began_ns,
                             uint64_t ended_ns)
{
    tier_settle_outcome(tier, outcome, began_ns, ended_ns, request->failure);
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    if (outcome == OUTCOME_MISSING) {
        TIER_COUNT(tier, misses, 1);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier does not have the blob");
    }
    tier_count_failure(tier, outcome);
    return ingot_set_error_detail(tier_status_of(outcome), "asking the remote tier: %s", request->failure);
}

/* Turns a request that has ended into the result of the load. */
static ingot_status_t settle_fetch(struct tier *tier, struct fetch *fetch, const ingot_storage_id_t *id,
                                   ingot_buffer_t *blob)
{
    return fetch->outcome == OUTCOME_DONE
               ? take_object(tier, fetch, id, blob)
               : tier_conclude(tier, fetch->outcome, &fetch->request, fetch->began_ns, fetch->ended_ns);
}

/* Loads a blob from the pending uploads. Returns false if there is none for this id. */
static bool load_upload(struct tier *tier, const ingot_storage_id_t *id, ingot_buffer_t *blob, ingot_status_t *status)
{
    size_t size = 0;
    uint8_t *bytes = NULL;
    if (!upload_queue_find(&tier->queue, id->size, id->bytes, &size, &bytes))
        return false;
    if (bytes != NULL) {
        TIER_COUNT(tier, hits, 1);
        *blob = (ingot_buffer_t){.size = size, .bytes = bytes, .release = release_bytes, .owner = bytes};
        *status = INGOT_SUCCESS;
    } else if (size != 0) {
        TIER_COUNT(tier, failures, 1);
        *status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", size);
    } else {
        TIER_COUNT(tier, misses, 1);
        *status = ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
    }
    return true;
}

/* Does the same, or sets a failure if the server must not be asked for this id. Returns false if it must be asked. */
static bool load_here(struct tier *tier, const ingot_storage_id_t *id, ingot_buffer_t *blob, ingot_status_t *status)
{
    if (id->size <= ENVELOPE_MAX_ID_SIZE)
        return load_upload(tier, id, blob, status);
    *status = ingot_set_error_detail(INGOT_NOT_FOUND, "the id has %zu bytes, too many for a remote tier", id->size);
    return true;
}

/* ---- groups ---- */

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

static void deliver_result(struct batch *batch, size_t number, ingot_status_t status, ingot_buffer_t *blob)
{
    if (batch->on_loaded(number, status, blob, batch->user) != INGOT_SUCCESS)
        batch->is_ended = true;
}

/* ---- before a group ---- */

/* Adds ids to those that the previous group left over. Delivers the results for ids that need no request. */
static void fill_group(struct batch *batch)
{
    while (!batch->is_ended && batch->asked_count < batch->group_size && batch->next < batch->count) {
        const ingot_storage_id_t *id = &batch->ids[batch->next];
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        ingot_status_t status = INGOT_SUCCESS;
        if (load_here(batch->tier, id, &blob, &status))
            deliver_result(batch, batch->next, status, &blob);
        else
            batch->asked[batch->asked_count++] = batch->next;
        ++batch->next;
    }
}

/* Removes `count` ids from the list of ids to ask for. */
static void drop_asked(struct batch *batch, size_t first, size_t count)
{
    batch->asked_count -= count;
    memmove(batch->asked + first, batch->asked + first + count, (batch->asked_count - first) * sizeof(batch->asked[0]));
}

/* Asks for admission of the group. Returns how many requests were admitted. If none was, delivers a failure for
 * the first id. */
static size_t admit_group(struct batch *batch)
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
        const enum tier_verdict verdict = tier_admit(tier, &fetch->request, now_ns);
        if (verdict != TIER_PASS && i == 0) {
            ingot_buffer_t none = INGOT_BUFFER_INIT;
            deliver_result(batch, batch->asked[0], tier_skip(tier, verdict), &none);
            drop_asked(batch, 0, 1);
        }
        if (verdict != TIER_PASS)
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
    const uint64_t slow_ns = tier_fair_miss_ns(batch->tier);
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
 * have already been loaded. Ids whose objects were too large for the group remain to be asked for. */
static void deliver_group(struct batch *batch, size_t count)
{
    size_t kept_count = 0;
    for (size_t i = 0; i < count; ++i) {
        const size_t number = batch->asked[i];
        const ingot_storage_id_t *id = &batch->ids[number];
        struct fetch *fetch = &batch->fetches[i];
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        if (!is_too_large_for_group(batch, i)) {
            deliver_result(batch, number, settle_fetch(batch->tier, fetch, id, &blob), &blob);
            continue;
        }
        tier_settle(batch->tier, BREAKER_WORKS, fair_hit_ns(batch->tier, 0), fetch->began_ns, fetch->ended_ns, "");
        batch->asked[kept_count++] = number;
    }
    drop_asked(batch, kept_count, count - kept_count);
}

static void load_group(struct batch *batch)
{
    const struct transport *transport = &batch->tier->transport;
    fill_group(batch);
    if (batch->is_ended || batch->asked_count == 0)
        return;
    const size_t admitted_count = admit_group(batch);
    if (admitted_count == 0)
        return;
    const size_t count = transport->ops->get(transport->self, admitted_count, batch->fetches);
    tier_leave(batch->tier, (unsigned)admitted_count);
    if (admitted_count == 1)
        batch->fetches[0].ended_ns = clock_now_ns(); /* closing a connection also costs the application time */
    batch->group_size = next_group_size(batch, count);
    deliver_group(batch, count);
}

/* Loads blobs, at first in groups of a size. Returns the size that the next group would have. */
static size_t load_all(struct tier *tier, size_t group_size, size_t count, const ingot_storage_id_t *ids,
                       ingot_storage_on_loaded_t on_loaded, void *user)
{
    struct batch batch; /* not initialized as a whole, because it is large */
    batch.tier = tier;
    batch.ids = ids;
    batch.count = count;
    batch.next = 0;
    batch.on_loaded = on_loaded;
    batch.user = user;
    batch.is_ended = false;
    batch.most = tier->transport.ops->most < MOST ? tier->transport.ops->most : MOST;
    batch.group_size = group_size;
    batch.asked_count = 0;
    while (!batch.is_ended && (batch.next < count || batch.asked_count != 0))
        load_group(&batch);
    return batch.group_size;
}

struct loaded {
    ingot_status_t status;
    ingot_buffer_t blob;
};

static ingot_status_t keep_loaded(size_t index, ingot_status_t status, ingot_buffer_t *blob, void *user)
{
    (void)index;
    *(struct loaded *)user = (struct loaded){status, *blob};
    return INGOT_SUCCESS;
}

ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct loaded loaded = {INGOT_NOT_FOUND, INGOT_BUFFER_INIT};
    const ingot_storage_id_t one = {id_size, id};
    (void)load_all(self, 1, 1, &one, keep_loaded, &loaded);
    if (loaded.status == INGOT_SUCCESS)
        *blob = loaded.blob;
    return loaded.status;
}

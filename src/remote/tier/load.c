/*
 * load.c - loads a blob from the server; see load.h.
 */
#include "remote/tier/load.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <unistd.h>

#include "remote/base/clock.h"
#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/tier.h"
#include "remote/tier/worker.h"
#include "util/cancellation.h"

/* ---- buffers ---- */

static void release_unpacked(ingot_buffer_t *buffer)
{
    free(buffer->owner);
}

static void release_received(ingot_buffer_t *buffer)
{
    struct received *object = buffer->owner;
    object->release(object->owner);
    free(object);
}

static void release_upload(ingot_buffer_t *buffer)
{
    upload_release(buffer->owner);
}

/* Hands over the blob together with the memory that contains it. */
static ingot_status_t hand_over(struct received *object, const struct envelope_blob *found, ingot_buffer_t *blob)
{
    *blob = (ingot_buffer_t){.size = found->size, .bytes = found->bytes};
    if (found->unpacked != NULL) {
        object->release(object->owner);
        blob->release = release_unpacked;
        blob->owner = found->unpacked;
        return INGOT_SUCCESS;
    }
    struct received *owner = malloc(sizeof(*owner));
    if (owner == NULL) {
        object->release(object->owner);
        *blob = (ingot_buffer_t)INGOT_BUFFER_INIT;
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob");
    }
    *owner = *object;
    blob->release = release_received;
    blob->owner = owner;
    return INGOT_SUCCESS;
}

/* ---- the server ---- */

ingot_status_t load_skip(struct tier *tier, enum guard_verdict verdict)
{
    tier_count(tier, TIER_SKIPPED, 1);
    if (verdict == GUARD_EXIT)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier is off because the process is ending");
    if (verdict == GUARD_IS_OPEN) {
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

static void count_failure(struct tier *tier, enum outcome outcome)
{
    tier_count(tier, TIER_FAILURES, 1);
    switch (outcome) {
    case OUTCOME_UNREACHABLE: tier_count(tier, TIER_UNREACHABLE, 1); break;
    case OUTCOME_ENDED:
    case OUTCOME_TIMED_OUT: tier_count(tier, TIER_TIMED_OUT, 1); break;
    case OUTCOME_REFUSED: tier_count(tier, TIER_REFUSED, 1); break;
    case OUTCOME_TOO_LARGE:
    case OUTCOME_BAD_ANSWER: tier_count(tier, TIER_BAD_ANSWERS, 1); break;
    case OUTCOME_DONE: tier_count(tier, TIER_BAD_OBJECTS, 1); break; /* the answer was valid, but its content was not */
    case OUTCOME_MISSING:
    case OUTCOME_NO_MEMORY: break;
    }
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
    if (!guard_settle(&tier->guard, finding, fair_ns, began_ns, ended_ns))
        return;
    tier_tell_pause(tier, GUARD_LOADS, reason);
    (void)worker_ensure(tier);
    upload_queue_wake(&tier->queue); /* the tier's thread must find out when the next probe is due */
}

void tier_settle_outcome(struct tier *tier, enum outcome outcome, uint64_t began_ns, uint64_t ended_ns,
                         const char *reason)
{
    const bool works = outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING || outcome == OUTCOME_NO_MEMORY;
    tier_settle(tier, tier_finding_of(outcome), works ? guard_fair_miss_ns(&tier->guard) : 0, began_ns, ended_ns,
                reason);
}

static ingot_status_t take_object(struct tier *tier, struct fetch *fetch, size_t id_size, const uint8_t *id,
                                  ingot_buffer_t *blob)
{
    struct envelope_blob found = {.size = 0};
    struct received *object = &fetch->object;
    const size_t byte_count = object->size;
    ingot_status_t status = envelope_decode(object->size, object->bytes, id_size, id, tier->max_blob_bytes, &found);
    if (status == INGOT_SUCCESS) {
        status = hand_over(object, &found, blob);
        tier_settle(tier, BREAKER_WORKS, guard_fair_hit_ns(&tier->guard, byte_count), fetch->began_ns, fetch->ended_ns,
                    "");
    } else {
        object->release(object->owner);
        tier_settle(tier, finding_of_object(status), 0, fetch->began_ns, fetch->ended_ns, ingot_last_error_detail());
    }
    if (status != INGOT_SUCCESS) {
        count_failure(tier, OUTCOME_DONE);
        return status;
    }
    tier_count(tier, TIER_HITS, 1);
    tier_count(tier, TIER_LOADED_BYTES, byte_count);
    return INGOT_SUCCESS;
}

ingot_status_t load_settle(struct tier *tier, struct fetch *fetch, size_t id_size, const uint8_t *id,
                           ingot_buffer_t *blob)
{
    if (fetch->outcome == OUTCOME_DONE)
        return take_object(tier, fetch, id_size, id, blob);
    tier_settle_outcome(tier, fetch->outcome, fetch->began_ns, fetch->ended_ns, fetch->request.failure);
    if (fetch->outcome == OUTCOME_MISSING) {
        tier_count(tier, TIER_MISSES, 1);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier does not have the blob");
    }
    count_failure(tier, fetch->outcome);
    return ingot_set_error_detail(tier_status_of(fetch->outcome), "loading from the remote tier: %s",
                                  fetch->request.failure);
}

ingot_status_t load_from_server(struct tier *tier, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    char key[OBJECT_KEY_CAPACITY];
    struct fetch fetch = {.key = key,
                          .max_size = envelope_max_size(id_size, tier->max_blob_bytes),
                          .request = tier_make_request(tier),
                          .began_ns = clock_now_ns()};
    const enum guard_verdict verdict = tier_admit(tier, &fetch.request, fetch.began_ns);
    if (verdict != GUARD_PASS)
        return load_skip(tier, verdict);
    tier_end_with_pause(&fetch.request);
    object_key_of(tier->name_space, id_size, id, key);
    (void)tier->transport.ops->get(tier->transport.self, 1, &fetch);
    tier_leave(tier, 1);
    fetch.ended_ns = clock_now_ns(); /* closing a connection also costs the application time */
    return load_settle(tier, &fetch, id_size, id, blob);
}

static ingot_status_t load_upload(struct tier *tier, struct upload *upload, ingot_buffer_t *blob)
{
    if (upload_blob_size(upload) == 0) {
        upload_release(upload);
        tier_count(tier, TIER_MISSES, 1);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
    }
    tier_count(tier, TIER_HITS, 1);
    *blob = (ingot_buffer_t){
        .size = upload_blob_size(upload), .bytes = upload_blob(upload), .release = release_upload, .owner = upload};
    return INGOT_SUCCESS;
}

bool load_here(struct tier *tier, size_t id_size, const uint8_t *id, ingot_buffer_t *blob, ingot_status_t *status)
{
    struct upload *upload = NULL;
    if (getpid() != tier->process)
        *status = ingot_set_error_detail(INGOT_NOT_FOUND, "a remote tier is off in a forked child");
    else if (id_size > ENVELOPE_MAX_ID_SIZE)
        *status = ingot_set_error_detail(INGOT_NOT_FOUND, "the id has %zu bytes, too many for a remote tier", id_size);
    else if ((upload = upload_queue_find(&tier->queue, id_size, id)) != NULL)
        *status = load_upload(tier, upload, blob);
    else
        return false;
    return true;
}

ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct tier *tier = self;
    ingot_status_t status = INGOT_SUCCESS;
    const int cancellation = cancellation_hold();
    if (!load_here(tier, id_size, id, blob, &status))
        status = load_from_server(tier, id_size, id, blob);
    cancellation_allow(cancellation);
    return status;
}

/* Asks the server. Counts misses and failures as a load does, but no hits, because nothing is loaded. */
static ingot_status_t has(struct tier *tier, size_t id_size, const uint8_t *id)
{
    char key[OBJECT_KEY_CAPACITY];
    struct request request = tier_make_request(tier);
    const uint64_t began_ns = clock_now_ns();
    const enum guard_verdict verdict = tier_admit(tier, &request, began_ns);
    if (verdict != GUARD_PASS) {
        (void)load_skip(tier, verdict);
        return ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
    }
    tier_end_with_pause(&request);
    object_key_of(tier->name_space, id_size, id, key);
    const enum outcome outcome = tier->transport.ops->has(tier->transport.self, &request, key);
    tier_leave(tier, 1);
    tier_settle_outcome(tier, outcome, began_ns, clock_now_ns(), request.failure);
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    if (outcome == OUTCOME_MISSING) {
        tier_count(tier, TIER_MISSES, 1);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier does not have the blob");
    }
    count_failure(tier, outcome);
    return ingot_set_error_detail(tier_status_of(outcome), "asking the remote tier: %s", request.failure);
}

ingot_status_t tier_has(struct tier *tier, size_t id_size, const uint8_t *id)
{
    struct upload *upload = upload_queue_find(&tier->queue, id_size, id);
    if (upload == NULL)
        return has(tier, id_size, id);
    const bool is_blob = upload_blob_size(upload) != 0;
    upload_release(upload);
    return is_blob ? INGOT_SUCCESS
                   : ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
}

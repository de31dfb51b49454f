/*
 * load.c - loads blobs from the server; see load.h.
 */
#include "remote/tier/load.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/object/envelope.h"
#include "remote/object/object_key.h"

#define BYTES_PER_SECOND UINT64_C(16777216) /* a slower transfer counts as lost time */

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

/* Returns the status of a load for which no request was admitted. Counts it. */
static ingot_status_t skip_load(struct tier *tier, enum tier_verdict verdict)
{
    TIER_COUNT(tier, skipped, 1);
    if (verdict == TIER_IS_PAUSED)
        (void)tier_need_worker(tier); /* it may be missing, because memory ran out earlier */
    if (verdict == TIER_IS_PAUSED)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier's server failed and is not asked now");
    if (!atomic_exchange_explicit(&tier->has_told_no_time, true, memory_order_relaxed))
        tier_tell(tier, INGOT_IO_ERROR, 0,
                  "the remote tier's server is not asked: failed and slow loads took all the time that may be lost");
    return ingot_set_error_detail(INGOT_NOT_FOUND,
                                  "failed and slow loads took all the time that the remote tier may lose");
}

/* Returns the status of a request that has ended and brought no blob. */
static ingot_status_t conclude_load(struct tier *tier, enum outcome outcome, const struct request *request,
                                    uint64_t began_ns)
{
    tier_settle_outcome(tier, outcome, began_ns, clock_now_ns(), request->failure);
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    if (outcome == OUTCOME_MISSING) {
        TIER_COUNT(tier, misses, 1);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier does not have the blob");
    }
    tier_count_failure(tier, outcome);
    return ingot_set_error_detail(tier_status_of(outcome), "asking the remote tier: %s", request->failure);
}

/* Takes the blob out of an object. An object that is only too new or too large does not count against the server. */
static ingot_status_t take_object(struct tier *tier, ingot_buffer_t *object, size_t id_size, const uint8_t *id,
                                  uint64_t began_ns, ingot_buffer_t *blob)
{
    struct envelope_blob found = {.size = 0};
    const size_t size = object->size;
    const uint64_t fair_ns = tier->slow_ns + size * CLOCK_NS_PER_S / BYTES_PER_SECOND;
    const uint64_t ended_ns = clock_now_ns();
    const ingot_status_t status =
        envelope_decode(object->size, object->bytes, id_size, id, tier->max_blob_bytes, &found);
    if (status != INGOT_SUCCESS) {
        const bool is_bad =
            status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_MISMATCH;
        object->release(object);
        tier_settle(tier, is_bad ? GUARD_DOUBTFUL : GUARD_WORKS, 0, began_ns, ended_ns, ingot_last_error_detail());
        TIER_COUNT(tier, failures, 1);
        TIER_COUNT(tier, bad_objects, 1);
        return status;
    }
    hand_over(object, &found, blob);
    tier_settle(tier, GUARD_WORKS, fair_ns, began_ns, ended_ns, "");
    TIER_COUNT(tier, hits, 1);
    TIER_COUNT(tier, loaded_bytes, size);
    return INGOT_SUCCESS;
}

/* Loads a blob from the pending uploads. Returns false if there is none for this key. */
static bool load_upload(struct tier *tier, const char *key, ingot_buffer_t *blob, ingot_status_t *status)
{
    size_t size = 0;
    uint8_t *bytes = NULL;
    if (!upload_queue_find(&tier->queue, key, &size, &bytes))
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

ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct tier *tier = self;
    char key[OBJECT_KEY_CAPACITY];
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    ingot_status_t status = INGOT_NOT_FOUND;
    if (id_size > ENVELOPE_MAX_ID_SIZE)
        return ingot_set_error_detail(status, "the id has %zu bytes, too many for a remote tier", id_size);
    object_key_of(tier->name_space, id_size, id, key);
    if (load_upload(tier, key, blob, &status))
        return status;
    struct request request = tier_make_request(tier);
    const uint64_t began_ns = clock_now_ns();
    const enum tier_verdict verdict = tier_admit(tier, &request, began_ns);
    if (verdict != TIER_PASS)
        return skip_load(tier, verdict);
    const enum outcome outcome = tier->transport.ops->get(tier->transport.self, &request, key,
                                                          envelope_max_size(id_size, tier->max_blob_bytes), &object);
    return outcome == OUTCOME_DONE ? take_object(tier, &object, id_size, id, began_ns, blob)
                                   : conclude_load(tier, outcome, &request, began_ns);
}

/* Counts misses and failures as a load does, but no hits, because nothing is loaded. */
ingot_status_t tier_has(struct tier *tier, size_t id_size, const uint8_t *id)
{
    char key[OBJECT_KEY_CAPACITY];
    size_t size = 0;
    object_key_of(tier->name_space, id_size, id, key);
    if (upload_queue_find(&tier->queue, key, &size, NULL))
        return size != 0
                   ? INGOT_SUCCESS
                   : ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
    struct request request = tier_make_request(tier);
    const uint64_t began_ns = clock_now_ns();
    const enum tier_verdict verdict = tier_admit(tier, &request, began_ns);
    if (verdict != TIER_PASS) {
        (void)skip_load(tier, verdict);
        return ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
    }
    const enum outcome outcome = tier->transport.ops->has(tier->transport.self, &request, key);
    return conclude_load(tier, outcome, &request, began_ns);
}

ingot_status_t tier_list(struct tier *tier, void (*visit)(void *user, const char *key), void *user)
{
    char cursor[TRANSPORT_CURSOR_CAPACITY] = "";
    ingot_status_t status;
    if (tier->transport.ops->list == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "this server cannot list its objects; Redis can");
    do {
        struct request request = tier_make_request(tier);
        const uint64_t began_ns = clock_now_ns();
        const enum tier_verdict verdict = tier_admit(tier, &request, began_ns);
        if (verdict != TIER_PASS) {
            (void)skip_load(tier, verdict);
            return ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
        }
        const enum outcome outcome = tier->transport.ops->list(tier->transport.self, &request, cursor, visit, user);
        status = conclude_load(tier, outcome, &request, began_ns);
    } while (status == INGOT_SUCCESS && cursor[0] != '\0');
    return status;
}

ingot_status_t tier_load_key(struct tier *tier, const char *key, ingot_buffer_t *id, ingot_buffer_t *blob)
{
    char own[OBJECT_KEY_CAPACITY] = "";
    size_t id_size = 0;
    size_t size = 0;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    struct request request = tier_make_request(tier);
    const uint64_t began_ns = clock_now_ns();
    const enum tier_verdict verdict = tier_admit(tier, &request, began_ns);
    if (verdict != TIER_PASS) {
        (void)skip_load(tier, verdict);
        return ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
    }
    const enum outcome outcome = tier->transport.ops->get(
        tier->transport.self, &request, key, envelope_max_size(ENVELOPE_MAX_ID_SIZE, tier->max_blob_bytes), &object);
    if (outcome != OUTCOME_DONE)
        return conclude_load(tier, outcome, &request, began_ns);
    const bool has_id = envelope_measure(object.size, object.bytes, &id_size, &size);
    uint8_t *copy = has_id ? malloc(id_size) : NULL;
    if (copy != NULL) {
        memcpy(copy, object.bytes + ENVELOPE_HEADER_SIZE, id_size);
        object_key_of(tier->name_space, id_size, copy, own);
    }
    if (strcmp(own, key) != 0) {
        free(copy);
        object.release(&object);
        return has_id && copy == NULL
                   ? ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an id of %zu bytes", id_size)
                   : ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object of the key %.12s is not its own", key);
    }
    const ingot_status_t status = take_object(tier, &object, id_size, copy, began_ns, blob);
    if (status == INGOT_SUCCESS)
        *id = (ingot_buffer_t){.size = id_size, .bytes = copy, .release = release_bytes, .owner = copy};
    else
        free(copy);
    return status;
}

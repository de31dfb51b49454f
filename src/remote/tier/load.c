/*
 * load.c - loads blobs from the server, or from the pending uploads, and answers the tool's questions about the server.
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/tier.h"
#include "util/nanoseconds.h"

#define MOST_PAGES (1u << 20)               /* of a list of objects */
#define BYTES_PER_SECOND UINT64_C(16777216) /* a slower transfer counts as lost time */

static void release_bytes(ingot_buffer_t *buffer)
{
    free(buffer->owner);
}

/* Admits a request of the application. A load that is not admitted is a miss. */
static ingot_status_t admit_load(struct tier *tier, struct tier_request *asked)
{
    bool is_out_of_time = false;
    const ingot_status_t status = tier_admit(tier, asked, &is_out_of_time);
    if (status == INGOT_SUCCESS)
        return status;
    TIER_COUNT(tier, skipped, 1);
    if (!is_out_of_time)
        (void)tier_need_thread(tier); /* it may be missing, because memory ran out earlier */
    else if (!atomic_exchange_explicit(&tier->has_told_no_time, true, memory_order_relaxed))
        tier_tell(tier, INGOT_IO_ERROR, 0,
                  "the remote tier's server is not asked: failed and slow loads took all the time that may be lost");
    return status;
}

/* Admits a question, which has no answer if the server is not asked. */
static ingot_status_t admit_question(struct tier *tier, struct tier_request *asked)
{
    return admit_load(tier, asked) == INGOT_SUCCESS
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
}

/* Returns the status of a request that has ended and brought no blob. */
static ingot_status_t conclude_load(struct tier *tier, const struct tier_request *asked, enum outcome outcome)
{
    tier_settle_outcome(tier, asked, outcome);
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    if (outcome == OUTCOME_MISSING) {
        TIER_COUNT(tier, misses, 1);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier does not have the blob");
    }
    tier_count_failure(tier, outcome);
    return ingot_set_error_detail(tier_status_of(outcome), "asking the remote tier: %s", asked->request.failure);
}

/* Takes the blob out of an object. An object that is only too new or too large does not count against the server. */
static ingot_status_t take_object(struct tier *tier, struct tier_request *asked, ingot_buffer_t *object, size_t id_size,
                                  const uint8_t *id, ingot_buffer_t *blob)
{
    struct envelope_blob found = {.size = 0};
    const size_t size = object->size;
    asked->ended_ns = nanoseconds_now();
    const ingot_status_t status =
        envelope_decode(object->size, object->bytes, id_size, id, tier->max_blob_bytes, &found);
    if (status != INGOT_SUCCESS) {
        const bool is_bad =
            status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_MISMATCH;
        object->release(object);
        tier_settle(tier, asked, is_bad ? GUARD_DOUBTFUL : GUARD_WORKS, 0, ingot_last_error_detail());
        TIER_COUNT(tier, failures, 1);
        TIER_COUNT(tier, bad_objects, 1);
        return status;
    }
    *blob = (ingot_buffer_t){found.size, found.bytes, object->release, object->owner};
    if (found.unpacked != NULL) {
        object->release(object);
        blob->release = release_bytes;
        blob->owner = found.unpacked;
    }
    tier_settle(tier, asked, GUARD_WORKS, tier->slow_ns + size * NS_PER_SECOND / BYTES_PER_SECOND, "");
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
    struct tier_request asked;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    ingot_status_t status = INGOT_NOT_FOUND;
    if (id_size > ENVELOPE_MAX_ID_SIZE)
        return ingot_set_error_detail(status, "the id has %zu bytes, too many for a remote tier", id_size);
    object_key_of(tier->name_space, id_size, id, key);
    if (load_upload(tier, key, blob, &status))
        return status;
    status = admit_load(tier, &asked);
    if (status != INGOT_SUCCESS)
        return status;
    const enum outcome outcome = tier->transport.ops->get(tier->transport.self, &asked.request, key,
                                                          envelope_max_size(id_size, tier->max_blob_bytes), &object);
    return outcome == OUTCOME_DONE ? take_object(tier, &asked, &object, id_size, id, blob)
                                   : conclude_load(tier, &asked, outcome);
}

/* ---- questions of the tool ---- */

/* Counts misses and failures as a load does, but no hits, because nothing is loaded. */
ingot_status_t ingot_remote_has(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct tier *tier = NULL;
    char key[OBJECT_KEY_CAPACITY];
    struct tier_request asked;
    size_t size = 0;
    if (id == NULL || id_size == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "id is missing or empty");
    ingot_status_t status = tier_find(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    object_key_of(tier->name_space, id_size, id, key);
    if (upload_queue_find(&tier->queue, key, &size, NULL))
        return size != 0
                   ? INGOT_SUCCESS
                   : ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
    status = admit_question(tier, &asked);
    return status == INGOT_SUCCESS
               ? conclude_load(tier, &asked, tier->transport.ops->has(tier->transport.self, &asked.request, key))
               : status;
}

ingot_status_t ingot_remote_list(ingot_storage_t storage, void (*visit)(void *user, const char *key), void *user)
{
    struct tier *tier = NULL;
    char cursor[TRANSPORT_CURSOR_CAPACITY] = "";
    char before[TRANSPORT_CURSOR_CAPACITY];
    struct tier_request asked;
    ingot_status_t status = tier_find(storage, &tier);
    if (status == INGOT_SUCCESS && tier->transport.ops->list == NULL)
        status = ingot_set_error_detail(INGOT_UNIMPLEMENTED, "this server cannot list its objects; Redis and S3 can");
    for (unsigned pages = 1; status == INGOT_SUCCESS; ++pages) {
        memcpy(before, cursor, sizeof(before));
        status = admit_question(tier, &asked);
        if (status == INGOT_SUCCESS)
            status = conclude_load(
                tier, &asked, tier->transport.ops->list(tier->transport.self, &asked.request, cursor, visit, user));
        if (cursor[0] == '\0')
            break;
        if (status == INGOT_SUCCESS && (strcmp(cursor, before) == 0 || pages == MOST_PAGES))
            status = ingot_set_error_detail(INGOT_IO_ERROR, "the server's list of objects does not end");
    }
    return status;
}

ingot_status_t ingot_remote_key_of(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                   char key[INGOT_REMOTE_KEY_CAPACITY])
{
    struct tier *tier = NULL;
    const ingot_status_t status = tier_find(storage, &tier);
    if (status == INGOT_SUCCESS)
        object_key_of(tier->name_space, id_size, id, key);
    return status;
}

/* Copies the id out of an object, which must be the one of the key. */
static ingot_status_t copy_id(const struct tier *tier, const char *key, const ingot_buffer_t *object,
                              ingot_buffer_t *id)
{
    char own[OBJECT_KEY_CAPACITY] = "";
    size_t id_size = 0;
    size_t size = 0;
    if (envelope_measure(object->size, object->bytes, &id_size, &size))
        object_key_of(tier->name_space, id_size, object->bytes + ENVELOPE_HEADER_SIZE, own);
    if (strcmp(own, key) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object of the key %.12s is not its own", key);
    uint8_t *copy = malloc(id_size);
    if (copy == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an id of %zu bytes", id_size);
    memcpy(copy, object->bytes + ENVELOPE_HEADER_SIZE, id_size);
    *id = (ingot_buffer_t){.size = id_size, .bytes = copy, .release = release_bytes, .owner = copy};
    return INGOT_SUCCESS;
}

ingot_status_t ingot_remote_load_key(ingot_storage_t storage, const char *key, ingot_buffer_t *id, ingot_buffer_t *blob)
{
    struct tier *tier = NULL;
    struct tier_request asked;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    ingot_buffer_t copy = INGOT_BUFFER_INIT;
    ingot_status_t status = tier_find(storage, &tier);
    if (status == INGOT_SUCCESS)
        status = admit_question(tier, &asked);
    if (status != INGOT_SUCCESS)
        return status;
    const enum outcome outcome =
        tier->transport.ops->get(tier->transport.self, &asked.request, key,
                                 envelope_max_size(ENVELOPE_MAX_ID_SIZE, tier->max_blob_bytes), &object);
    if (outcome != OUTCOME_DONE)
        return conclude_load(tier, &asked, outcome);
    status = copy_id(tier, key, &object, &copy);
    if (status != INGOT_SUCCESS) {
        object.release(&object);
        return status;
    }
    status = take_object(tier, &asked, &object, copy.size, copy.bytes, blob);
    if (status == INGOT_SUCCESS)
        *id = copy;
    else
        copy.release(&copy);
    return status;
}

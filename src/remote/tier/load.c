/*
 * load.c - loads blobs from the server, or from the pending uploads, leaves and takes wishes there (doc/builders.md),
 * and answers the tool's questions about the server.
 */
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <ingot/private/remote.h>
#include <ingot/private/wish.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/envelope.h"
#include "remote/tier/tier.h"
#include "util/nanoseconds.h"

#define MOST_PAGES (1u << 20)               /* of a list of objects */
#define BYTES_PER_SECOND UINT64_C(16777216) /* a slower transfer counts as lost time */
#define FIRST_KEYS 4096u

static void release_bytes(ingot_buffer_t *buffer)
{
    free(buffer->owner);
}

/* Admits a request of the application. A load that is not admitted is a miss, and a question has no answer then. */
static ingot_status_t admit(struct tier *tier, struct request *request, bool is_question)
{
    const ingot_status_t status = tier_admit(tier, request);
    if (status == INGOT_SUCCESS)
        return status;
    TIER_COUNT(tier, skipped, 1);
    return is_question ? ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now")
                       : status;
}

/* Returns the status of a request that has ended. missing: that of OUTCOME_MISSING. */
static ingot_status_t conclude(const struct request *request, enum outcome outcome, const char *doing,
                               ingot_status_t missing, const char *why_missing)
{
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    return outcome == OUTCOME_MISSING
               ? ingot_set_error_detail(missing, "%s", why_missing)
               : ingot_set_error_detail(tier_status_of(outcome), "%s: %s", doing, request->failure);
}

/* Returns the status of a request that has ended and brought no blob. */
static ingot_status_t conclude_load(struct tier *tier, const struct request *request, enum outcome outcome)
{
    tier_settle_outcome(tier, request, outcome);
    if (outcome == OUTCOME_MISSING)
        TIER_COUNT(tier, misses, 1);
    else if (outcome != OUTCOME_DONE)
        TIER_COUNT(tier, failures, 1);
    return conclude(request, outcome, "asking the remote tier", INGOT_NOT_FOUND,
                    "the remote tier does not have the blob");
}

/* Loads an object, which must belong to the id unless that is NULL. The caller releases the object, and frees the
 * unpacked bytes of its content. An object that is only too new or too large does not count against the server. */
static ingot_status_t load_object(struct tier *tier, const char *key, size_t id_size, const uint8_t *id,
                                  ingot_buffer_t *object, struct envelope_content *content)
{
    const size_t max_size = envelope_max_size(id != NULL ? id_size : ENVELOPE_MAX_ID_SIZE, tier->max_blob_bytes);
    struct request request;
    ingot_status_t status = admit(tier, &request, id == NULL);
    if (status != INGOT_SUCCESS)
        return status;
    const enum outcome outcome = tier->transport.ops->get(tier->transport.self, &request, key, max_size, object);
    if (outcome != OUTCOME_DONE)
        return conclude_load(tier, &request, outcome);
    request.ended_ns = nanoseconds_now();
    status = envelope_decode(object->size, object->bytes, id_size, id, tier->max_blob_bytes, content);
    if (status == INGOT_SUCCESS) {
        tier_settle(tier, &request, GUARD_WORKS, tier->slow_ns + object->size * NS_PER_SECOND / BYTES_PER_SECOND, "");
        TIER_COUNT(tier, hits, 1);
        return status;
    }
    const bool is_bad = status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_MISMATCH;
    object->release(object);
    tier_settle(tier, &request, is_bad ? GUARD_DOUBTFUL : GUARD_WORKS, 0, ingot_last_error_detail());
    TIER_COUNT(tier, failures, 1);
    return status;
}

ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct tier *tier = self;
    char key[OBJECT_KEY_CAPACITY];
    struct envelope_content found;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    ingot_status_t status = INGOT_NOT_FOUND;
    size_t size = 0;
    uint8_t *bytes = NULL;
    if (id_size > ENVELOPE_MAX_ID_SIZE)
        return ingot_set_error_detail(status, "the id has %zu bytes, too many for a remote tier", id_size);
    object_key_of(tier->name_space, id_size, id, key);
    if (uploads_find(tier, key, &size, &bytes)) { /* it is still to be uploaded, or to be removed */
        if (bytes != NULL) {
            TIER_COUNT(tier, hits, 1);
            *blob = (ingot_buffer_t){.size = size, .bytes = bytes, .release = release_bytes, .owner = bytes};
            return INGOT_SUCCESS;
        }
        if (size == 0) {
            TIER_COUNT(tier, misses, 1);
            return ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
        }
        TIER_COUNT(tier, failures, 1);
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", size);
    }
    status = load_object(tier, key, id_size, id, &object, &found);
    if (status != INGOT_SUCCESS)
        return status;
    *blob = (ingot_buffer_t){found.size, found.bytes, object.release, object.owner};
    if (found.unpacked != NULL) {
        object.release(&object);
        blob->release = release_bytes;
        blob->owner = found.unpacked;
    }
    return status;
}

/* ---- questions of the tool ---- */

/* Counts misses and failures as a load does, but no hits, because nothing is loaded. */
ingot_status_t ingot_remote_has(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct tier *tier = NULL;
    char key[OBJECT_KEY_CAPACITY];
    struct request request;
    size_t size = 0;
    ingot_status_t status = tier_find(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    object_key_of(tier->name_space, id_size, id, key);
    if (uploads_find(tier, key, &size, NULL))
        return size != 0
                   ? INGOT_SUCCESS
                   : ingot_set_error_detail(INGOT_NOT_FOUND, "the blob is about to be removed from the remote tier");
    status = admit(tier, &request, true);
    return status == INGOT_SUCCESS
               ? conclude_load(tier, &request, tier->transport.ops->has(tier->transport.self, &request, key))
               : status;
}

/* ---- wishes ---- */

ingot_status_t tier_leave_wish(void *self, size_t id_size, const uint8_t *id)
{
    struct tier *tier = self;
    struct request request;
    if (id_size > INGOT_WISH_MAX_SIZE)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the id has %zu bytes, more than a wish may have", id_size);
    const ingot_status_t status = tier_admit(tier, &request);
    if (status != INGOT_SUCCESS)
        return status;
    const enum outcome outcome = tier->transport.ops->leave_wish(tier->transport.self, &request, id_size, id);
    tier_settle_outcome(tier, &request, outcome);
    return conclude(&request, outcome, "leaving a wish failed", INGOT_BUSY, "the server has this wish already");
}

/* Finds the tier of a storage, which must keep wishes. */
static ingot_status_t find_tier_with_wishes(ingot_storage_t storage, struct tier **tier)
{
    const ingot_status_t status = tier_find(storage, tier);
    return status == INGOT_SUCCESS && (*tier)->transport.ops->leave_wish == NULL
               ? ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                        "the server keeps no wishes: only Redis does, and directories")
               : status;
}

ingot_status_t ingot_remote_take_wish(ingot_storage_t storage, uint64_t wait_ms, ingot_buffer_t *wish)
{
    struct tier *tier = NULL;
    struct request request;
    const ingot_status_t status = find_tier_with_wishes(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    if (tier_admit(tier, &request) != INGOT_SUCCESS)
        return ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
    const enum outcome outcome = tier->transport.ops->take_wish(tier->transport.self, &request, wait_ms, wish);
    tier_settle(tier, &request, tier_finding_of(outcome), NS_NEVER, request.failure); /* waiting is no loss */
    return conclude(&request, outcome, "taking a wish failed", INGOT_NOT_FOUND, "the server has no wish");
}

ingot_status_t ingot_remote_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct tier *tier = NULL;
    const ingot_status_t status = find_tier_with_wishes(storage, &tier);
    return status == INGOT_SUCCESS ? tier_leave_wish(tier, id_size, id) : status;
}

/* ---- all objects ---- */

struct listed {
    char key[OBJECT_KEY_CAPACITY];
    bool is_known;
};

struct listing {
    const struct tier *tier;
    ingot_storage_t known; /* what it can load is not loaded from the server; NULL: none */
    struct listed *objects;
    size_t count;
    size_t capacity;
    bool is_out_of_memory;
    uint64_t known_count;
};

static int compare_listed(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->key, ((const struct listed *)b)->key);
}

/* Sorts the objects, and drops those that the server has listed again. */
static void sort_listing(struct listing *listing)
{
    size_t count = 0;
    if (listing->count != 0)
        qsort(listing->objects, listing->count, sizeof(*listing->objects), compare_listed);
    for (size_t i = 0; i < listing->count; ++i)
        if (count == 0 || compare_listed(&listing->objects[count - 1], &listing->objects[i]) != 0)
            listing->objects[count++] = listing->objects[i];
    listing->count = count;
}

static void note_key(void *user, const char *key)
{
    struct listing *listing = user;
    const bool is_full = listing->count == listing->capacity;
    if (is_full)
        sort_listing(listing); /* a server that lists the same keys without end needs no more memory */
    if (is_full && listing->count >= listing->capacity - listing->capacity / 4) {
        const size_t capacity = listing->capacity * 2 + FIRST_KEYS;
        struct listed *objects = realloc(listing->objects, capacity * sizeof(*objects));
        listing->is_out_of_memory |= objects == NULL;
        if (objects == NULL)
            return;
        listing->objects = objects;
        listing->capacity = capacity;
    }
    struct listed *added = &listing->objects[listing->count++];
    added->is_known = false;
    memcpy(added->key, key, sizeof(added->key));
}

static ingot_status_t list_objects(struct tier *tier, struct listing *listing)
{
    char cursor[TRANSPORT_CURSOR_CAPACITY] = "";
    char before[TRANSPORT_CURSOR_CAPACITY];
    struct request request;
    unsigned pages = 0;
    do {
        memcpy(before, cursor, sizeof(before));
        ingot_status_t status = admit(tier, &request, true);
        if (status == INGOT_SUCCESS)
            status = conclude_load(
                tier, &request, tier->transport.ops->list(tier->transport.self, &request, cursor, note_key, listing));
        if (status == INGOT_SUCCESS && listing->is_out_of_memory)
            status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a list of objects");
        if (status != INGOT_SUCCESS)
            return status;
        if (cursor[0] != '\0' && (strcmp(cursor, before) == 0 || ++pages == MOST_PAGES))
            return ingot_set_error_detail(INGOT_IO_ERROR, "the server's list of objects does not end");
    } while (cursor[0] != '\0');
    sort_listing(listing);
    return INGOT_SUCCESS;
}

/* Marks what the store can load: an entry may be damaged, refused, or one of another namespace. */
static ingot_status_t mark_known(const ingot_persist_entry_t *entry, void *user)
{
    struct listing *listing = user;
    struct listed wanted;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (entry->status != INGOT_SUCCESS || listing->count == 0)
        return INGOT_SUCCESS;
    object_key_of(listing->tier->name_space, entry->id_size, entry->id, wanted.key);
    struct listed *found = bsearch(&wanted, listing->objects, listing->count, sizeof(wanted), compare_listed);
    if (found == NULL || found->is_known ||
        ingot_storage_load(listing->known, entry->id_size, entry->id, &blob) != INGOT_SUCCESS)
        return INGOT_SUCCESS;
    blob.release(&blob);
    found->is_known = true;
    ++listing->known_count;
    return INGOT_SUCCESS;
}

/* Loads an object by its key, and passes it to the visitor. */
static void visit_object(struct tier *tier, const char *key, ingot_remote_visit_t visit, void *user)
{
    struct envelope_content found = {.size = 0};
    char own[OBJECT_KEY_CAPACITY];
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    ingot_status_t status = load_object(tier, key, 0, NULL, &object, &found);
    if (status != INGOT_SUCCESS) {
        if (status != INGOT_NOT_FOUND) /* evicted in the meantime */
            visit(user, status, 0, NULL, 0, NULL);
        return;
    }
    object_key_of(tier->name_space, found.id_size, found.id, own);
    if (strcmp(own, key) != 0)
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object of the key %.12s is not its own", key);
    visit(user, status, found.id_size, found.id, found.size, found.bytes);
    free(found.unpacked);
    object.release(&object);
}

ingot_status_t ingot_remote_for_each(ingot_storage_t storage, ingot_storage_t known, ingot_remote_visit_t visit,
                                     void *user, uint64_t *known_count)
{
    struct listing listing = {.known = known};
    struct tier *tier = NULL;
    ingot_status_t status = tier_find(storage, &tier);
    if (status == INGOT_SUCCESS && tier->transport.ops->list == NULL)
        status = ingot_set_error_detail(INGOT_UNIMPLEMENTED, "this server cannot list its objects; Redis and S3 can");
    listing.tier = tier;
    if (status == INGOT_SUCCESS)
        status = list_objects(tier, &listing);
    if (status == INGOT_SUCCESS && known != NULL)
        status = ingot_persist_for_each(known, mark_known, &listing);
    for (size_t i = 0; i < listing.count && status == INGOT_SUCCESS; ++i)
        if (!listing.objects[i].is_known)
            visit_object(tier, listing.objects[i].key, visit, user);
    *known_count = listing.known_count;
    free(listing.objects);
    return status;
}

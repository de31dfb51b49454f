/*
 * upload.c - queues blobs to be uploaded and ids to be removed, and runs the tier's thread.
 *
 * A new item replaces an older one with the same key. If there is no room, the oldest items are dropped. Loads search
 * the queue, too, including the item that the thread is working on. The thread makes at most three attempts at an
 * upload, with a pause between them; attempts in which nobody listens do not count. The first upload after the pause
 * shows whether the server takes uploads again. Leases go before uploads. Signals are not delivered to the thread. It
 * ends when nothing is left to do, so that most processes end without one.
 */
#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "remote/tier/tier.h"
#include "util/nanoseconds.h"
#include "util/thread.h"

#define MOST_ATTEMPTS 3u
#define COMPRESSION_LEVEL 3

/* ---- the queue ---- */

/* An item of the queue. Its key, id and blob never change. */
struct upload {
    struct upload *next;    /* guarded by the lock */
    uint64_t number;        /* items are numbered in the order in which they were added, from 1; guarded by the lock */
    unsigned attempt_count; /* used only by the thread */
    size_t id_size;
    size_t blob_size; /* 0: the item removes its id */
    const uint8_t *id;
    const uint8_t *blob;
    char key[OBJECT_KEY_CAPACITY]; /* of the id */
};

static uint64_t size_of(const struct upload *upload)
{
    return sizeof(*upload) + upload->id_size + upload->blob_size;
}

/* Removes from the list the item that `at` points to, and returns it. */
static struct upload *unlink_upload(struct tier *tier, struct upload **at)
{
    struct upload *upload = *at;
    *at = upload->next;
    --tier->waiting_count;
    tier->waiting_bytes -= size_of(upload);
    return upload;
}

static void link_upload(struct tier *tier, struct upload **at, struct upload *upload)
{
    upload->next = *at;
    *at = upload;
    ++tier->waiting_count;
    tier->waiting_bytes += size_of(upload);
}

/* Returns a link to the key's item in the list, or to the end of the list. */
static struct upload **find_link(struct upload **at, const char *key)
{
    while (*at != NULL && (key == NULL || strcmp((*at)->key, key) != 0))
        at = &(*at)->next;
    return at;
}

const struct upload *uploads_newest(const struct tier *tier, const char *key)
{
    struct upload *first = tier->first;
    struct upload *found = *find_link(&first, key);
    return found == NULL && tier->active != NULL && strcmp(tier->active->key, key) == 0 ? tier->active : found;
}

bool uploads_find(struct tier *tier, const char *key, size_t *size, uint8_t **copy)
{
    tier_lock(tier);
    const struct upload *found = uploads_newest(tier, key);
    if (found != NULL) {
        *size = found->blob_size;
        if (copy != NULL)
            *copy = *size != 0 ? malloc(*size) : NULL;
        if (copy != NULL && *copy != NULL)
            memcpy(*copy, found->blob, *size);
    }
    tier_unlock(tier);
    return found != NULL;
}

static ingot_status_t add_upload(struct tier *tier, size_t id_size, const uint8_t *id, size_t blob_size,
                                 const uint8_t *blob)
{
    size_t dropped_count = 0;
    const size_t size = sizeof(struct upload) + id_size + blob_size;
    if (size > tier->max_waiting_bytes || tier->max_waiting == 0)
        return ingot_set_error_detail(INGOT_NO_SPACE, "a blob of %zu bytes is too large to wait for its upload",
                                      blob_size);
    struct upload *upload = malloc(size);
    if (upload == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an upload");
    uint8_t *bytes = (uint8_t *)(upload + 1);
    *upload = (struct upload){.id_size = id_size, .blob_size = blob_size, .id = bytes, .blob = bytes + id_size};
    object_key_of(tier->name_space, id_size, id, upload->key);
    memcpy(bytes, id, id_size);
    if (blob_size != 0)
        memcpy(bytes + id_size, blob, blob_size);
    tier_lock(tier);
    struct upload **earlier = find_link(&tier->first, upload->key);
    if (*earlier != NULL)
        free(unlink_upload(tier, earlier));
    for (; tier->waiting_count >= tier->max_waiting || tier->waiting_bytes + size > tier->max_waiting_bytes;
         ++dropped_count)
        free(unlink_upload(tier, &tier->first));
    upload->number = ++tier->last_number;
    link_upload(tier, find_link(&tier->first, NULL), upload);
    if (blob_size != 0)
        leases_note_upload(tier, upload->key, false);
    tier_wake(tier);
    tier_unlock(tier);
    TIER_COUNT(tier, dropped_uploads, dropped_count);
    (void)tier_need_thread(tier);
    if (dropped_count != 0)
        tier_tell(tier, INGOT_NO_SPACE, 0,
                  "%zu uploads to the remote tier were dropped: more wait than the limits allow", dropped_count);
    return INGOT_SUCCESS;
}

ingot_status_t tier_store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    struct tier *tier = self;
    if (id_size > ENVELOPE_MAX_ID_SIZE || blob_size > tier->max_blob_bytes)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the blob has %zu bytes, and the remote tier's limit is %zu",
                                      blob_size, tier->max_blob_bytes);
    return add_upload(tier, id_size, id, blob_size, blob);
}

ingot_status_t tier_remove(void *self, size_t id_size, const uint8_t *id)
{
    return add_upload(self, id_size, id, 0, NULL);
}

/* ---- uploads ---- */

void tier_note_upload(struct tier *tier, bool has_succeeded, const char *reason)
{
    tier_lock(tier);
    const bool was_paused = tier->upload_pauses.until_ns != 0;
    if (has_succeeded)
        pauses_end(&tier->upload_pauses);
    else
        pauses_begin(&tier->upload_pauses, nanoseconds_now());
    tier_unlock(tier);
    if (has_succeeded && was_paused)
        tier_tell(tier, INGOT_SUCCESS, 0, "the remote tier's server takes uploads again");
    else if (!has_succeeded && !was_paused)
        tier_tell(tier, INGOT_IO_ERROR, 0, "uploads to the remote tier wait, and are tried again later: %s", reason);
}

bool tier_pauses_uploads(const struct tier *tier)
{
    return nanoseconds_now() < tier->upload_pauses.until_ns;
}

/* Sends the blob of an item, or removes its object. */
static enum outcome perform_upload(struct tier *tier, const struct upload *upload, struct request *request)
{
    size_t size = 0;
    uint8_t *object = NULL;
    if (upload->blob_size == 0) {
        const enum outcome removed = tier->transport.ops->remove(tier->transport.self, request, upload->key);
        TIER_COUNT(tier, removals, removed == OUTCOME_DONE || removed == OUTCOME_MISSING);
        return removed;
    }
    if (envelope_encode(upload->id_size, upload->id, upload->blob_size, upload->blob, nanoseconds_of(CLOCK_REALTIME),
                        COMPRESSION_LEVEL, &size, &object) != INGOT_SUCCESS)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an object");
    const enum outcome outcome = tier->transport.ops->put(tier->transport.self, request, upload->key, size, object);
    free(object);
    TIER_COUNT(tier, uploads, outcome == OUTCOME_DONE);
    tier_count(tier, &tier->counts.sent_bytes, NULL, outcome == OUTCOME_DONE ? size : 0);
    return outcome;
}

/* Uploads the first item of the queue. How large an object may be does not depend on the server's state, so no other
 * upload waits because of one that is too large. */
static void upload_one(struct tier *tier)
{
    tier_lock(tier);
    struct upload *upload = tier->first != NULL ? unlink_upload(tier, &tier->first) : NULL;
    tier->active = upload;
    tier_unlock(tier);
    if (upload == NULL)
        return; /* what waited was replaced or dropped */
    struct request request = tier_make_request(tier);
    const enum outcome outcome = perform_upload(tier, upload, &request);
    const bool is_done = outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING;
    const bool is_final = outcome == OUTCOME_REFUSED || outcome == OUTCOME_TOO_LARGE || outcome == OUTCOME_NO_MEMORY;
    const bool is_tried_again = outcome == OUTCOME_ENDED || outcome == OUTCOME_UNREACHABLE ||
                                (!is_done && !is_final && ++upload->attempt_count < MOST_ATTEMPTS);
    if (is_done || (outcome != OUTCOME_ENDED && outcome != OUTCOME_TOO_LARGE && outcome != OUTCOME_NO_MEMORY))
        tier_note_upload(tier, is_done, request.failure);
    if (!is_done && !is_tried_again)
        tier_tell(tier, tier_status_of(outcome), upload->blob_size, "%s the remote tier failed: %s",
                  upload->blob_size != 0 ? "uploading to" : "removing from", request.failure);
    tier_lock(tier);
    tier->active = NULL;
    if (!is_done && !is_tried_again) {
        ++tier->counts.failed_uploads; /* after the event, which a reader of the counts may look for */
        if (upload->blob_size != 0)
            leases_note_upload(tier, upload->key, true);
    }
    if (is_tried_again && uploads_newest(tier, upload->key) == NULL) {
        link_upload(tier, &tier->first, upload);
        upload = NULL;
    }
    tier_wake(tier);
    tier_unlock(tier);
    free(upload);
}

/* ---- the thread ---- */

/* Asks a server that has failed whether it answers again. */
static void probe_server(struct tier *tier)
{
    struct request request = tier_make_request(tier);
    const enum outcome outcome = tier->transport.ops->probe(tier->transport.self, &request);
    if (tier_finding_of(outcome) != GUARD_WORKS)
        return;
    guard_lock();
    guard_end_pause(tier->guard);
    guard_unlock();
    tier_lock(tier);
    if (tier_pauses_uploads(tier))
        tier->upload_pauses.until_ns = nanoseconds_now(); /* the server may take uploads again, too */
    tier_unlock(tier);
    tier_tell(tier, INGOT_SUCCESS, 0, "the remote tier's server answers again, so the tier asks it");
}

/* Sleeps until there is something to do. Returns false if there is nothing left, or if the tier is being closed. */
static bool wait_for_work(struct tier *tier)
{
    tier_lock(tier);
    for (;;) {
        const uint64_t lease_ns = leases_due_ns(tier);
        uint64_t due_ns = tier->first != NULL ? tier->upload_pauses.until_ns : NS_NEVER;
        due_ns = lease_ns < due_ns ? lease_ns : due_ns;
        guard_lock();
        if (guard_is_paused(tier->guard) && tier->guard->pauses.until_ns < due_ns)
            due_ns = tier->guard->pauses.until_ns;
        guard_unlock();
        tier->is_working = !tier_is_ending(tier) && (due_ns != NS_NEVER || tier->leases != NULL);
        if (!tier->is_working || due_ns <= nanoseconds_now())
            break;
        thread_wait(&tier->has_changed, &tier->lock, due_ns);
    }
    const bool is_working = tier->is_working;
    tier_unlock(tier);
    return is_working;
}

static void *run_tier_thread(void *user)
{
    struct tier *tier = user;
    while (wait_for_work(tier)) {
        if (leases_work(tier))
            continue;
        const uint64_t now_ns = nanoseconds_now();
        tier_lock(tier);
        const bool is_upload = tier->first != NULL && tier->upload_pauses.until_ns <= now_ns;
        tier_unlock(tier);
        guard_lock();
        const bool is_probe = guard_begin_probe(tier->guard, now_ns);
        guard_unlock();
        if (is_probe)
            probe_server(tier);
        else if (is_upload)
            upload_one(tier);
    }
    return NULL;
}

bool tier_need_thread(struct tier *tier)
{
    tier_lock(tier);
    const bool is_needed = !tier->is_working;
    if (is_needed && tier->has_thread)
        thread_join(tier->thread); /* it no longer needs the lock */
    if (is_needed)
        tier->has_thread = tier->is_working = thread_start(&tier->thread, run_tier_thread, tier);
    const bool is_running = tier->is_working;
    tier_unlock(tier);
    if (is_needed && !is_running)
        tier_tell(tier, INGOT_OUT_OF_MEMORY, 0,
                  "the remote tier's thread could not be started, so nothing is uploaded");
    return is_running;
}

bool tier_wait_for_uploads(struct tier *tier, uint64_t moment_ns, bool with_leases)
{
    bool is_left = true;
    tier_lock(tier);
    const uint64_t number = tier->last_number;
    for (;;) {
        const struct upload *oldest = tier->active != NULL ? tier->active : tier->first;
        is_left = (oldest != NULL && oldest->number <= number) || (with_leases && leases_are_ending(tier));
        /* an upload that has just failed is about to end */
        const bool may_end_soon = tier->active != NULL || !tier_pauses_uploads(tier);
        if (!is_left || !may_end_soon || nanoseconds_now() >= moment_ns)
            break;
        thread_wait(&tier->has_changed, &tier->lock, moment_ns);
    }
    tier_unlock(tier);
    return !is_left;
}

void tier_finish(struct tier *tier)
{
    size_t count = 0;
    const uint64_t now_ns = nanoseconds_now();
    tier_lock(tier);
    guard_lock();
    const uint64_t time_ns = tier_pauses_uploads(tier) ? 0 : guard_allowance(tier->guard, now_ns);
    guard_unlock();
    tier_unlock(tier);
    if (time_ns != 0)
        (void)tier_wait_for_uploads(tier, now_ns + (time_ns < tier->exit_time_ns ? time_ns : tier->exit_time_ns), true);
    atomic_store_explicit(&tier->is_ending, true, memory_order_relaxed);
    tier_lock(tier);
    tier_wake(tier);
    const bool has_thread = tier->has_thread;
    tier_unlock(tier);
    if (has_thread)
        thread_join(tier->thread);
    for (; tier->first != NULL; ++count)
        free(unlink_upload(tier, &tier->first));
    if (count != 0)
        tier_tell(tier, INGOT_BUSY, 0, "%zu uploads to the remote tier were dropped: there was no time for them",
                  count);
}

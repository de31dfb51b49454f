/*
 * store.c - passes blobs and removals to the tier's thread; see store.h.
 */
#include "remote/tier/store.h"

#include <ingot/backend.h>
#include <stdio.h>

#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/leases.h"
#include "remote/tier/tier.h"
#include "remote/tier/worker.h"

#define REASON_CAPACITY 160u

static void tell_dropped(struct tier *tier, size_t count)
{
    char reason[REASON_CAPACITY];
    if (count == 0)
        return;
    TIER_COUNT(tier, dropped_uploads, count);
    (void)snprintf(reason, sizeof(reason),
                   "%zu uploads to the remote tier were dropped: more wait than the limits allow", count);
    tier_tell(tier, INGOT_NO_SPACE, 0, reason);
}

static ingot_status_t add_upload(struct tier *tier, size_t id_size, const uint8_t *id, size_t blob_size,
                                 const uint8_t *blob, struct upload_added *added)
{
    const ingot_status_t status = upload_queue_add(&tier->queue, id_size, id, blob_size, blob, added);
    if (status == INGOT_SUCCESS)
        (void)worker_ensure(tier);
    tell_dropped(tier, added->dropped_count);
    return status;
}

ingot_status_t tier_store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    struct tier *tier = self;
    if (id_size > ENVELOPE_MAX_ID_SIZE || blob_size > tier->max_blob_bytes)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the blob has %zu bytes, and the remote tier's limit is %zu",
                                      blob_size, tier->max_blob_bytes);
    struct upload_added added;
    const ingot_status_t status = add_upload(tier, id_size, id, blob_size, blob, &added);
    if (status == INGOT_SUCCESS) {
        char key[OBJECT_KEY_CAPACITY];
        object_key_of(tier->name_space, id_size, id, key);
        leases_note_queued(tier, key, added.number);
    }
    return status;
}

ingot_status_t tier_remove(void *self, size_t id_size, const uint8_t *id)
{
    struct upload_added added;
    return add_upload(self, id_size, id, 0, NULL, &added);
}

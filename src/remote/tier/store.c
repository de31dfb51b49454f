/*
 * store.c - passes blobs and removals to the tier's thread; see store.h.
 */
#include "remote/tier/store.h"

#include <ingot/backend.h>
#include <stdio.h>

#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/leases.h"

#define REASON_CAPACITY 160u

static ingot_status_t add_upload(struct tier *tier, size_t id_size, const uint8_t *id, size_t blob_size,
                                 const uint8_t *blob)
{
    char key[OBJECT_KEY_CAPACITY];
    char reason[REASON_CAPACITY];
    size_t dropped_count = 0;
    object_key_of(tier->name_space, id_size, id, key);
    const ingot_status_t status = upload_queue_add(&tier->queue, key, id_size, id, blob_size, blob, &dropped_count);
    if (status == INGOT_SUCCESS && blob_size != 0)
        leases_note_queued(tier, key);
    if (status == INGOT_SUCCESS)
        (void)tier_need_worker(tier);
    if (dropped_count == 0)
        return status;
    TIER_COUNT(tier, dropped_uploads, dropped_count);
    (void)snprintf(reason, sizeof(reason),
                   "%zu uploads to the remote tier were dropped: more wait than the limits allow", dropped_count);
    tier_tell(tier, INGOT_NO_SPACE, 0, reason);
    return status;
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

/*
 * wishes.c - leaves and takes wishes on a tier's server (doc/builders.md).
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <ingot/private/wish.h>

#include "remote/tier/tier.h"
#include "util/nanoseconds.h"

ingot_status_t tier_leave_wish(void *self, size_t id_size, const uint8_t *id)
{
    struct tier *tier = self;
    struct tier_request asked;
    const struct wish_transport_ops *wishes = tier->transport.ops->wishes;
    if (id_size > INGOT_WISH_MAX_SIZE)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the id has %zu bytes, more than a wish may have", id_size);
    const ingot_status_t status = tier_admit(tier, &asked, NULL);
    if (status != INGOT_SUCCESS)
        return status;
    const enum outcome outcome = wishes->leave(tier->transport.self, &asked.request, id_size, id);
    tier_settle_outcome(tier, &asked, outcome);
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    return outcome == OUTCOME_MISSING
               ? ingot_set_error_detail(INGOT_BUSY, "the server has this wish already")
               : ingot_set_error_detail(tier_status_of(outcome), "leaving a wish failed: %s", asked.request.failure);
}

ingot_status_t ingot_remote_take_wish(ingot_storage_t storage, uint64_t wait_ms, ingot_buffer_t *wish)
{
    struct tier *tier = NULL;
    struct tier_request asked;
    ingot_status_t status = tier_find(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    const struct wish_transport_ops *wishes = tier->transport.ops->wishes;
    if (wishes == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "the server keeps no wishes: only Redis does, and directories");
    if (tier_admit(tier, &asked, NULL) != INGOT_SUCCESS)
        return ingot_set_error_detail(INGOT_IO_ERROR, "the remote tier's server failed and is not asked now");
    const enum outcome outcome = wishes->take(tier->transport.self, &asked.request, wait_ms, wish);
    tier_settle(tier, &asked, tier_finding_of(outcome), NS_NEVER, asked.request.failure); /* waiting is no loss */
    if (outcome == OUTCOME_DONE)
        return INGOT_SUCCESS;
    return outcome == OUTCOME_MISSING
               ? ingot_set_error_detail(INGOT_NOT_FOUND, "the server has no wish")
               : ingot_set_error_detail(tier_status_of(outcome), "taking a wish failed: %s", asked.request.failure);
}

ingot_status_t ingot_remote_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct tier *tier = NULL;
    const ingot_status_t status = tier_find(storage, &tier);
    if (status == INGOT_SUCCESS && tier->transport.ops->wishes == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the server keeps no wishes: only Redis does");
    return status == INGOT_SUCCESS ? tier_leave_wish(tier, id_size, id) : status;
}

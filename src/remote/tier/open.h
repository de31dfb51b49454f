/*
 * open.h - creates and frees tiers. The caller then makes a storage from a tier, or uses the tier alone.
 */
#ifndef INGOT_REMOTE_TIER_OPEN_H
#define INGOT_REMOTE_TIER_OPEN_H

#include <ingot/remote.h>

#include "remote/tier/tier.h"

/* Checks the info and makes a tier, which has no thread yet. Returns the statuses of ingot_remote_open. */
ingot_status_t tier_make(const ingot_remote_info_t *info, struct tier **made);
/* Frees a tier. Its threads must have ended, or must never have been started. */
void tier_free(struct tier *tier);

#endif

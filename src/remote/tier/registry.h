/*
 * registry.h - lists the open tiers of this process, and finds the tier of a storage.
 */
#ifndef INGOT_REMOTE_TIER_REGISTRY_H
#define INGOT_REMOTE_TIER_REGISTRY_H

#include "remote/tier/tier.h"

void registry_add(struct tier *tier, ingot_storage_t storage);
void registry_remove(struct tier *tier);
/* Returns the tier of a storage that this process opened, or NULL. */
struct tier *registry_find(ingot_storage_t storage);

#endif

/*
 * registry.h - lists the open tiers of this process, finds the tier of a storage, and finishes all tiers in exit().
 */
#ifndef INGOT_REMOTE_TIER_REGISTRY_H
#define INGOT_REMOTE_TIER_REGISTRY_H

#include <stdbool.h>

#include "remote/tier/tier.h"

/* Adds a tier. Returns false if the handler of exit() cannot be registered. */
bool registry_add(struct tier *tier, ingot_storage_t storage);
void registry_remove(struct tier *tier);
/* Returns the tier of a storage that this process opened, or NULL. */
struct tier *registry_find(ingot_storage_t storage);

/* Lets the tier's thread upload for as long as the tier's exit time and the time that may be lost allow, and then ends
 * the thread. */
void tier_finish(struct tier *tier);

#endif

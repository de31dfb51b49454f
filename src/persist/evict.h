/*
 * evict.h - keeping a store below its limit, and its total right.
 */
#ifndef INGOT_PERSIST_EVICT_H
#define INGOT_PERSIST_EVICT_H

#include "persist/directory.h"

/*
 * Makes the total known, and small enough for an entry of so many bytes; by whoever gets to it first.
 * INGOT_BUSY: another was at it until the deadline. INGOT_NO_SPACE: eviction is off.
 */
ingot_status_t evict_make_room(struct directory *directory, uint64_t bytes, uint64_t deadline_ns);

/* Removes every entry, or those of one namespace where that is not NULL. */
ingot_status_t evict_everything(struct directory *directory, const char *name_space, uint64_t deadline_ns);

#endif

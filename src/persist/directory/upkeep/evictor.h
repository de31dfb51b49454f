/*
 * evictor.h - keeps a store below its limits: evicts at once from a small store, and in a thread from a larger one.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_EVICTOR_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_EVICTOR_H

#include "persist/directory/layout/account.h"

/* A store with at most this many entries is small: evicting from it takes a few milliseconds. */
#define EVICTOR_SMALL 128u

ingot_status_t evictor_init(struct directory *directory);
/* Ends the thread. Waits for it for about a second at most. */
void evictor_fini(struct directory *directory);

/* Evicts from a small store at once: what is too old and, if an entry of wanted_bytes does not fit, as much as it needs
 * and further entries down to the low-water mark. Also corrects size.txt. Sets *is_done to false and changes nothing if
 * the store is not small. */
ingot_status_t evictor_work(struct directory *directory, uint64_t wanted_bytes, bool *is_done);

/* Makes the store's thread do the same, unless it is at work already. Unless is_urgent is set, at most once per
 * minute. */
void evictor_request(struct directory *directory, uint64_t wanted_bytes, bool is_urgent);

/* Returns true if evictor_work found during the last minute that the store is not small. */
bool evictor_knows_large(const struct directory *directory);

/* Called when the store was opened, and when a blob was stored. Evicts entries that are over the age limit. */
void evictor_expire(struct directory *directory);

#endif

/*
 * prewarm_fetch.h - loads blobs of several items in one request before the items' turns come, if the storage can.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_FETCH_H
#define INGOT_PERSIST_PREWARM_PREWARM_FETCH_H

#include "persist/prewarm/prewarm_list.h"

/*
 * Prepares the item at index `number`, whose turn has come: loads its blob together with those of later items, or waits
 * for the thread that is loading it. Requires the lock, but releases it while it loads or waits. Returns false if there
 * was nothing to do, so the turn may begin. If it returns true, the caller must determine the next item again.
 */
bool prewarm_fetch(struct ingot_prewarm *prewarm, const struct prewarm_thread *self, size_t number);
/* Takes the blob that was loaded for an item. If there is none, its desc is NULL. Requires the lock. */
struct prewarm_blob prewarm_fetch_take(struct ingot_prewarm *prewarm, size_t number);
/* Releases the blobs of items whose turns will not come. The caller must not hold the lock. */
void prewarm_fetch_drop(struct ingot_prewarm *prewarm);
/* Releases a blob. The caller must not hold the lock, because this may call a custom storage's function. */
void prewarm_blob_release(struct prewarm_blob *blob);

#endif

/*
 * prewarm_fetch.h - loads the blobs of several items at once, if the prewarm's storage can, before their turns come.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_FETCH_H
#define INGOT_PERSIST_PREWARM_PREWARM_FETCH_H

#include "persist/prewarm/prewarm_list.h"

/*
 * Prepares an item whose turn has come: loads its blob and those of later items, or waits for the thread that does.
 * Requires the lock, but releases it in between. Returns false if there is nothing to do, so the turn may begin. After
 * true, the caller must determine the next item again.
 */
bool prewarm_fetch(struct ingot_prewarm *prewarm, const struct prewarm_thread *self, size_t number);
/* Takes what was loaded for an item. The description is NULL if nothing was loaded. Requires the lock. */
struct prewarm_blob prewarm_fetch_take(struct ingot_prewarm *prewarm, size_t number);
/* Releases what was loaded for items whose turns will not come. The caller must not hold the lock. */
void prewarm_fetch_drop(struct ingot_prewarm *prewarm);
/* Releases what was loaded. The caller must not hold the lock, because this may call a custom storage's function. */
void prewarm_blob_release(struct prewarm_blob *blob);

#endif

/*
 * prewarm_fetch.h - loads the blobs of several items at once, if the prewarm's storage can, before their turns come.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_FETCH_H
#define INGOT_PERSIST_PREWARM_PREWARM_FETCH_H

#include "persist/prewarm/prewarm_list.h"

/*
 * Brings an item whose turn has come closer to its load: loads its blob and those of items after it, or waits for the
 * thread that does. Requires the lock, but releases it in between. Returns false if nothing is to be done, so that the
 * turn may begin; after true, the caller looks again which item is next.
 */
bool prewarm_fetch(struct ingot_prewarm *prewarm, const struct prewarm_thread *self, size_t number);
/* Takes what was loaded for an item; its description is NULL if nothing was. Requires the lock. */
struct prewarm_blob prewarm_fetch_take(struct ingot_prewarm *prewarm, size_t number);
/* Releases what was loaded for items whose turns do not come any more. Without the lock. */
void prewarm_fetch_drop(struct ingot_prewarm *prewarm);
/* Releases what was loaded. Without the lock, because a custom storage's function may be called. */
void prewarm_blob_release(struct prewarm_blob *blob);

#endif

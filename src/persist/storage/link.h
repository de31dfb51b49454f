/*
 * link.h - leads to a storage as long as it exists, without a reference to it. A context that held its storage would
 * keep it from ever ending: what waits in the storage holds the context.
 */
#ifndef INGOT_PERSIST_STORAGE_LINK_H
#define INGOT_PERSIST_STORAGE_LINK_H

#include <ingot/storage.h>

struct link;

/* Makes the link of a new storage. Returns NULL if out of memory. */
struct link *link_create(ingot_storage_t storage);
struct link *link_retain(struct link *link);
void link_release(struct link *link);
/* Called when the storage ends: from now on, the link leads nowhere. */
void link_cut(struct link *link);
/* Returns a reference to the storage, which the caller releases. NULL: it has ended, or this is a forked child. */
ingot_storage_t link_follow(struct link *link);

#endif

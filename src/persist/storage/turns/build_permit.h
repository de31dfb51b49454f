/*
 * build_permit.h - makes a thread wait before it compiles, while as many compilations run as the store's limit allows.
 */
#ifndef INGOT_PERSIST_STORAGE_TURNS_BUILD_PERMIT_H
#define INGOT_PERSIST_STORAGE_TURNS_BUILD_PERMIT_H

#include <ingot/storage.h>

struct build_permit;

/* Waits for a place, at most as long as processes wait for each other's builds. Afterwards the thread may compile.
 * Returns NULL if builds are not limited, or if the limit is unusable. The same thread gives the permit back. */
struct build_permit *build_permit_take(ingot_storage_t storage);
/* Does nothing for NULL. */
void build_permit_give(struct build_permit *permit);

#endif

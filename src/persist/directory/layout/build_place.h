/*
 * build_place.h - limits how many builds run at the same time on a machine, over all processes that use a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_BUILD_PLACE_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_BUILD_PLACE_H

#include <stdbool.h>

struct build_place;

/* The operations of build_locks.h. `self` is a struct directory. */
struct build_place *build_place_ask(void *self);
bool build_place_is_taken(struct build_place *place);
void build_place_leave(struct build_place *place);

#endif

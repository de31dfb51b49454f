/*
 * eviction_plan.h - entries that the next stores of the process let go, a few each.
 *
 * There is one plan a directory at most. Who has it has taken it out of the directory, so no lock guards it. It is a
 * list of names only, each of which is looked at again before it goes, so it may be lost, copied by a fork, or used by
 * two processes at once. It ends with what was over when the entries were counted, whatever has become of the total: a
 * wrong one must not empty the store.
 */
#ifndef INGOT_PERSIST_EVICTION_PLAN_H
#define INGOT_PERSIST_EVICTION_PLAN_H

#include "persist/survey.h"

struct eviction_plan {
    struct survey survey; /* sorted */
    size_t next;          /* of its entries */
    uint64_t bytes;       /* that are to go */
    uint64_t made_ns;     /* steady */
};

/* Worth a try; another thread may be quicker. */
bool eviction_plan_is_there(const struct directory *directory);
/* False: there is none, or its order may not be right any more. The survey becomes the caller's. */
bool eviction_plan_take(struct directory *directory, struct eviction_plan *plan);
/* Takes the survey over. Without memory for it the rest is left to the next store that finds no room. */
void eviction_plan_leave(struct directory *directory, struct eviction_plan *plan);
/* Nobody may be at the directory any more. */
void eviction_plan_discard(struct directory *directory);

#endif

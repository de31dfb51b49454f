/*
 * wait_graph.h - which thread waits for which work, in all caches of the process, so that no thread waits for ever.
 *
 * A thread waits for one work at a time, and a work for the thread that does it. Edges are added and removed under one
 * lock, and a thread adds its edge only if no path leads back to itself. So there is never a ring. The public functions
 * of ingot.h (ingot_work_begin and the three after it) are the rest of the interface.
 *
 * Lock: the graph's own, a leaf: nothing is called under it. A child process begins with a new one.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H
#define INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H

#include <stdbool.h>

#include <ingot/ingot.h>

struct ingot_worker {
    const struct ingot_work *waits_for; /* under the graph's lock */
};

/* Must be called before the first work begins. False: no memory for what a forked child needs. */
bool wait_graph_prepare(void);
/* Returns the calling thread, valid as long as it lives. */
struct ingot_worker *wait_graph_self(void);
/* Makes a thread that waits for the work its worker. */
void wait_graph_hand_over(struct ingot_work *work, struct ingot_worker *to);

#endif

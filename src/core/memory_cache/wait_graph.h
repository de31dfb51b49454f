/*
 * wait_graph.h - records which thread waits for which work, in all caches of the process, so that no thread waits
 * forever.
 *
 * A thread waits for one work at a time, and a work depends on the thread that does it. Edges are added and removed
 * under one lock, and a thread adds its edge only if no path leads back to itself. The graph therefore never has a
 * cycle. The public functions of ingot.h (ingot_work_begin and the three after it) are the rest of the interface.
 *
 * The graph has its own lock, which is not held during calls. A child process starts with a new lock.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H
#define INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H

#include <stdbool.h>

#include <ingot/ingot.h>

struct ingot_worker;

/* Must be called before the first work begins. Returns false if there is no memory for the handler that a forked child
 * needs. */
bool wait_graph_prepare(void);
/* Returns the calling thread's worker, valid as long as the thread lives. */
struct ingot_worker *wait_graph_self(void);
/* Returns a number that is different in each forked child. The thread of a work that began under another number may not
 * exist in this process. */
unsigned wait_graph_process(void);
/* Hands the work over to a thread that waits for it, which now does the work. */
void wait_graph_hand_over(struct ingot_work *work, struct ingot_worker *to);

#endif

/*
 * wait_graph.h - records which thread waits for which work, in all caches of the process, so that threads never wait
 * for each other in a circle.
 *
 * A thread waits for at most one piece of work at a time, and each piece is done by one thread. A thread records its
 * wait only if no path of such dependencies leads back to itself, and all changes are made under one lock. So the graph
 * never has a cycle.
 *
 * The graph's lock is not held while other code is called. A child process starts with a new lock.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H
#define INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H

#include <stdbool.h>

#include <ingot/ingot.h>

struct graph_worker;

/* Work that other threads may wait for. Zeroed before its first use. */
struct graph_work {
    struct graph_worker *worker; /* the thread that does it; NULL if it is not in progress */
};

/* Must be called before the first work begins. Registers the function that each forked child runs. Returns false if
 * there is not enough memory for that. */
bool wait_graph_prepare(void);
/* Returns the calling thread's node in the graph, which is valid as long as the thread lives. */
struct graph_worker *wait_graph_self(void);
/* Returns a number that is different in each forked child. If work began under another number, the thread that does
 * it may not exist in this process. */
unsigned wait_graph_process(void);

/* Begins work: the calling thread does it from now on. */
void wait_graph_begin(struct graph_work *work);
/* Ends work. Must be called before the threads that wait for it are woken. */
void wait_graph_end(struct graph_work *work);
/* Hands the work over to a thread that waits for it. From then on, that thread does the work. */
void wait_graph_hand_over(struct graph_work *work, struct graph_worker *to);

/* Notes that the calling thread waits for the work until it calls wait_graph_end_wait. The work must stay valid until
 * then. Returns INGOT_DEADLOCK, and notes nothing, if the work waits for this thread or is its own. */
ingot_status_t wait_graph_begin_wait(const struct graph_work *work);
void wait_graph_end_wait(void);

#endif

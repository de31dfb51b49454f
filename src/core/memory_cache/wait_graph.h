/*
 * wait_graph.h - records which thread waits for which work, in all caches of the process, so that threads never wait
 * for each other in a circle.
 *
 * A thread waits for at most one piece of work (ingot_work_t) at a time, and each piece is done by one thread. A thread
 * records its wait only if no path of such dependencies leads back to itself, and all changes are made under one lock.
 * So the graph never has a cycle. ingot.h declares the rest of the interface: ingot_work_begin and the three functions
 * after it.
 *
 * The graph's lock is not held while other code is called. A child process starts with a new lock.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H
#define INGOT_CORE_MEMORY_CACHE_WAIT_GRAPH_H

#include <stdbool.h>

#include <ingot/ingot.h>

struct ingot_worker;

/* Must be called before the first work begins. Registers the function that each forked child runs. Returns false if
 * there is not enough memory for that. */
bool wait_graph_prepare(void);
/* Returns the calling thread's node in the graph, which is valid as long as the thread lives. */
struct ingot_worker *wait_graph_self(void);
/* Returns a number that is different in each forked child. If work began under another number, the thread that does
 * it may not exist in this process. */
unsigned wait_graph_process(void);
/* Hands the work over to a thread that waits for it. From then on, that thread does the work. */
void wait_graph_hand_over(struct ingot_work *work, struct ingot_worker *to);

#endif

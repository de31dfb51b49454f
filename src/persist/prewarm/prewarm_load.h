/*
 * prewarm_load.h - declares the start function of prewarming threads.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_LOAD_H
#define INGOT_PERSIST_PREWARM_PREWARM_LOAD_H

/* The thread's start function, for pthread_create. */
void *prewarm_run(void *prewarm_thread);

#endif

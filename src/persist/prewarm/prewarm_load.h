/*
 * prewarm_load.h - what a prewarming thread does.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_LOAD_H
#define INGOT_PERSIST_PREWARM_PREWARM_LOAD_H

/* For pthread_create. */
void *prewarm_run(void *prewarm_thread);

#endif

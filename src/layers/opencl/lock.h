/*
 * lock.h - the layer's only lock.
 *
 * It guards the table of handles, the list of contexts, the fields of shadows that shadow.h marks, and the static
 * variables whose comments say so. Threads hold it only for a few instructions, never during a call to the driver, to
 * Ingot or to the application. A fork waits until no thread holds it.
 */
#ifndef INGOT_LAYERS_OPENCL_LOCK_H
#define INGOT_LAYERS_OPENCL_LOCK_H

void lock_init(void);
void lock_take(void);
void lock_release(void);

/* Waits, with the lock released, until another thread has called lock_wake. */
void lock_wait(void);
void lock_wake(void);

#endif

/*
 * thread.h - starts threads that receive no signals, and waits for conditions by the steady clock.
 */
#ifndef INGOT_REMOTE_BASE_THREAD_H
#define INGOT_REMOTE_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts a thread to which no signal is delivered: an application expects its handlers to run in its own threads. */
bool thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

/* Returns false if out of memory. */
bool thread_init_condition(pthread_cond_t *condition);
/* Waits for the condition, but only until `moment_ns` unless that is CLOCK_NEVER. The caller holds the lock. */
void thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t moment_ns);

#endif

/*
 * lock.c - the layer's only lock.
 */
#include "layers/opencl/lock.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void lock_take(void)
{
    (void)pthread_mutex_lock(&mutex);
}

void lock_release(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

void lock_wait(void)
{
    (void)pthread_cond_wait(&changed, &mutex);
}

void lock_wake(void)
{
    (void)pthread_cond_broadcast(&changed);
}

/* Resets the lock in a forked child, which does not have the waiting threads. */
static void begin_child(void)
{
    (void)pthread_cond_init(&changed, NULL);
    lock_release();
}

void lock_init(void)
{
    (void)pthread_atfork(lock_take, lock_release, begin_child);
}

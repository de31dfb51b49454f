/*
 * lock.c - one lock for the process; see lock.h.
 */
#include "front/lock.h"

#include <pthread.h>

#include "util/thread.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

/* The threads that waited do not exist in the child, so the condition forgets them. */
static void give_in_child(void)
{
    thread_condition_init(&changed);
    lock_give();
}

static void prepare(void)
{
    thread_condition_init(&changed);
    (void)pthread_atfork(lock_take, lock_give, give_in_child);
}

void lock_take(void)
{
    (void)pthread_once(&is_prepared, prepare);
    (void)pthread_mutex_lock(&mutex);
}

void lock_give(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

void lock_wait(void)
{
    thread_wait(&changed, &mutex, NS_NEVER);
}

void lock_wake(void)
{
    (void)pthread_cond_broadcast(&changed);
}

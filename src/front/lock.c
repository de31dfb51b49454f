/*
 * lock.c - one lock for the process; see lock.h.
 */
#include "front/lock.h"

#include <pthread.h>

#include "util/thread.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

static void lock_mutex(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void unlock_mutex(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* The threads that waited do not exist in the child, so the condition forgets them. */
static void give_in_child(void)
{
    thread_condition_init(&changed);
    unlock_mutex();
}

static void prepare(void)
{
    thread_condition_init(&changed);
    (void)pthread_atfork(lock_mutex, unlock_mutex, give_in_child);
}

void lock_take(void)
{
    (void)pthread_once(&is_prepared, prepare);
    lock_mutex();
}

void lock_give(void)
{
    unlock_mutex();
}

void lock_wait(void)
{
    thread_wait(&changed, &mutex, NS_NEVER);
}

void lock_wake(void)
{
    (void)pthread_cond_broadcast(&changed);
}

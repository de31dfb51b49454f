/*
 * process_number.c - counts the forks that led to this process; see process_number.h.
 */
#include "util/process_number.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Relaxed: it changes only in a forked child, while the child has only one thread. */
static _Atomic(unsigned long) number = 1;
static bool is_told_of_forks;

static void begin_process(void)
{
    atomic_fetch_add_explicit(&number, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    is_told_of_forks = pthread_atfork(NULL, NULL, begin_process) == 0;
}

unsigned long process_number(void)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_once(&watched, watch_forks);
    return is_told_of_forks ? atomic_load_explicit(&number, memory_order_relaxed) : (unsigned long)getpid();
}

/*
 * thread_place.h - threads that are to work at once begin on processors of their own.
 */
#ifndef INGOT_PERSIST_BASE_THREAD_PLACE_H
#define INGOT_PERSIST_BASE_THREAD_PLACE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* Where a group of threads may run, once it has begun. */
struct thread_place {
    bool is_chosen;
    cpu_set_t allowed;
};

/* For so many threads, which the calling one starts. */
void thread_place_init(struct thread_place *place, size_t thread_count);
/* Where the thread with this number begins. */
void thread_place_choose(const struct thread_place *place, size_t number, pthread_attr_t *attributes);
/* The calling thread has begun, and may go where it likes. */
void thread_place_leave(const struct thread_place *place);

#endif

/*
 * process_lock.c - a mutex that remains usable after fork, because the child creates it again.
 */
#include "persist/base/process_lock.h"

#include <ingot/backend.h>
#include <sched.h>
#include <time.h>

#include "persist/base/files.h"
#include "util/cancellation.h"
#include "util/nanoseconds.h"

#define BEING_MADE (-1L)

ingot_status_t process_lock_init(struct process_lock *lock)
{
    atomic_init(&lock->process, (long)files_process());
    if (pthread_mutex_init(&lock->mutex, NULL) != 0)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "a storage's lock could not be created");
    return INGOT_SUCCESS;
}

void process_lock_fini(struct process_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

/* Creates the mutex again if this process is a child of the process that created it. */
static void make_own(struct process_lock *lock, void (*forget)(void *user), void *user)
{
    const long process = (long)files_process();
    long owner = atomic_load_explicit(&lock->process, memory_order_acquire);
    while (owner != process) {
        if (owner != BEING_MADE &&
            atomic_compare_exchange_strong_explicit(&lock->process, &owner, BEING_MADE, memory_order_acquire,
                                                    memory_order_acquire)) {
            (void)pthread_mutex_init(&lock->mutex, NULL); /* on Linux it needs no memory and cannot fail */
            forget(user);
            atomic_store_explicit(&lock->process, process, memory_order_release);
            break;
        }
        (void)sched_yield();
        owner = atomic_load_explicit(&lock->process, memory_order_acquire);
    }
}

void process_lock_take(struct process_lock *lock, void (*forget)(void *user), void *user)
{
    make_own(lock, forget, user);
    pthread_mutex_lock(&lock->mutex);
}

bool process_lock_try(struct process_lock *lock, void (*forget)(void *user), void *user)
{
    make_own(lock, forget, user);
    return pthread_mutex_trylock(&lock->mutex) == 0;
}

void process_lock_give(struct process_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

bool process_lock_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t steady;
    if (pthread_condattr_init(&steady) != 0)
        return false;
    const bool is_made =
        pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &steady) == 0;
    (void)pthread_condattr_destroy(&steady);
    return is_made;
}

void process_lock_wait_until(struct process_lock *lock, pthread_cond_t *condition, uint64_t moment_ns)
{
    const struct timespec moment = {(time_t)(moment_ns / NS_PER_SECOND), (long)(moment_ns % NS_PER_SECOND)};
    const int cancellation = cancellation_hold();
    if (moment_ns == PROCESS_NO_TIME)
        pthread_cond_wait(condition, &lock->mutex);
    else
        (void)pthread_cond_timedwait(condition, &lock->mutex, &moment);
    cancellation_allow(cancellation);
}

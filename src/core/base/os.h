/*
 * os.h - what the core needs of the operating system: locks, threads, time, the environment. os_file.h has the files.
 *
 * None of these functions is a cancellation point.
 */
#ifndef INGOT_CORE_BASE_OS_H
#define INGOT_CORE_BASE_OS_H

#include <pthread.h>
#include <stdbool.h>

#include <ingot/ingot.h>

typedef pthread_mutex_t os_mutex;
typedef pthread_cond_t os_condition;
typedef pthread_once_t os_once;

#define OS_ONCE_INIT PTHREAD_ONCE_INIT

ingot_status_t os_mutex_init(os_mutex *mutex);
void os_mutex_fini(os_mutex *mutex);
void os_mutex_lock(os_mutex *mutex);
void os_mutex_unlock(os_mutex *mutex);
ingot_status_t os_condition_init(os_condition *condition);
void os_condition_fini(os_condition *condition);
void os_condition_wait(os_condition *condition, os_mutex *mutex);
void os_condition_wake_all(os_condition *condition);

void os_do_once(os_once *once, void (*action)(void));

/*
 * The calling thread's one buffer, zeroed when it is first asked for, freed by the C library when the thread ends, also
 * if Ingot was unloaded meanwhile. Each call has the same size. NULL: there is no memory.
 */
void *os_thread_buffer(size_t size);
/* Among all threads that there are now; never 0. */
uint32_t os_thread_number(void);
/* Whether this process has such a thread. When it has not, that thread has done all that it ever did. */
bool os_thread_is_there(uint32_t number);
/* Has a child process call this at its begin, in its one thread. */
bool os_call_after_fork(void (*action)(void));
/* Whether os_barrier_on_all_threads can be had. Once it said yes, it may be used from any thread. The first time takes
 * tens of milliseconds in a process of several threads. */
bool os_prepare_barrier(void);
/* The same, if it takes no time now, to save it later. */
void os_prepare_barrier_if_alone(void);
/*
 * A full memory barrier in the calling thread and, somewhere between begin and end of the call, in each other thread of
 * the process: what a thread wrote before its barrier is seen by all that come after theirs. Where the system refuses
 * what it once granted, this sleeps for longer than any processor holds back a write.
 */
void os_barrier_on_all_threads(void);
void os_nap(void); /* tens of microseconds */

uint64_t os_now_ns(void); /* monotonic */

/* NULL where it is not set, or the process has rights that its user has not (setuid). Read only while a context is
 * made. */
const char *os_environment(const char *name);
/* The same for a variable that is a driver's or a compiler's, as that will see it, whatever rights there are. */
const char *os_environment_of_others(const char *name);
/* Each variable's name of so many bytes; none where os_environment would say none. */
void os_visit_environment(void (*visit)(const char *name, size_t size, void *user), void *user);

#endif

/*
 * os.h - what the core needs from the operating system: locks, threads, time, the environment. For files, see
 * os_file.h.
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
 * Returns the calling thread's only buffer, initially zeroed. The C library frees it when the thread ends, even if
 * Ingot has been unloaded by then. All calls must pass the same size. Returns NULL if out of memory.
 */
void *os_thread_buffer(size_t size);
/* Registers a function that each forked child calls first, in its only thread. */
bool os_call_after_fork(void (*action)(void));

uint64_t os_now_ns(void); /* monotonic */

/* Returns a variable's value, or NULL if it is not set or the process has more rights than its user (setuid). Called
 * only while a context is created. */
const char *os_environment(const char *name);
/* Does the same for a variable of a driver or compiler, which reads it even in a setuid process. */
const char *os_environment_of_others(const char *name);
/* Calls visit with each variable's name. Does nothing if os_environment would return NULL for all of them. */
void os_visit_environment(void (*visit)(const char *name, size_t size, void *user), void *user);

#endif

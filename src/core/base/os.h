/*
 * os.h - wraps the operating system's locks, threads, clock and environment variables. For files, see os_file.h.
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
 * Returns a buffer of `size` bytes that belongs to the calling thread, initially zeroed. There is one per thread, so
 * all calls must pass the same size. The C library frees it when the thread ends, even if Ingot has been unloaded by
 * then. Returns NULL if out of memory.
 */
void *os_thread_buffer(size_t size);
/* Registers a function that runs in each forked child, before fork returns there. Returns false if that fails. */
bool os_call_after_fork(void (*action)(void));

uint64_t os_now_ns(void);        /* monotonic clock */
uint64_t os_wall_clock_ms(void); /* milliseconds since 1970 */

/* Returns the value of an environment variable. Returns NULL if it is not set, or if the process has more rights
 * than its user (setuid). Called only while a context is created. */
const char *os_environment(const char *name);
/* Returns the value of an environment variable that a driver or compiler reads. Works in a setuid process, too, because
 * drivers also read their variables there. */
const char *os_environment_of_others(const char *name);
/* Calls visit with the name of each environment variable. In a setuid process, where os_environment returns NULL, it
 * does nothing. */
void os_visit_environment(void (*visit)(const char *name, size_t size, void *user), void *user);

#endif

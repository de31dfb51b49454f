/*
 * os.h - what the core needs of the operating system, in one place: locks, time, the environment, reading a file.
 *
 * The core reads files for one reason: the content of what a source includes is part of what it is. It writes none
 * but the trace that the user asked for by name.
 */
#ifndef INGOT_CORE_OS_H
#define INGOT_CORE_OS_H

#include <pthread.h>

#include "core/bytes.h"

typedef pthread_mutex_t os_mutex;
typedef pthread_cond_t os_condition;

ingot_status_t os_mutex_init(os_mutex *mutex);
void os_mutex_fini(os_mutex *mutex);
void os_mutex_lock(os_mutex *mutex);
void os_mutex_unlock(os_mutex *mutex);
ingot_status_t os_condition_init(os_condition *condition);
void os_condition_fini(os_condition *condition);
void os_condition_wait(os_condition *condition, os_mutex *mutex);
void os_condition_wake_all(os_condition *condition);

uint64_t os_now_ns(void); /* monotonic */

/* NULL where it is not set. Read only while a context is made. */
const char *os_environment(const char *name);

/* Appends a regular file's content. INGOT_NOT_FOUND: no such file (a directory on the way included); INGOT_IO_ERROR:
 * there, and not readable or no regular file. */
ingot_status_t os_read_file(const char *path, struct bytes_writer *content);

#endif

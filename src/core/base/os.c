/*
 * os.c - implements os.h with POSIX.
 */
#include "core/base/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "util/cancellation.h"
#include "util/nanoseconds.h"

ingot_status_t os_mutex_init(os_mutex *mutex)
{
    return pthread_mutex_init(mutex, NULL) == 0 ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

void os_mutex_fini(os_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}

void os_mutex_lock(os_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

void os_mutex_unlock(os_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

ingot_status_t os_condition_init(os_condition *condition)
{
    return pthread_cond_init(condition, NULL) == 0 ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

void os_condition_fini(os_condition *condition)
{
    pthread_cond_destroy(condition);
}

void os_condition_wait(os_condition *condition, os_mutex *mutex)
{
    const int before = cancellation_hold();
    pthread_cond_wait(condition, mutex);
    cancellation_allow(before);
}

void os_condition_wake_all(os_condition *condition)
{
    pthread_cond_broadcast(condition);
}

void os_do_once(os_once *once, void (*action)(void))
{
    pthread_once(once, action);
}

static pthread_key_t buffer_key;
static bool has_buffer_key;

static void make_buffer_key(void)
{
    has_buffer_key = pthread_key_create(&buffer_key, free) == 0;
}

void *os_thread_buffer(size_t size)
{
    static os_once prepared = OS_ONCE_INIT;

    os_do_once(&prepared, make_buffer_key);
    if (!has_buffer_key)
        return NULL;
    void *buffer = pthread_getspecific(buffer_key);
    if (buffer != NULL)
        return buffer;
    buffer = calloc(1, size);
    if (buffer != NULL && pthread_setspecific(buffer_key, buffer) != 0) {
        free(buffer);
        return NULL;
    }
    return buffer;
}

bool os_call_after_fork(void (*action)(void))
{
    return pthread_atfork(NULL, NULL, action) == 0;
}

uint64_t os_now_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

uint64_t os_wall_clock_ms(void)
{
    return nanoseconds_of(CLOCK_REALTIME) / NS_PER_MS;
}

const char *os_environment(const char *name)
{
    return secure_getenv(name);
}

const char *os_environment_of_others(const char *name)
{
    return getenv(name);
}

void os_visit_environment(void (*visit)(const char *name, size_t size, void *user), void *user)
{
    for (char **each = environ; each != NULL && *each != NULL && getauxval(AT_SECURE) == 0; ++each) {
        const char *end = strchr(*each, '=');
        visit(*each, end != NULL ? (size_t)(end - *each) : strlen(*each), user);
    }
}

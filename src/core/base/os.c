/*
 * os.c - POSIX, behind os.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "core/base/os.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>) /* of glibc 2.32 and later */
#include <sys/single_threaded.h>
#define HAVE_SINGLE_THREADED
#endif
#endif

#include "util/cancellation.h"

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

uint32_t os_thread_number(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

bool os_thread_is_there(uint32_t number)
{
    const int saved = errno;
    const bool gone = syscall(SYS_tgkill, getpid(), (pid_t)number, 0) != 0 && errno == ESRCH;
    errno = saved;
    return !gone;
}

bool os_call_after_fork(void (*action)(void))
{
    return pthread_atfork(NULL, NULL, action) == 0;
}

static bool membarrier(int command)
{
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
}

bool os_prepare_barrier(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

void os_prepare_barrier_if_alone(void)
{
#ifdef HAVE_SINGLE_THREADED
    if (__libc_single_threaded)
        os_prepare_barrier();
#endif
}

/* Sleeps for the full time, even if signals arrive. */
static void sleep_ns(long ns)
{
    const int saved = errno;
    const int before = cancellation_hold();
    struct timespec left = {0, ns};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    cancellation_allow(before);
    errno = saved;
}

void os_barrier_on_all_threads(void)
{
    enum { LONGER_THAN_A_WRITE_IS_HELD_BACK_NS = 20000000 };

    if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) /* a seccomp filter was installed after os_prepare_barrier */
        sleep_ns(LONGER_THAN_A_WRITE_IS_HELD_BACK_NS);
    atomic_thread_fence(memory_order_seq_cst);
}

void os_nap(void)
{
    enum { NAP_NS = 20000 };

    sleep_ns(NAP_NS);
}

uint64_t os_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

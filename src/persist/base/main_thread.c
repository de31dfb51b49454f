/*
 * main_thread.c - detects the thread in which the process began; see main_thread.h.
 *
 * The C library destroys a thread's objects when the thread ends, and those of the thread that calls exit() first of
 * all. It does not destroy the main thread's objects if that thread ends by pthread_exit(), so a destructor in the main
 * thread runs only in exit(). The C library keeps the library that contains the function loaded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "persist/base/main_thread.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "persist/base/files.h"

extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

bool main_thread_is_this(void)
{
    return (unsigned long)syscall(SYS_gettid) == files_process();
}

static void call(void *object)
{
    void (*function)(void) = NULL;
    memcpy(&function, &object, sizeof(function));
    function();
}

bool main_thread_call_at_exit(void (*function)(void))
{
    void *object = NULL;
    memcpy(&object, &function, sizeof(object));
    return __cxa_thread_atexit_impl != NULL && __cxa_thread_atexit_impl(call, object, &__dso_handle) == 0;
}

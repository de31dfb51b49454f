/*
 * main_thread.c - finds out whether a thread is the main thread, and calls a function when the main thread ends the
 * process.
 *
 * When a thread ends, the C library destroys its thread-local objects. exit() first destroys the objects of the thread
 * that called it. If the main thread ends by pthread_exit(), its objects are not destroyed, so a destructor that the
 * main thread registers runs only in exit(). Until the destructor has run, the C library does not unload the library
 * that contains it.
 */
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

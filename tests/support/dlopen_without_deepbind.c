/*
 * dlopen_without_deepbind.c - lets Intel's driver be loaded by a program with a sanitizer.
 *
 * The driver opens libraries of its own with RTLD_DEEPBIND, and the sanitizers' run-time ends the process when it sees
 * that flag. Programs of a sanitizer build are linked with this dlopen, which takes the flag away and goes on to the
 * sanitizer's. No other build has it.
 */
#include <dlfcn.h>
#include <stddef.h>

void *__interceptor_dlopen(const char *name, int flags) __attribute__((weak));
__attribute__((visibility("default"))) void *dlopen(const char *name, int flags);

void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = __interceptor_dlopen;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(name, flags & ~RTLD_DEEPBIND);
}

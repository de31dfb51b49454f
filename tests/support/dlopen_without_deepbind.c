/*
 * dlopen_without_deepbind.c - lets Intel's driver be loaded by a program with a sanitizer.
 *
 * The driver opens its own libraries with RTLD_DEEPBIND, and the sanitizers' run-time ends the process when it sees
 * that flag. Programs of a sanitizer build are linked with this dlopen, which removes the flag and calls the
 * sanitizer's dlopen. No other build has it.
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

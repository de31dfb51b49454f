/*
 * pocl.h - says when PoCL's own files make a program's binary unusable.
 */
#ifndef INGOT_UTIL_POCL_H
#define INGOT_UTIL_POCL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define POCL_LONGEST_NAME 252u /* with ".so" added, a file name of the maximum length on Linux */

/*
 * True if PoCL's own cache of kernels is off. Reads the variable as PoCL does. Without its cache, PoCL keeps a
 * program's files in a directory of its own and deletes it with the program. A binary has the directory's name, so all
 * programs that are loaded from it share the directory, in every process. The first one that is released deletes it,
 * and PoCL aborts the processes in which the others still need it. Such a binary must not be stored.
 */
static inline bool pocl_cache_is_off(void)
{
    const char *value = getenv("POCL_KERNEL_CACHE");
    return value != NULL && value[0] != '1';
}

/* True if the address space of the process is limited (ulimit -v). When PoCL returns a program's binary, it allocates
 * 256 MiB and does not check whether it got them. */
static inline bool pocl_memory_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/*
 * True if none of these names of kernels, which are separated by semicolons, is too long. When PoCL returns a program's
 * binary, it writes each kernel's code to a file named after the kernel, and aborts the process if it cannot create the
 * file. It does so even if the application never launches the kernel.
 */
static inline bool pocl_names_fit(const char *names)
{
    size_t length = strcspn(names, ";");
    while (length <= POCL_LONGEST_NAME && names[length] != '\0') {
        names += length + 1;
        length = strcspn(names, ";");
    }
    return length <= POCL_LONGEST_NAME;
}

#endif

/*
 * pocl_cache.h - finds out whether PoCL's own cache of kernels is off.
 *
 * Without its cache, PoCL keeps a program's files in a directory of its own and deletes it with the program. A binary
 * has the directory's name, so all programs that are loaded from it share the directory, in every process. The first
 * one that is released deletes it, and PoCL aborts the processes in which the others still need it. Such a binary must
 * not be stored.
 */
#ifndef INGOT_UTIL_POCL_CACHE_H
#define INGOT_UTIL_POCL_CACHE_H

#include <stdbool.h>
#include <stdlib.h>

/* Reads the variable as PoCL does. */
static inline bool pocl_cache_is_off(void)
{
    const char *value = getenv("POCL_KERNEL_CACHE");
    return value != NULL && value[0] != '1';
}

#endif

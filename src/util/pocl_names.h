/*
 * pocl_names.h - kernel names that are too long for PoCL.
 *
 * PoCL writes a kernel's code to a file named after the kernel, and aborts the process if the file cannot be created.
 * It does so when a binary is requested, even if the application never launches the kernel.
 */
#ifndef INGOT_UTIL_POCL_NAMES_H
#define INGOT_UTIL_POCL_NAMES_H

#include <stdbool.h>
#include <string.h>

#define POCL_LONGEST_NAME 252u /* with ".so", the longest name of a file on Linux */

/* True if each of these names, with semicolons between them, can be a file's. */
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

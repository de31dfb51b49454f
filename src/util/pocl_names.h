/*
 * pocl_names.h - finds kernel names that are too long for PoCL.
 *
 * When PoCL returns a program's binary, it writes each kernel's code to a file named after the kernel, and aborts the
 * process if it cannot create the file. It does so even if the application never launches the kernel.
 */
#ifndef INGOT_UTIL_POCL_NAMES_H
#define INGOT_UTIL_POCL_NAMES_H

#include <stdbool.h>
#include <string.h>

#define POCL_LONGEST_NAME 252u /* with ".so" added, a file name of the maximum length on Linux */

/* True if none of these names, which are separated by semicolons, is too long. */
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

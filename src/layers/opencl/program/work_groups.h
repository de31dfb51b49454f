/*
 * work_groups.h - finds out whether Intel's driver launches a program's kernels with work-groups of different sizes.
 *
 * The driver derives this from the options of a build: OpenCL C 2.0 and later allow it, unless an option forbids it. A
 * program that was built that way allows it forever, even if it is built again with other options.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_WORK_GROUPS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_WORK_GROUPS_H

#include <stdbool.h>
#include <string.h>

/* True if these options allow it. NULL: the application gave none. */
static inline bool work_groups_may_differ(const char *options)
{
    static const char standard[] = "-cl-std=CL";
    const char *found = options != NULL ? strstr(options, standard) : NULL;
    return found != NULL && found[sizeof(standard) - 1] >= '2' &&
           strstr(options, "-cl-uniform-work-group-size") == NULL;
}

#endif

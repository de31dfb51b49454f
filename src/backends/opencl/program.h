/*
 * program.h - holds a native program and the devices that it was made for.
 */
#ifndef INGOT_BACKENDS_OPENCL_PROGRAM_H
#define INGOT_BACKENDS_OPENCL_PROGRAM_H

#include "backends/opencl/state.h"

#include <stdatomic.h>

struct opencl_program {
    cl_program native;
    char *options;         /* of a program that opencl_get_binary builds again for its first binary; NULL: none */
    atomic_bool was_asked; /* for its binary */
    size_t device_count;
    cl_device_id devices[]; /* in the order of the native context */
};

/* Creates a program for these devices, without its native program. */
ingot_status_t opencl_program_create(const struct opencl_state *state, size_t device_count,
                                     const uint32_t *device_indices, struct opencl_program **program);

#endif

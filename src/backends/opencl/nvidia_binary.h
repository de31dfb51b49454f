/*
 * nvidia_binary.h - machine code in place of the PTX that NVIDIA's driver gives out as a program's binary.
 *
 * The driver compiles PTX each time that it is loaded: 5 to 25 ms for the programs of the digits example, of which none
 * takes 20 us as machine code.
 */
#ifndef INGOT_BACKENDS_OPENCL_NVIDIA_BINARY_H
#define INGOT_BACKENDS_OPENCL_NVIDIA_BINARY_H

#include "backends/opencl/state.h"

/* Machine code for the device, which the caller frees with its size; *native stays NULL where the binary is no PTX, or
 * cannot be translated without losing what the program was built with. */
ingot_status_t nvidia_binary_translate(const struct opencl_state *state, cl_program program, cl_device_id device,
                                       size_t size, const void *bytes, size_t *native_size, void **native);

/* Whether a program of the machine code has the kernels that one of the PTX has, and tells the same of them. */
int nvidia_binary_is_equal(const struct opencl_state *state, cl_device_id device, cl_program of_ptx,
                           cl_program of_native);

#endif

/*
 * nvidia_binary.h - machine code in place of the PTX that NVIDIA's driver gives out as a program's binary.
 *
 * The driver compiles PTX each time that it is loaded: 5 to 25 ms for the programs of the digits example, of which none
 * takes 20 us as machine code.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_BINARY_H
#define INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_BINARY_H

#include <ingot/backend.h>
#include <ingot/opencl.h>

#include <stdbool.h>

/* Machine code for the device, which the caller frees with its size; *native stays NULL where the binary is no PTX, or
 * cannot be translated without losing what the program was built with. */
ingot_status_t nvidia_binary_translate(const ingot_allocator_t *allocator, cl_platform_id platform, cl_program program,
                                       cl_device_id device, const ingot_binary_t *binary, size_t *native_size,
                                       void **native);

/* Whether a program of the machine code has the kernels that one of the PTX has, and tells the same of them. */
bool nvidia_binary_is_equal(const ingot_allocator_t *allocator, cl_device_id device, cl_program of_ptx,
                            cl_program of_native);

#endif

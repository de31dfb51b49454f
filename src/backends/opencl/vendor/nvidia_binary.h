/*
 * nvidia_binary.h - replaces PTX, which NVIDIA's driver returns as a program's binary, with machine code.
 *
 * The driver compiles PTX at each load. Loading a program of examples/digits takes 5 to 25 ms from PTX, and less than
 * 20 us from machine code.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_BINARY_H
#define INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_BINARY_H

#include <ingot/backend.h>
#include <ingot/opencl.h>

#include <CL/cl_icd.h>
#include <stdbool.h>

/* Translates PTX to machine code for the device. The caller frees *native, which has *native_size bytes. *native stays
 * NULL if the binary is not PTX, if it cannot be linked, or if the translation would lose something that the program
 * was built with. */
ingot_status_t nvidia_binary_translate(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator,
                                       cl_platform_id platform, cl_program program, cl_device_id device,
                                       const ingot_binary_t *binary, size_t *native_size, void **native);

/* True if the program made from machine code has the same kernels as the program made from PTX, and answers queries
 * about them in the same way. */
bool nvidia_binary_is_equal(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator, cl_device_id device,
                            cl_program of_ptx, cl_program of_native);

#endif

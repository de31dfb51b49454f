/*
 * nvidia_linker.h - PTX to machine code by NVIDIA's nvJitLink, where that is installed.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_LINKER_H
#define INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_LINKER_H

#include <ingot/backend.h>

/* For a GPU of this compute capability (10 * major + minor), by the newest linker that is not newer than the driver's
 * major version of CUDA. The caller frees *native with its size. INGOT_UNIMPLEMENTED: there is none.
 * INGOT_BACKEND_ERROR: it does not take the PTX. */
ingot_status_t nvidia_link_ptx(const ingot_allocator_t *allocator, unsigned cuda_major, unsigned capability,
                               size_t size, const void *ptx, size_t *native_size, void **native);

#endif

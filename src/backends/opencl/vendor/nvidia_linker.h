/*
 * nvidia_linker.h - translates PTX to machine code with nvJitLink, if nvJitLink is installed.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_LINKER_H
#define INGOT_BACKENDS_OPENCL_VENDOR_NVIDIA_LINKER_H

#include <ingot/backend.h>

/* Translates PTX for GPUs of this compute capability (10 * major + minor), with the newest nvJitLink that is not newer
 * than the driver's major version of CUDA. The caller frees *native, which has *native_size bytes. Returns
 * INGOT_UNIMPLEMENTED if there is no nvJitLink, and INGOT_BACKEND_ERROR if it refused the PTX. */
ingot_status_t nvidia_link_ptx(const ingot_allocator_t *allocator, unsigned cuda_major, unsigned capability,
                               size_t size, const void *ptx, size_t *native_size, void **native);

#endif

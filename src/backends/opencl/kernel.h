/*
 * kernel.h - native kernels. A backend kernel is the cl_kernel itself.
 */
#ifndef INGOT_BACKENDS_OPENCL_KERNEL_H
#define INGOT_BACKENDS_OPENCL_KERNEL_H

#include <ingot/backend.h>

ingot_status_t opencl_create_kernel(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
void opencl_destroy_kernel(void *state, void *kernel);
ingot_status_t opencl_clone_kernel(void *state, void *program, void *kernel, void **clone);

#endif

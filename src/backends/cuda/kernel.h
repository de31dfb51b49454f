/*
 * kernel.h - native kernels.
 */
#ifndef INGOT_BACKENDS_CUDA_KERNEL_H
#define INGOT_BACKENDS_CUDA_KERNEL_H

#include <ingot/backend.h>

ingot_status_t cuda_create_kernel(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
void cuda_destroy_kernel(void *state, void *kernel);

#endif

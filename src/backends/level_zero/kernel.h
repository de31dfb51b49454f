/*
 * kernel.h - native kernels.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_KERNEL_H
#define INGOT_BACKENDS_LEVEL_ZERO_KERNEL_H

#include <ingot/backend.h>

ingot_status_t level_zero_create_kernel(void *state, void *program, uint32_t device_index, const char *name,
                                        void **kernel);
void level_zero_destroy_kernel(void *state, void *kernel);
ingot_status_t level_zero_clone_kernel(void *state, void *program, void *kernel, void **clone);

#endif

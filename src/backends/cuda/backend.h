/*
 * backend.h - declares the CUDA backend's table of operations, and the operations, grouped by file.
 *
 * The core compares the build operations of such tables (ops->build) to distinguish this backend's objects from those
 * of other backends.
 */
#ifndef INGOT_BACKENDS_CUDA_BACKEND_H
#define INGOT_BACKENDS_CUDA_BACKEND_H

#include <ingot/backend.h>
#include <ingot/cuda.h>

/* context.c */
extern const ingot_backend_ops_t cuda_ops;

/* identity.c */
ingot_status_t cuda_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

/* text_rules.c */
void cuda_get_text_rules(void *state, ingot_text_rules_t *rules);

/* build.c */
ingot_status_t cuda_build(void *state, const ingot_build_request_t *request, size_t device_count,
                          const uint32_t *device_indices, ingot_sink_t *log, void **program);

/* program.c */
void cuda_destroy_program(void *state, void *program);
ingot_status_t cuda_get_kernel_names(void *state, void *program, ingot_sink_t *names);
size_t cuda_get_program_size(void *state, void *program);

/* Transfers the module of the only device to the caller, who unloads it. The program can only be destroyed afterwards.
 */
CUmodule cuda_take_module(void *program);

/* binary.c */
ingot_status_t cuda_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t cuda_load(void *state, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

/* kernel.c */
ingot_status_t cuda_create_kernel(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
void cuda_destroy_kernel(void *state, void *kernel);

#endif

/*
 * backend.h - declares the OpenCL backend's table of operations, its operations, and its shared functions, grouped
 * by file.
 *
 * The core compares the build operations of such tables (ops->build) to distinguish this backend's objects from those
 * of other backends.
 */
#ifndef INGOT_BACKENDS_OPENCL_BACKEND_H
#define INGOT_BACKENDS_OPENCL_BACKEND_H

#include <ingot/opencl.h>
#include <ingot/private/backend.h>

struct opencl_state;

/* context.c */
extern const ingot_backend_ops_t opencl_ops;

/* identity.c */
ingot_status_t opencl_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

/* build.c */
ingot_status_t opencl_build(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program);

/* Returns the status of a call that compiles or links, and sets the error detail if it failed. The status
 * is INGOT_BUILD_FAILED if the compiler refused the program or its options. Writes the native log of every device to
 * `log`. After a refusal, also writes the error, because some drivers write no log. `native` may be NULL. */
ingot_status_t opencl_conclude(const struct opencl_state *state, const char *call, cl_int error, cl_program native,
                               size_t device_count, const cl_device_id *devices, ingot_sink_t *log);

/* program.c */
void opencl_destroy_program(void *state, void *program);

/* binary.c */
ingot_status_t opencl_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t opencl_load(void *state, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);
/* Returns the total size of the binaries of a program (with PoCL, a coarse estimate), or 0 if it is unknown. */
size_t opencl_get_program_size(void *state, void *program);

/* kernel.c: a backend kernel is the cl_kernel itself. */
ingot_status_t opencl_get_kernel_names(void *state, void *program, ingot_sink_t *names);
ingot_status_t opencl_create_kernel(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
void opencl_destroy_kernel(void *state, void *kernel);

#endif

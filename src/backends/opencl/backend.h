/*
 * backend.h - the OpenCL backend's tables and functions, grouped by file.
 */
#ifndef INGOT_BACKENDS_OPENCL_BACKEND_H
#define INGOT_BACKENDS_OPENCL_BACKEND_H

#include <ingot/backend.h>
#include <ingot/opencl.h>
#include <ingot/private/backend.h>
#include <ingot/private/opencl.h>

#include <CL/cl_icd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- errors.c: converts OpenCL's error codes to Ingot's statuses and error messages. ---- */

/* Returns a name such as "CL_OUT_OF_RESOURCES", or "unknown error" for a code that no function of the backend is
 * expected to return. Never NULL. */
const char *opencl_error_name(cl_int error);

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, otherwise `otherwise`. Sets an error detail with
 * the call and the error's name and number. */
ingot_status_t opencl_fail(ingot_status_t otherwise, const char *call, cl_int error);

struct opencl_state;

/* ---- operations ----
 *
 * The core compares the build operations of such tables (ops->build) to distinguish this backend's objects from those
 * of other backends. */

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

/* program.c: a backend kernel is the cl_kernel itself. */
ingot_status_t opencl_get_kernel_names(void *state, void *program, ingot_sink_t *names);
ingot_status_t opencl_create_kernel(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
void opencl_destroy_kernel(void *state, void *kernel);

#endif

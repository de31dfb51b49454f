/*
 * state.h - the state of contexts for OpenCL, programs, and their binaries, grouped by file.
 */
#ifndef INGOT_BACKENDS_OPENCL_STATE_H
#define INGOT_BACKENDS_OPENCL_STATE_H

#include "backends/opencl/backend.h"
#include "backends/opencl/vendor/vendor.h"

#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- state.c: the state of an Ingot context for OpenCL.
 *
 * opencl_state_create and opencl_state_learn write everything here once. Afterwards it is only read, so it needs no
 * lock. Invariant: the native context and the devices are retained as long as the state lives. */

/* From these platform versions on (10 * major + minor), some functions need no extension. */
#define OPENCL_VERSION_2_1 21u
#define OPENCL_VERSION_2_2 22u

struct opencl_device {
    cl_device_id id;
    size_t context_position; /* in CL_CONTEXT_DEVICES: drivers list a program's devices in this order */
};

struct opencl_state {
    ingot_allocator_t allocator;
    const cl_icd_dispatch *cl; /* every call to OpenCL goes through this table, the caller's or loader.c's */
    cl_context context;
    cl_platform_id platform; /* shared by all devices of the context */
    unsigned version;
    enum opencl_vendor vendor;
    bool takes_spirv;
    bool generates_code_at_launch;
    uint32_t context_device_count; /* of the native context */
    uint32_t device_count;
    struct opencl_device devices[];
};

/* Makes a state for devices of a native context, or for all of them if device_count is 0. It does not know its platform
 * yet. */
ingot_status_t opencl_state_create(struct opencl_state **state, const cl_icd_dispatch *cl,
                                   const ingot_allocator_t *allocator, cl_context context, uint32_t device_count,
                                   const cl_device_id *devices);
/* Asks the driver about the platform and the devices. `facts`: what is known of the same devices; NULL: nothing. */
ingot_status_t opencl_state_learn(void *state, const void *facts);
/* Copies what opencl_state_learn has learned to a state without a native context and devices. */
ingot_status_t opencl_state_copy_facts(void **facts, const void *state);
void opencl_state_destroy(void *state);

/* A NUL-terminated string from the driver. `size` is the size of its memory, which may be larger. */
struct opencl_text {
    char *chars;
    size_t size;
};
ingot_status_t opencl_platform_text(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator,
                                    cl_platform_id platform, cl_platform_info name, struct opencl_text *text);
ingot_status_t opencl_device_text(const struct opencl_state *state, cl_device_id device, cl_device_info name,
                                  struct opencl_text *text);
ingot_status_t opencl_build_log_text(const struct opencl_state *state, cl_program program, cl_device_id device,
                                     struct opencl_text *text);
ingot_status_t opencl_program_text(const struct opencl_state *state, cl_program program, cl_program_info name,
                                   struct opencl_text *text);
void opencl_text_fini(const ingot_allocator_t *allocator, struct opencl_text *text);

/* ---- program.c: holds a native program and the devices that it was made for. ---- */

struct opencl_program {
    cl_program native;
    char *options;         /* of a program that opencl_get_binary builds again for its first binary; NULL: none */
    atomic_bool was_asked; /* for its binary */
    size_t device_count;
    cl_device_id devices[]; /* in the order of the native context */
};

/* Creates a program for these devices, without its native program. */
ingot_status_t opencl_program_create(const struct opencl_state *state, size_t device_count,
                                     const uint32_t *device_indices, struct opencl_program **program);

/* ---- native_binary.c: gets binaries from the driver, unchanged, and makes native programs from them. ---- */

/* Reads the device's binary of a native program, either the program's own or another one for the same devices. The
 * caller frees *bytes, of *size bytes. */
ingot_status_t opencl_read_native_binary(const struct opencl_state *state, const struct opencl_program *program,
                                         cl_program native, cl_device_id device, size_t *size, void **bytes);

/* Builds a native program from a binary for one device. The caller releases it. */
ingot_status_t opencl_make_of_binary(const struct opencl_state *state, cl_device_id device, size_t size,
                                     const unsigned char *bytes, cl_program *native);

/* Builds another native program from the binary of the program's first device, either for that device only, or with
 * that binary for all devices of the native context. The caller releases it. */
ingot_status_t opencl_copy_program(const struct opencl_state *state, const struct opencl_program *program, bool for_all,
                                   cl_program *native);

#endif

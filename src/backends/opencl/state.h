/*
 * state.h - what an Ingot context over OpenCL is made of.
 *
 * Everything here is written once, by ingot_opencl_context_create, and only read afterwards; so it needs no lock.
 * Invariant: the native context and the devices are retained as long as the state lives.
 */
#ifndef INGOT_BACKENDS_OPENCL_STATE_H
#define INGOT_BACKENDS_OPENCL_STATE_H

#include "backends/opencl/vendor/vendor.h"

#include <ingot/backend.h>
#include <ingot/opencl.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the platform or device, 10 * major + minor: what may be called without asking for an extension. */
#define OPENCL_VERSION_2_1 21u
#define OPENCL_VERSION_2_2 22u

struct opencl_device {
    cl_device_id id;
    size_t context_position; /* in CL_CONTEXT_DEVICES: the order in which drivers list a program's devices */
};

struct opencl_state {
    ingot_allocator_t allocator;
    cl_context context;
    cl_platform_id platform; /* of all devices: a context has one */
    unsigned version;
    enum opencl_vendor vendor;
    bool takes_spirv;
    bool generates_code_at_launch;
    uint32_t context_device_count; /* of the native context */
    uint32_t device_count;
    struct opencl_device devices[];
};

/* Text that the driver keeps, NUL-terminated. *size counts the NUL and all that follows it: free with it. */
struct opencl_text {
    char *chars;
    size_t size;
};
ingot_status_t opencl_platform_text(const ingot_allocator_t *allocator, cl_platform_id platform, cl_platform_info name,
                                    struct opencl_text *text);
ingot_status_t opencl_device_text(const ingot_allocator_t *allocator, cl_device_id device, cl_device_info name,
                                  struct opencl_text *text);
ingot_status_t opencl_build_log_text(const ingot_allocator_t *allocator, cl_program program, cl_device_id device,
                                     struct opencl_text *text);
ingot_status_t opencl_kernel_names_text(const ingot_allocator_t *allocator, cl_program program,
                                        struct opencl_text *text);
void opencl_text_fini(const ingot_allocator_t *allocator, struct opencl_text *text);

#endif

/*
 * program_size.c - determines the size of a program's binaries, for the byte limit of the in-memory cache.
 *
 * Most drivers have the binary right after the build, and copying it takes a thousandth of the build's time. PoCL
 * makes the binary when the binary or its size is first requested. That takes up to twenty times as long as the build
 * (2 s after 0.3 s for eight kernels), so the size is estimated coarsely by the number of kernels (doc/design.md). The
 * core replaces the estimate with the real size when it takes the blob.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/native_binary.h"
#include "backends/opencl/vendor/intel_binary.h"

#define ESTIMATE_PER_PROGRAM 35000u
#define ESTIMATE_PER_KERNEL 22000u

static size_t estimate_program_size(const struct opencl_state *state, const struct opencl_program *program)
{
    size_t kernels = 0;
    if (state->cl->clGetProgramInfo(program->native, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL) !=
        CL_SUCCESS)
        kernels = 1;
    return program->device_count * (ESTIMATE_PER_PROGRAM + kernels * ESTIMATE_PER_KERNEL);
}

/* Returns the total size of the binaries, or 0 if the driver does not return them. */
static size_t binaries_size(const struct opencl_state *state, const struct opencl_program *program)
{
    size_t total = 0;
    for (size_t i = 0; i < program->device_count; ++i) {
        size_t size = 0;
        void *bytes = NULL;
        if (opencl_read_native_binary(state, program, program->native, program->devices[i], &size, &bytes) !=
            INGOT_SUCCESS)
            return 0;
        total += intel_binary_strip(size, bytes);
        ingot_deallocate(&state->allocator, bytes, size);
    }
    return total;
}

size_t opencl_get_program_size(void *opaque, void *opaque_program)
{
    const struct opencl_state *state = opaque;
    const struct opencl_program *program = opaque_program;
    return state->generates_code_at_launch ? estimate_program_size(state, program) : binaries_size(state, program);
}

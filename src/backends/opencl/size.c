/*
 * size.c - the size of a program's binaries, for the byte limit of the in-memory cache.
 *
 * Most drivers have the binary right after the build, and copying it takes a thousandth of the build's time. PoCL makes
 * it at the first request, even if only for its size. That takes up to twenty times as long as the build (2 s after 0.3
 * s for eight kernels), so the size is estimated: bitcode with each program's part of PoCL's library, and an ELF file
 * for each kernel, both by the length of the source. For the programs of the tests and examples, the estimate was
 * within 20%. It does not include files that compilers find through -I. The core replaces it with the real size when it
 * takes the blob.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/native_binary.h"
#include "backends/opencl/vendor/intel_binary.h"

#define ESTIMATE_PER_PROGRAM 33000u
#define ESTIMATE_PER_KERNEL 16000u
#define ESTIMATE_PER_TEXT_BYTE 7u
#define ESTIMATE_PER_SPIRV_BYTE 2u

size_t opencl_estimate_code(const ingot_build_request_t *request)
{
    size_t bytes = ESTIMATE_PER_PROGRAM;
    for (size_t i = 0; i < request->source_count; ++i) {
        const bool is_spirv = request->sources[i].kind == INGOT_SOURCE_SPIRV;
        bytes += request->sources[i].size * (is_spirv ? ESTIMATE_PER_SPIRV_BYTE : ESTIMATE_PER_TEXT_BYTE);
    }
    for (size_t i = 0; i < request->header_count; ++i)
        bytes += request->headers[i].size * ESTIMATE_PER_TEXT_BYTE;
    return bytes;
}

static size_t estimate(const struct opencl_state *state, const struct opencl_program *program)
{
    size_t kernels = 0;
    if (state->cl->clGetProgramInfo(program->native, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL) !=
        CL_SUCCESS)
        kernels = 1;
    return program->device_count * (program->code_estimate + kernels * ESTIMATE_PER_KERNEL);
}

/* Returns the total size of the binaries, or 0 if the driver does not say. */
static size_t binaries_size(const struct opencl_state *state, const struct opencl_program *program)
{
    size_t total = 0;
    for (size_t i = 0; i < program->device_count; ++i) {
        size_t size = 0;
        void *bytes = NULL;
        if (opencl_read_native_binary(state, program, program->devices[i], &size, &bytes) != INGOT_SUCCESS)
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
    return state->generates_code_at_launch ? estimate(state, program) : binaries_size(state, program);
}

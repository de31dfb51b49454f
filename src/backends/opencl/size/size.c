/*
 * size.c - determines the size of a program's binaries, for the byte limit of the in-memory cache.
 *
 * Most drivers have the binary right after the build, and copying it takes a thousandth of the build's time. PoCL
 * makes the binary when the binary or its size is first requested. That takes up to twenty times as long as
 * the build (2 s after 0.3 s for eight kernels), so the size is estimated. The estimate consists of bitcode (all
 * functions that PoCL keeps, and the part of PoCL's library that each program has) and an ELF file for each kernel.
 * Code is weighed by its tokens (code_weight.h), because most of the text of a program may be headers that it does
 * not use. doc/design.md says how far the estimate is off. Headers that a native build finds through -I are not
 * included in it. The core replaces the estimate with the real size when it takes the blob.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/native_binary.h"
#include "backends/opencl/size/code_weight.h"
#include "backends/opencl/vendor/intel_binary.h"

/* A kernel's machine code is longer than its bitcode, because it is unrolled and vectorized. In large programs, most of
 * what kernels use stays in separate functions, so each token beyond ESTIMATE_MOST_REACHED adds only one byte. */
#define ESTIMATE_PER_PROGRAM 34500u
#define ESTIMATE_PER_KERNEL 14000u
#define ESTIMATE_PER_REACHED 8u
#define ESTIMATE_MOST_REACHED 3000u
#define ESTIMATE_PER_TEXT_BYTE 2u
#define ESTIMATE_PER_SPIRV_BYTE 2u

static size_t sum_sizes(size_t count, const ingot_source_view_t *views, bool of_spirv)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        bytes += (views[i].kind == INGOT_SOURCE_SPIRV) == of_spirv ? views[i].size : 0;
    return bytes;
}

size_t opencl_estimate_code(const struct opencl_state *state, const ingot_build_request_t *request)
{
    const size_t spirv = sum_sizes(request->source_count, request->sources, true);
    size_t bytes = ESTIMATE_PER_PROGRAM + spirv * ESTIMATE_PER_SPIRV_BYTE;
    struct opencl_code_weight weight;
    if (!state->generates_code_at_launch)
        return 0;
    if (!opencl_weigh_code(&state->allocator, request, &weight))
        return bytes + ESTIMATE_PER_TEXT_BYTE * (sum_sizes(request->source_count, request->sources, false) +
                                                 sum_sizes(request->header_count, request->headers, false));
    const size_t reached = weight.reached < ESTIMATE_MOST_REACHED ? weight.reached : ESTIMATE_MOST_REACHED;
    return bytes + weight.kept + reached * ESTIMATE_PER_REACHED + (weight.reached - reached);
}

static size_t estimate(const struct opencl_state *state, const struct opencl_program *program)
{
    size_t kernels = 0;
    if (state->cl->clGetProgramInfo(program->native, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL) !=
        CL_SUCCESS)
        kernels = 1;
    return program->device_count * (program->code_estimate + kernels * ESTIMATE_PER_KERNEL);
}

/* Returns the total size of the binaries, or 0 if the driver does not return them. */
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

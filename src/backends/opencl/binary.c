/*
 * binary.c - gets the binaries of a program, and makes a program from binaries.
 *
 * What drivers do, as observed with PoCL 3.1 and with Intel's driver 22.43:
 *  - PoCL generates machine code when a binary (or even its size) is first requested. So this file requests a binary
 *    only when the core does. A binary contains PoCL's LLVM bitcode and, for each kernel, generic code and code for the
 *    local sizes launched so far. For other local sizes, PoCL compiles the bitcode at launch.
 *  - From then on, that program of PoCL returns the same bytes, without the code that later launches generate. This
 *    file therefore gets the first binary of a program from another one, which it builds of the same source and
 * options. PoCL finds that in its cache, by a digest of both, so this takes about 20 ms. The second binary is the
 * program's own, with the code of all launches so far. Getting it needs no compiler, which is perhaps no more there in
 * exit().
 *  - PoCL aborts the process if a binary is damaged, so only verified bytes may be passed.
 *  - If a binary is for another device or driver, Intel's driver recompiles it from the SPIR-V in it, and says so
 *    only in the build log. This file treats that as a refusal. Ingot loads a binary only if the device and the
 *    driver have the same identity as when the binary was made, so the driver should not need to recompile it.
 *  - NVIDIA's binary is PTX, which the driver compiles at each load; see vendor/nvidia_binary.h.
 *  - PoCL and Intel's driver load a binary with any options. The options are passed anyway, because PoCL uses those
 *    that matter at run time (denormals).
 */
#include "backends/opencl/state.h"
#include "backends/opencl/vendor/intel_binary.h"
#include "backends/opencl/vendor/nvidia_binary.h"
#include "backends/opencl/vendor/pocl_binary.h"

#include <stdio.h>
#include <string.h>

#define RECOMPILED_MARK "recompiled-from-ir"

/* Finds out if the build log contains RECOMPILED_MARK. After a load, the log is usually short, so one call with a
 * buffer on the stack is enough. */
static ingot_status_t look_for_mark(const struct opencl_state *state, cl_program native, cl_device_id device,
                                    bool *found)
{
    char few[256] = "";
    struct opencl_text log = {NULL, 0};
    ingot_status_t status = INGOT_SUCCESS;
    if (state->cl->clGetProgramBuildInfo(native, device, CL_PROGRAM_BUILD_LOG, sizeof(few) - 1, few, NULL) ==
        CL_SUCCESS) {
        *found = strstr(few, RECOMPILED_MARK) != NULL;
        return INGOT_SUCCESS;
    }
    status = opencl_build_log_text(state, native, device, &log);
    *found = status == INGOT_SUCCESS && strstr(log.chars, RECOMPILED_MARK) != NULL;
    opencl_text_fini(&state->allocator, &log);
    return status;
}

/* True if the driver loads these bytes without recompiling them. */
static bool driver_takes(const struct opencl_state *state, cl_device_id device, size_t size, const unsigned char *bytes)
{
    cl_program native = NULL;
    bool recompiled = false;
    ingot_status_t status = opencl_make_of_binary(state, device, size, bytes, &native);
    if (status == INGOT_SUCCESS) {
        status = look_for_mark(state, native, device, &recompiled);
        (void)state->cl->clReleaseProgram(native);
    }
    return status == INGOT_SUCCESS && !recompiled;
}

/* Writes the binary without its intermediate code if the driver loads the smaller binary without recompiling it.
 * Otherwise, writes the whole binary. */
static ingot_status_t write_smallest(const struct opencl_state *state, cl_device_id device, size_t size,
                                     const uint8_t *bytes, ingot_sink_t *binary)
{
    ingot_status_t status = INGOT_SUCCESS;
    uint8_t *stripped = ingot_allocate(&state->allocator, size);
    if (stripped == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a binary of %zu bytes", size);
    memcpy(stripped, bytes, size);
    const size_t stripped_size = intel_binary_strip(size, stripped);
    if (stripped_size < size && driver_takes(state, device, stripped_size, stripped))
        status = ingot_sink_write(binary, stripped_size, stripped);
    else
        status = ingot_sink_write(binary, size, bytes);
    ingot_deallocate(&state->allocator, stripped, size);
    return status;
}

/* True if a program made from the machine code can replace a program made from the PTX. */
static bool can_replace(const struct opencl_state *state, cl_device_id device, const ingot_binary_t *ptx,
                        const ingot_binary_t *native)
{
    cl_program of_ptx = NULL;
    cl_program of_native = NULL;
    ingot_status_t status = opencl_make_of_binary(state, device, ptx->size, ptx->bytes, &of_ptx);
    if (status == INGOT_SUCCESS)
        status = opencl_make_of_binary(state, device, native->size, native->bytes, &of_native);
    const bool can =
        status == INGOT_SUCCESS && nvidia_binary_is_equal(state->cl, &state->allocator, device, of_ptx, of_native);
    if (of_ptx != NULL)
        (void)state->cl->clReleaseProgram(of_ptx);
    if (of_native != NULL)
        (void)state->cl->clReleaseProgram(of_native);
    return can;
}

/* If the binary is PTX, and its translation to machine code can replace it, writes the machine code. Otherwise, writes
 * the binary as write_smallest does. */
static ingot_status_t write_best(const struct opencl_state *state, const struct opencl_program *program,
                                 cl_device_id device, const ingot_binary_t *given, ingot_sink_t *binary)
{
    size_t size = 0;
    void *native = NULL;
    ingot_status_t status = nvidia_binary_translate(state->cl, &state->allocator, state->platform, program->native,
                                                    device, given, &size, &native);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_binary_t translated = {size, native};
    if (native != NULL && can_replace(state, device, given, &translated))
        status = ingot_sink_write(binary, size, native);
    else
        status = write_smallest(state, device, given->size, given->bytes, binary);
    ingot_deallocate(&state->allocator, native, size);
    return status;
}

/* Builds the program again, and returns NULL if that fails or is impossible. */
static cl_program build_again(const struct opencl_state *state, const struct opencl_program *program)
{
    struct opencl_text source = {NULL, 0};
    cl_int error = CL_SUCCESS;
    if (program->options == NULL ||
        opencl_program_text(state, program->native, CL_PROGRAM_SOURCE, &source) != INGOT_SUCCESS)
        return NULL;
    const char *text = source.chars;
    cl_program again = state->cl->clCreateProgramWithSource(state->context, 1, &text, NULL, &error);
    if (again != NULL && state->cl->clBuildProgram(again, (cl_uint)program->device_count, program->devices,
                                                   program->options, NULL, NULL) != CL_SUCCESS) {
        (void)state->cl->clReleaseProgram(again);
        again = NULL;
    }
    opencl_text_fini(&state->allocator, &source);
    return again;
}

ingot_status_t opencl_get_binary(void *opaque, void *opaque_program, uint32_t device_index, ingot_sink_t *binary)
{
    const struct opencl_state *state = opaque;
    struct opencl_program *program = opaque_program;
    const cl_device_id device = state->devices[device_index].id;
    size_t size = 0;
    void *bytes = NULL;
    const cl_program again = atomic_exchange(&program->was_asked, true) ? NULL : build_again(state, program);
    ingot_status_t status =
        opencl_read_native_binary(state, program, again != NULL ? again : program->native, device, &size, &bytes);
    if (again != NULL)
        (void)state->cl->clReleaseProgram(again);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_binary_t given = {size, bytes};
    status = write_best(state, program, device, &given, binary);
    ingot_deallocate(&state->allocator, bytes, size);
    return status;
}

/* The arguments of clCreateProgramWithBinary: arrays with one element for each device, in the order of
 * program->devices. */
struct binaries {
    size_t *sizes; /* begins the block that holds all three arrays */
    const unsigned char **bytes;
    cl_int *statuses;
};

static size_t block_size(size_t device_count)
{
    return device_count * (sizeof(size_t) + sizeof(unsigned char *) + sizeof(cl_int));
}

static ingot_status_t binaries_init(const struct opencl_state *state, const struct opencl_program *program,
                                    const uint32_t *device_indices, const ingot_binary_t *given,
                                    struct binaries *binaries)
{
    const size_t count = program->device_count;
    binaries->sizes = ingot_allocate(&state->allocator, block_size(count));
    if (binaries->sizes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu binaries", count);
    binaries->bytes = (const unsigned char **)(binaries->sizes + count);
    binaries->statuses = (cl_int *)(binaries->bytes + count);
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < count; ++j) {
            if (program->devices[j] == state->devices[device_indices[i]].id) {
                binaries->sizes[j] = given[i].size;
                binaries->bytes[j] = given[i].bytes;
            }
        }
    }
    return INGOT_SUCCESS;
}

static ingot_status_t create_with_binaries(const struct opencl_state *state, struct opencl_program *program,
                                           const struct binaries *binaries)
{
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < program->device_count && state->generates_code_at_launch; ++i) {
        if (!pocl_binary_is_complete(binaries->sizes[i], binaries->bytes[i]))
            return ingot_set_error_detail(INGOT_BLOB_REJECTED, "PoCL's binary lacks files");
    }
    program->native =
        state->cl->clCreateProgramWithBinary(state->context, (cl_uint)program->device_count, program->devices,
                                             binaries->sizes, binaries->bytes, binaries->statuses, &error);
    if (program->native == NULL)
        return opencl_fail(INGOT_BLOB_REJECTED, "clCreateProgramWithBinary", error);
    for (size_t i = 0; i < program->device_count; ++i) {
        if (binaries->statuses[i] != CL_SUCCESS)
            return opencl_fail(INGOT_BLOB_REJECTED, "clCreateProgramWithBinary, binary_status", binaries->statuses[i]);
    }
    return INGOT_SUCCESS;
}

/* Builds a loaded program. clBuildProgram has no separate link options, but accepts them as build options, except those
 * that make libraries. */
static ingot_status_t build_loaded(const struct opencl_state *state, const struct opencl_program *program,
                                   const ingot_build_request_t *request)
{
    const size_t size = strlen(request->compile_options) + strlen(request->link_options) + 2;
    const char *options = request->compile_options;
    char *joined = NULL;
    if (*request->link_options != '\0') {
        joined = ingot_allocate(&state->allocator, size);
        if (joined == NULL)
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of options", size);
        (void)snprintf(joined, size, "%s %s", request->compile_options, request->link_options);
        options = joined;
    }
    const cl_int error = state->cl->clBuildProgram(program->native, (cl_uint)program->device_count, program->devices,
                                                   options, NULL, NULL);
    ingot_deallocate(&state->allocator, joined, size);
    return error == CL_SUCCESS ? INGOT_SUCCESS : opencl_fail(INGOT_BLOB_REJECTED, "clBuildProgram of a binary", error);
}

static ingot_status_t refuse_recompiled(const struct opencl_state *state, const struct opencl_program *program)
{
    bool found = false;
    for (size_t i = 0; i < program->device_count && !found; ++i) {
        const ingot_status_t status = look_for_mark(state, program->native, program->devices[i], &found);
        if (status != INGOT_SUCCESS)
            return status;
    }
    return !found ? INGOT_SUCCESS
                  : ingot_set_error_detail(INGOT_BLOB_REJECTED,
                                           "the driver compiled the binary again (" RECOMPILED_MARK ")");
}

ingot_status_t opencl_load(void *opaque, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *given, void **out)
{
    const struct opencl_state *state = opaque;
    struct opencl_program *program = NULL;
    struct binaries binaries = {NULL, NULL, NULL};
    ingot_status_t status = opencl_program_create(state, device_count, device_indices, &program);
    if (status == INGOT_SUCCESS)
        status = binaries_init(state, program, device_indices, given, &binaries);
    if (status == INGOT_SUCCESS)
        status = create_with_binaries(state, program, &binaries);
    if (status == INGOT_SUCCESS)
        status = build_loaded(state, program, request);
    if (status == INGOT_SUCCESS)
        status = refuse_recompiled(state, program);
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    ingot_deallocate(&state->allocator, binaries.sizes, block_size(device_count));
    opencl_destroy_program(opaque, program);
    return status;
}

/* PoCL makes the binary when the binary or its size is first requested. That takes up to twenty times as long as the
 * build (2 s after 0.3 s for eight kernels), so the size is estimated by the number of kernels (doc/design.md). The
 * core replaces the estimate with the real size when it takes the blob. */
#define ESTIMATE_PER_PROGRAM 35000u
#define ESTIMATE_PER_KERNEL 22000u

size_t opencl_get_program_size(void *opaque, void *opaque_program)
{
    const struct opencl_state *state = opaque;
    const struct opencl_program *program = opaque_program;
    size_t total = 0;
    if (state->generates_code_at_launch) {
        size_t kernels = 0;
        if (state->cl->clGetProgramInfo(program->native, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL) !=
            CL_SUCCESS)
            kernels = 1;
        return program->device_count * (ESTIMATE_PER_PROGRAM + kernels * ESTIMATE_PER_KERNEL);
    }
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

/*
 * binary.c - programs taken apart into binaries, and made of them again.
 *
 * What drivers do, seen with PoCL 3.1 and with Intel's driver 22.43:
 *  - PoCL generates machine code when a binary is first asked for (even for its size) and gives out the same bytes
 *    ever after: code for launches that came later is not in it. So nothing here asks before the core does. Its binary
 *    holds code for each kernel, for any local size and for those launched so far, and its LLVM bitcode; a local size
 *    without code of its own is compiled from that at launch.
 *  - PoCL aborts the process over a damaged binary. Only verified bytes may come here.
 *  - PoCL lists binaries for the devices that a program was built for, others for those that it belongs to; and it
 *    writes to every pointer of CL_PROGRAM_BINARIES, the NULL ones too.
 *  - Intel's driver compiles a binary of another device or driver again, from the SPIR-V that it holds, and says so in
 *    the build log alone. That counts as a refusal: an equal identity should not have let it come so far.
 *  - NVIDIA's binary is PTX, which it compiles at each load; see nvidia_binary.h.
 *  - PoCL and Intel's driver load a binary whatever the options; PoCL uses those that matter at run time (denormals),
 *    so they are given.
 */
#include "backends/opencl/binary.h"

#include "backends/opencl/errors.h"
#include "backends/opencl/intel_binary.h"
#include "backends/opencl/nvidia_binary.h"

#include <stdio.h>
#include <string.h>

#define RECOMPILED_MARK "recompiled-from-ir"

/* Sizes of a program's binaries as the driver lists them, and which is asked for. */
struct listing {
    size_t *sizes;
    size_t count;
    size_t at;
};

static ingot_status_t list_sizes(const struct opencl_state *state, const struct opencl_program *program,
                                 struct listing *listing)
{
    size_t size = 0;
    cl_int error = clGetProgramInfo(program->native, CL_PROGRAM_BINARY_SIZES, 0, NULL, &size);
    if (error != CL_SUCCESS)
        return opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)", error);
    listing->count = size / sizeof(*listing->sizes);
    if (listing->count == 0)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the driver lists no binaries");
    listing->sizes = ingot_allocate(&state->allocator, size);
    if (listing->sizes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the sizes of %zu binaries", listing->count);
    error = clGetProgramInfo(program->native, CL_PROGRAM_BINARY_SIZES, size, listing->sizes, NULL);
    return error == CL_SUCCESS ? INGOT_SUCCESS
                               : opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)", error);
}

static ingot_status_t find_among(size_t count, const cl_device_id *devices, cl_device_id device,
                                 struct listing *listing)
{
    for (size_t i = 0; i < count; ++i) {
        if (devices[i] == device) {
            listing->at = i;
            return INGOT_SUCCESS;
        }
    }
    return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the program was not made for this device");
}

/* Where the driver has the device's binary: among those built for, if it lists as many, else among all it lists. */
static ingot_status_t find_device(const struct opencl_state *state, const struct opencl_program *program,
                                  cl_device_id device, struct listing *listing)
{
    cl_device_id *devices = NULL;
    const size_t size = listing->count * sizeof(cl_device_id);
    size_t written = 0;
    cl_int error = CL_SUCCESS;
    ingot_status_t status = INGOT_SUCCESS;
    if (listing->count == program->device_count)
        return find_among(program->device_count, program->devices, device, listing);
    devices = ingot_allocate(&state->allocator, size);
    if (devices == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu devices", listing->count);
    error = clGetProgramInfo(program->native, CL_PROGRAM_DEVICES, size, devices, &written);
    if (error != CL_SUCCESS || written != size)
        status = opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_DEVICES)", error);
    else
        status = find_among(listing->count, devices, device, listing);
    ingot_deallocate(&state->allocator, devices, size);
    return status;
}

/* The driver writes all binaries; those not asked for go to one scratch buffer, over each other. */
static ingot_status_t copy_binary(const struct opencl_state *state, const struct opencl_program *program,
                                  const struct listing *listing, void *bytes)
{
    const size_t pointers_size = listing->count * sizeof(void *);
    size_t scratch_size = 0;
    void *scratch = NULL;
    void **pointers = ingot_allocate(&state->allocator, pointers_size);
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < listing->count; ++i) {
        if (i != listing->at && listing->sizes[i] > scratch_size)
            scratch_size = listing->sizes[i];
    }
    if (scratch_size > 0)
        scratch = ingot_allocate(&state->allocator, scratch_size);
    if (pointers == NULL || (scratch_size > 0 && scratch == NULL)) {
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu binaries", listing->count);
    } else {
        for (size_t i = 0; i < listing->count; ++i)
            pointers[i] = i == listing->at ? bytes : scratch;
        const cl_int error = clGetProgramInfo(program->native, CL_PROGRAM_BINARIES, pointers_size, pointers, NULL);
        if (error != CL_SUCCESS)
            status = opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_BINARIES)", error);
    }
    ingot_deallocate(&state->allocator, scratch, scratch_size);
    ingot_deallocate(&state->allocator, pointers, pointers_size);
    return status;
}

/* The driver's listing, and the binary of this device in memory that the caller frees with its size in the listing. */
static ingot_status_t read_binary(const struct opencl_state *state, const struct opencl_program *program,
                                  cl_device_id device, size_t *size, void **bytes)
{
    struct listing listing = {NULL, 0, 0};
    void *read = NULL;
    ingot_status_t status = list_sizes(state, program, &listing);
    if (status == INGOT_SUCCESS)
        status = find_device(state, program, device, &listing);
    if (status != INGOT_SUCCESS)
        goto done;
    *size = listing.sizes[listing.at];
    if (*size == 0) {
        status = ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the driver gives out no binary for a device");
        goto done;
    }
    read = ingot_allocate(&state->allocator, *size);
    status = read != NULL ? copy_binary(state, program, &listing, read)
                          : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a binary of %zu bytes", *size);
    if (status == INGOT_SUCCESS) {
        *bytes = read;
        read = NULL;
    }
done:
    if (read != NULL)
        ingot_deallocate(&state->allocator, read, *size);
    ingot_deallocate(&state->allocator, listing.sizes, listing.count * sizeof(*listing.sizes));
    return status;
}

size_t opencl_binaries_size(const struct opencl_state *state, const struct opencl_program *program)
{
    size_t total = 0;
    for (size_t i = 0; i < program->device_count; ++i) {
        size_t size = 0;
        void *bytes = NULL;
        if (read_binary(state, program, program->devices[i], &size, &bytes) != INGOT_SUCCESS)
            return 0;
        total += intel_binary_strip(size, bytes);
        ingot_deallocate(&state->allocator, bytes, size);
    }
    return total;
}

/* A native program that is built of these binaries; the caller releases it. */
static ingot_status_t make_of_binaries(const struct opencl_state *state, cl_uint count, const cl_device_id *devices,
                                       const size_t *sizes, const unsigned char **bytes, cl_program *native)
{
    cl_int error = CL_SUCCESS;
    cl_program made = clCreateProgramWithBinary(state->context, count, devices, sizes, bytes, NULL, &error);
    if (made != NULL)
        error = clBuildProgram(made, count, devices, NULL, NULL, NULL);
    if (error != CL_SUCCESS) {
        if (made != NULL)
            (void)clReleaseProgram(made);
        return opencl_fail(INGOT_BACKEND_ERROR, "a program of its own binary", error);
    }
    *native = made;
    return INGOT_SUCCESS;
}

static ingot_status_t make_of_binary(const struct opencl_state *state, cl_device_id device, size_t size,
                                     const unsigned char *bytes, cl_program *native)
{
    return make_of_binaries(state, 1, &device, &size, &bytes, native);
}

/* The same binary for all devices of the native context. */
static ingot_status_t make_for_all(const struct opencl_state *state, size_t size, const unsigned char *bytes,
                                   cl_program *native)
{
    const size_t count = state->context_device_count;
    const size_t block = count * (sizeof(size_t) + sizeof(void *) + sizeof(cl_device_id));
    ingot_status_t status = INGOT_SUCCESS;
    size_t *sizes = ingot_allocate(&state->allocator, block);
    if (sizes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu binaries", count);
    const unsigned char **binaries = (const unsigned char **)(sizes + count);
    cl_device_id *devices = (cl_device_id *)(binaries + count);
    for (size_t i = 0; i < count; ++i) {
        sizes[i] = size;
        binaries[i] = bytes;
    }
    const cl_int error = clGetContextInfo(state->context, CL_CONTEXT_DEVICES, count * sizeof(*devices), devices, NULL);
    status = error == CL_SUCCESS ? make_of_binaries(state, (cl_uint)count, devices, sizes, binaries, native)
                                 : opencl_fail(INGOT_BACKEND_ERROR, "clGetContextInfo", error);
    ingot_deallocate(&state->allocator, sizes, block);
    return status;
}

/* A load's log is empty or short as a rule: one call to the driver, and no memory. */
static ingot_status_t look_for_mark(const struct opencl_state *state, cl_program native, cl_device_id device,
                                    int *found)
{
    char few[256] = "";
    struct opencl_text log = {NULL, 0};
    ingot_status_t status = INGOT_SUCCESS;
    if (clGetProgramBuildInfo(native, device, CL_PROGRAM_BUILD_LOG, sizeof(few) - 1, few, NULL) == CL_SUCCESS) {
        *found = strstr(few, RECOMPILED_MARK) != NULL;
        return INGOT_SUCCESS;
    }
    status = opencl_build_log_text(&state->allocator, native, device, &log);
    *found = status == INGOT_SUCCESS && strstr(log.chars, RECOMPILED_MARK) != NULL;
    opencl_text_fini(&state->allocator, &log);
    return status;
}

/* Whether the driver loads these bytes as they are. */
static int driver_takes(const struct opencl_state *state, cl_device_id device, size_t size, const unsigned char *bytes)
{
    cl_program native = NULL;
    int recompiled = 0;
    ingot_status_t status = make_of_binary(state, device, size, bytes, &native);
    if (status == INGOT_SUCCESS) {
        status = look_for_mark(state, native, device, &recompiled);
        (void)clReleaseProgram(native);
    }
    return status == INGOT_SUCCESS && !recompiled;
}

/* Without intermediate code, if the driver proves at once that it can do without; else as it is. */
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

/* Whether a program of the machine code can stand for one of the PTX. */
static int can_replace(const struct opencl_state *state, cl_device_id device, const ingot_binary_t *ptx,
                       const ingot_binary_t *native)
{
    cl_program of_ptx = NULL;
    cl_program of_native = NULL;
    ingot_status_t status = make_of_binary(state, device, ptx->size, ptx->bytes, &of_ptx);
    if (status == INGOT_SUCCESS)
        status = make_of_binary(state, device, native->size, native->bytes, &of_native);
    const int can = status == INGOT_SUCCESS && nvidia_binary_is_equal(state, device, of_ptx, of_native);
    if (of_ptx != NULL)
        (void)clReleaseProgram(of_ptx);
    if (of_native != NULL)
        (void)clReleaseProgram(of_native);
    return can;
}

/* As machine code, if that is to be had and nothing is lost by it; else as small as it can be. */
static ingot_status_t write_best(const struct opencl_state *state, const struct opencl_program *program,
                                 cl_device_id device, const ingot_binary_t *given, ingot_sink_t *binary)
{
    size_t size = 0;
    void *native = NULL;
    ingot_status_t status =
        nvidia_binary_translate(state, program->native, device, given->size, given->bytes, &size, &native);
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

ingot_status_t opencl_get_binary(void *opaque, void *opaque_program, uint32_t device_index, ingot_sink_t *binary)
{
    const struct opencl_state *state = opaque;
    const cl_device_id device = state->devices[device_index].id;
    size_t size = 0;
    void *bytes = NULL;
    ingot_status_t status = read_binary(state, opaque_program, device, &size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_binary_t given = {size, bytes};
    status = write_best(state, opaque_program, device, &given, binary);
    ingot_deallocate(&state->allocator, bytes, size);
    return status;
}

ingot_status_t opencl_copy_program(const struct opencl_state *state, const struct opencl_program *program, int for_all,
                                   cl_program *native)
{
    const cl_device_id device = program->devices[0];
    size_t size = 0;
    void *bytes = NULL;
    ingot_status_t status = read_binary(state, program, device, &size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    status = for_all ? make_for_all(state, size, bytes, native) : make_of_binary(state, device, size, bytes, native);
    ingot_deallocate(&state->allocator, bytes, size);
    return status;
}

/* One element of what clCreateProgramWithBinary takes for each device of the program, in its order. */
struct binaries {
    size_t *sizes;
    const unsigned char **bytes;
    cl_int *statuses;
    void *block; /* all three */
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
    binaries->block = ingot_allocate(&state->allocator, block_size(count));
    if (binaries->block == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu binaries", count);
    binaries->sizes = binaries->block;
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
    program->native = clCreateProgramWithBinary(state->context, (cl_uint)program->device_count, program->devices,
                                                binaries->sizes, binaries->bytes, binaries->statuses, &error);
    if (program->native == NULL)
        return opencl_fail(INGOT_BLOB_REJECTED, "clCreateProgramWithBinary", error);
    for (size_t i = 0; i < program->device_count; ++i) {
        if (binaries->statuses[i] != CL_SUCCESS)
            return opencl_fail(INGOT_BLOB_REJECTED, "clCreateProgramWithBinary, binary_status", binaries->statuses[i]);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t build_with(const struct opencl_program *program, const char *options)
{
    const cl_int error =
        clBuildProgram(program->native, (cl_uint)program->device_count, program->devices, options, NULL, NULL);
    return error == CL_SUCCESS ? INGOT_SUCCESS : opencl_fail(INGOT_BLOB_REJECTED, "clBuildProgram of a binary", error);
}

/* Link options have no place of their own here; all but those that make libraries are build options too. */
static ingot_status_t build_loaded(const struct opencl_state *state, const struct opencl_program *program,
                                   const ingot_build_request_t *request)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (*request->link_options == '\0')
        return build_with(program, request->compile_options);
    const size_t size = strlen(request->compile_options) + strlen(request->link_options) + 2;
    char *options = ingot_allocate(&state->allocator, size);
    if (options == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of options", size);
    (void)snprintf(options, size, "%s %s", request->compile_options, request->link_options);
    status = build_with(program, options);
    ingot_deallocate(&state->allocator, options, size);
    return status;
}

static ingot_status_t refuse_recompiled(const struct opencl_state *state, const struct opencl_program *program)
{
    int found = 0;
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
    struct binaries binaries = {NULL, NULL, NULL, NULL};
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
    ingot_deallocate(&state->allocator, binaries.block, block_size(device_count));
    opencl_destroy_program(opaque, program);
    return status;
}

/*
 * native_binary.c - gets binaries from the driver, unchanged, and makes native programs from them.
 *
 * PoCL lists binaries for the devices that a program was built for. Other drivers list binaries for all devices of
 * the program. PoCL writes to every pointer of CL_PROGRAM_BINARIES, even to NULL.
 */
#include "backends/opencl/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "backends/opencl/vendor/pocl_binary.h"

#define POCL_LONGEST_NAME 252u /* with ".so" added, a file name of the maximum length on Linux */

/* The sizes of a program's binaries as the driver lists them, and the position of the requested one. */
struct listing {
    size_t *sizes;
    size_t count;
    size_t at;
};

static ingot_status_t list_sizes(const struct opencl_state *state, cl_program native, struct listing *listing)
{
    size_t size = 0;
    cl_int error = state->cl->clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, 0, NULL, &size);
    if (error != CL_SUCCESS)
        return opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)", error);
    listing->count = size / sizeof(*listing->sizes);
    if (listing->count == 0)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the driver lists no binaries");
    listing->sizes = ingot_allocate(&state->allocator, size);
    if (listing->sizes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the sizes of %zu binaries", listing->count);
    error = state->cl->clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, size, listing->sizes, NULL);
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

/* Finds the device's binary in the driver's list. If the program was built for as many devices as the list has
 * binaries, the list is for these devices. Otherwise, it is for all devices of the native program. */
static ingot_status_t find_device(const struct opencl_state *state, const struct opencl_program *program,
                                  cl_program native, cl_device_id device, struct listing *listing)
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
    error = state->cl->clGetProgramInfo(native, CL_PROGRAM_DEVICES, size, devices, &written);
    if (error != CL_SUCCESS || written != size)
        status = opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_DEVICES)", error);
    else
        status = find_among(listing->count, devices, device, listing);
    ingot_deallocate(&state->allocator, devices, size);
    return status;
}

/* Copies one binary. The driver always writes all binaries, so the binaries that were not requested go to one scratch
 * buffer. */
static ingot_status_t copy_binary(const struct opencl_state *state, cl_program native, const struct listing *listing,
                                  void *bytes)
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
        const cl_int error = state->cl->clGetProgramInfo(native, CL_PROGRAM_BINARIES, pointers_size, pointers, NULL);
        if (error != CL_SUCCESS)
            status = opencl_fail(INGOT_BACKEND_ERROR, "clGetProgramInfo(CL_PROGRAM_BINARIES)", error);
    }
    ingot_deallocate(&state->allocator, scratch, scratch_size);
    ingot_deallocate(&state->allocator, pointers, pointers_size);
    return status;
}

/*
 * True if PoCL's own cache of kernels is off. Reads the variable as PoCL does. Without its cache, PoCL keeps a
 * program's files in a directory of its own and deletes it with the program. A binary has the directory's name, so all
 * programs that are loaded from it share the directory, in every process. The first one that is released deletes it,
 * and PoCL aborts the processes in which the others still need it. Such a binary must not be stored.
 */
static bool pocl_cache_is_off(void)
{
    const char *value = getenv("POCL_KERNEL_CACHE");
    return value != NULL && value[0] != '1';
}

/* True if the address space of the process is limited (ulimit -v). When PoCL returns a program's binary, it allocates
 * 256 MiB and does not check whether it got them. */
static bool pocl_memory_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/*
 * True if none of these names of kernels, which are separated by semicolons, is too long. When PoCL returns a program's
 * binary, it writes each kernel's code to a file named after the kernel, and aborts the process if it cannot create the
 * file. It does so even if the application never launches the kernel.
 */
static bool pocl_names_fit(const char *names)
{
    size_t length = strcspn(names, ";");
    while (length <= POCL_LONGEST_NAME && names[length] != '\0') {
        names += length + 1;
        length = strcspn(names, ";");
    }
    return length <= POCL_LONGEST_NAME;
}

/* Fails if PoCL's binary must not be used, or if a kernel's name is so long that PoCL would end the process. */
static ingot_status_t check_for_pocl(const struct opencl_state *state, cl_program native)
{
    struct opencl_text names = {NULL, 0};
    if (!state->generates_code_at_launch)
        return INGOT_SUCCESS;
    if (pocl_cache_is_off())
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "PoCL's cache is off (POCL_KERNEL_CACHE)");
    if (pocl_memory_is_limited())
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE,
                                      "the address space is limited (ulimit -v), and PoCL may crash if it has too "
                                      "little memory for a binary");
    ingot_status_t status = opencl_program_text(state, native, CL_PROGRAM_KERNEL_NAMES, &names);
    if (status == INGOT_SUCCESS && !pocl_names_fit(names.chars))
        status = ingot_set_error_detail(INGOT_UNIMPLEMENTED, "a kernel's name has more than %u characters",
                                        POCL_LONGEST_NAME);
    opencl_text_fini(&state->allocator, &names);
    return status;
}

ingot_status_t opencl_read_native_binary(const struct opencl_state *state, const struct opencl_program *program,
                                         cl_program native, cl_device_id device, size_t *size, void **bytes)
{
    struct listing listing = {NULL, 0, 0};
    void *read = NULL;
    ingot_status_t status = check_for_pocl(state, native);
    if (status == INGOT_SUCCESS)
        status = list_sizes(state, native, &listing);
    if (status == INGOT_SUCCESS)
        status = find_device(state, program, native, device, &listing);
    if (status != INGOT_SUCCESS)
        goto done;
    *size = listing.sizes[listing.at];
    if (*size == 0) {
        status = ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the driver returned no binary for a device");
        goto done;
    }
    read = ingot_allocate(&state->allocator, *size);
    status = read != NULL ? copy_binary(state, native, &listing, read)
                          : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a binary of %zu bytes", *size);
    if (status == INGOT_SUCCESS && state->generates_code_at_launch && !pocl_binary_is_complete(*size, read))
        status = ingot_set_error_detail(INGOT_BACKEND_ERROR, "PoCL's binary lacks files, because somebody has removed "
                                                             "them from PoCL's cache directory");
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

/* Builds a native program from these binaries. The caller releases it. */
static ingot_status_t make_of_binaries(const struct opencl_state *state, cl_uint count, const cl_device_id *devices,
                                       const size_t *sizes, const unsigned char **bytes, cl_program *native)
{
    cl_int error = CL_SUCCESS;
    cl_program made = state->cl->clCreateProgramWithBinary(state->context, count, devices, sizes, bytes, NULL, &error);
    if (made != NULL)
        error = state->cl->clBuildProgram(made, count, devices, NULL, NULL, NULL);
    if (error != CL_SUCCESS) {
        if (made != NULL)
            (void)state->cl->clReleaseProgram(made);
        return opencl_fail(INGOT_BACKEND_ERROR, "creating a program from its own binary", error);
    }
    *native = made;
    return INGOT_SUCCESS;
}

ingot_status_t opencl_make_of_binary(const struct opencl_state *state, cl_device_id device, size_t size,
                                     const unsigned char *bytes, cl_program *native)
{
    return make_of_binaries(state, 1, &device, &size, &bytes, native);
}

/* Builds a native program that has this binary for all devices of the native context. */
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
    const cl_int error =
        state->cl->clGetContextInfo(state->context, CL_CONTEXT_DEVICES, count * sizeof(*devices), devices, NULL);
    status = error == CL_SUCCESS ? make_of_binaries(state, (cl_uint)count, devices, sizes, binaries, native)
                                 : opencl_fail(INGOT_BACKEND_ERROR, "clGetContextInfo", error);
    ingot_deallocate(&state->allocator, sizes, block);
    return status;
}

ingot_status_t opencl_copy_program(const struct opencl_state *state, const struct opencl_program *program, bool for_all,
                                   cl_program *native)
{
    const cl_device_id device = program->devices[0];
    size_t size = 0;
    void *bytes = NULL;
    ingot_status_t status = opencl_read_native_binary(state, program, program->native, device, &size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    status =
        for_all ? make_for_all(state, size, bytes, native) : opencl_make_of_binary(state, device, size, bytes, native);
    ingot_deallocate(&state->allocator, bytes, size);
    return status;
}

/*
 * program.c - holds a native program and the devices that it was made for.
 *
 * After a build for some devices, a driver lists binaries either for only those devices or for all devices of the
 * native context. To tell the two cases apart, native_binary.c needs the devices of the build. They are kept in the
 * order of the native context, in which drivers list them.
 */
#include "backends/opencl/state.h"

#include <string.h>

static size_t opencl_program_size(size_t device_count)
{
    return sizeof(struct opencl_program) + device_count * sizeof(cl_device_id);
}

static size_t position_of(const struct opencl_state *state, cl_device_id id)
{
    uint32_t at = 0;
    while (state->devices[at].id != id)
        ++at;
    return state->devices[at].context_position;
}

ingot_status_t opencl_program_create(const struct opencl_state *state, size_t device_count,
                                     const uint32_t *device_indices, struct opencl_program **out)
{
    struct opencl_program *program = ingot_allocate(&state->allocator, opencl_program_size(device_count));
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program of %zu devices", device_count);
    for (size_t i = 0; i < device_count; ++i) {
        /* insert it in the context's order */
        const struct opencl_device *device = &state->devices[device_indices[i]];
        size_t at = program->device_count;
        while (at > 0 && position_of(state, program->devices[at - 1]) > device->context_position) {
            program->devices[at] = program->devices[at - 1];
            --at;
        }
        program->devices[at] = device->id;
        ++program->device_count;
    }
    *out = program;
    return INGOT_SUCCESS;
}

void opencl_destroy_program(void *opaque, void *opaque_program)
{
    const struct opencl_state *state = opaque;
    struct opencl_program *program = opaque_program;
    if (program == NULL)
        return;
    if (program->native != NULL)
        (void)state->cl->clReleaseProgram(program->native);
    if (program->options != NULL)
        ingot_deallocate(&state->allocator, program->options, strlen(program->options) + 1);
    ingot_deallocate(&state->allocator, program, opencl_program_size(program->device_count));
}

ingot_status_t ingot_opencl_program_get_native(const_ingot_program_t handle, cl_program *native)
{
    const struct opencl_program *program = NULL;
    if (handle == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "program" : "native");
    program = ingot_program_get_backend_program(handle, &opencl_ops);
    if (program == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program does not belong to the OpenCL backend");
    *native = program->native;
    return INGOT_SUCCESS;
}

ingot_status_t opencl_create_kernel(void *opaque, void *opaque_program, uint32_t device_index, const char *name,
                                    void **kernel)
{
    const struct opencl_state *state = opaque;
    const struct opencl_program *program = opaque_program;
    cl_kernel native = NULL;
    cl_int error = CL_SUCCESS;
    size_t at = 0;
    while (at < program->device_count && program->devices[at] != state->devices[device_index].id)
        ++at;
    if (at == program->device_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the program was not made for device %u",
                                      (unsigned)device_index);
    native = state->cl->clCreateKernel(program->native, name, &error);
    if (native == NULL)
        return opencl_fail(error == CL_INVALID_KERNEL_NAME ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR, "clCreateKernel",
                           error);
    *kernel = native;
    return INGOT_SUCCESS;
}

void opencl_destroy_kernel(void *opaque, void *kernel)
{
    const struct opencl_state *state = opaque;
    (void)state->cl->clReleaseKernel(kernel);
}

ingot_status_t ingot_opencl_kernel_get_native(const_ingot_kernel_t kernel, cl_kernel *native)
{
    cl_kernel found = NULL;
    if (kernel == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", kernel == NULL ? "kernel" : "native");
    found = ingot_kernel_get_backend_kernel(kernel, &opencl_ops);
    if (found == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel does not belong to the OpenCL backend");
    *native = found;
    return INGOT_SUCCESS;
}

static ingot_status_t read_names_of_copy(const struct opencl_state *state, const struct opencl_program *program,
                                         bool for_all, struct opencl_text *text)
{
    cl_program native = NULL;
    ingot_status_t status = opencl_copy_program(state, program, for_all, &native);
    if (status != INGOT_SUCCESS)
        return status;
    status = opencl_program_text(state, native, CL_PROGRAM_KERNEL_NAMES, text);
    (void)state->cl->clReleaseProgram(native);
    return status;
}

/* Reads the names. Drivers list the kernels of the native program's first device. If the program was not built for that
 * device, Intel's driver lists nothing. In this case, the names are read from a copy that is made from the binary, for
 * only the device of the binary. If the driver returns an error, as NVIDIA's does, the names are read from a copy that
 * has the binary for all devices of the context. */
static ingot_status_t read_kernel_names(const struct opencl_state *state, const struct opencl_program *program,
                                        struct opencl_text *text)
{
    ingot_status_t status = opencl_program_text(state, program->native, CL_PROGRAM_KERNEL_NAMES, text);
    if (program->device_count == state->context_device_count)
        return status;
    if (status == INGOT_SUCCESS && *text->chars == '\0') {
        opencl_text_fini(&state->allocator, text);
        status = read_names_of_copy(state, program, false, text);
    }
    return status == INGOT_BACKEND_ERROR ? read_names_of_copy(state, program, true, text) : status;
}

/* OpenCL separates the names with ';'. Ingot ends each with a NUL. */
ingot_status_t opencl_get_kernel_names(void *opaque, void *opaque_program, ingot_sink_t *names)
{
    const struct opencl_state *state = opaque;
    const struct opencl_program *program = opaque_program;
    struct opencl_text text = {NULL, 0};
    size_t length = 0;
    ingot_status_t status = read_kernel_names(state, program, &text);
    if (status != INGOT_SUCCESS)
        return status;
    length = strlen(text.chars);
    for (char *c = text.chars; (c = strchr(c, ';')) != NULL; ++c)
        *c = '\0';
    if (length > 0)
        status = ingot_sink_write(names, length + 1, text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

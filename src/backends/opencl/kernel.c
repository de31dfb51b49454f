/*
 * kernel.c - creates and releases native kernels. A backend kernel is the cl_kernel itself.
 *
 * An OpenCL kernel belongs to its program and not to one device, so the device of a request is only checked.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/errors.h"
#include "backends/opencl/native_binary.h"
#include "backends/opencl/program.h"

#include <string.h>

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

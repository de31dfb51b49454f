/*
 * kernel.c - creates and releases native kernels. A backend kernel is the cl_kernel itself.
 *
 * An OpenCL kernel belongs to its program and not to one device, so the device of a request is only checked.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/errors.h"
#include "backends/opencl/program.h"

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

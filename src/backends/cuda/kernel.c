/*
 * kernel.c - finds native kernels.
 *
 * A CUfunction belongs to its module, which has one for each entry point. So nothing is created or destroyed here,
 * and kernels cannot be cloned.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/errors.h"
#include "backends/cuda/program.h"

ingot_status_t cuda_create_kernel(void *opaque, void *program, uint32_t device_index, const char *name, void **kernel)
{
    const struct cuda_state *state = opaque;
    const struct cuda_part *part = cuda_program_part(program, device_index);
    CUfunction native = NULL;
    bool pushed = false;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    const char *lowered_name = cuda_image_lowered_name(&part->image, name);
    const ingot_status_t status = cuda_enter(&state->driver, state->devices[device_index].context, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    const CUresult result =
        state->driver.get_function(&native, part->module, lowered_name != NULL ? lowered_name : name);
    cuda_leave(&state->driver, pushed);
    if (result != CUDA_SUCCESS)
        return cuda_fail(&state->driver, result == CUDA_ERROR_NOT_FOUND ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR,
                         "cuModuleGetFunction", result);
    *kernel = native;
    return INGOT_SUCCESS;
}

void cuda_destroy_kernel(void *state, void *kernel)
{
    (void)state;
    (void)kernel; /* the module owns it */
}

ingot_status_t ingot_cuda_kernel_get_native(const_ingot_kernel_t handle, CUfunction *native)
{
    if (handle == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "kernel" : "native");
    CUfunction kernel = ingot_kernel_get_backend_kernel(handle, &cuda_ops);
    if (kernel == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel does not belong to the CUDA backend");
    *native = kernel;
    return INGOT_SUCCESS;
}

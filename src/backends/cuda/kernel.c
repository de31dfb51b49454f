/*
 * kernel.c - finds native kernels; see rtc/kernel.c.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/errors.h"
#include "backends/cuda/state.h"

ingot_status_t cuda_find_kernel(const struct rtc_state *common, uint32_t device_index, void *module, const char *name,
                                void **kernel)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    CUfunction native = NULL;
    bool pushed = false;
    const ingot_status_t status = cuda_enter(&state->driver, state->devices[device_index].context, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    const CUresult result = state->driver.get_function(&native, module, name);
    cuda_leave(&state->driver, pushed);
    if (result != CUDA_SUCCESS)
        return cuda_fail(&state->driver, result == CUDA_ERROR_NOT_FOUND ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR,
                         "cuModuleGetFunction", result);
    *kernel = native;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_cuda_kernel_get_native(const_ingot_kernel_t handle, CUfunction *native)
{
    void *kernel = NULL;
    const ingot_status_t status = rtc_get_native_kernel(&cuda_vendor, handle, native, &kernel);
    if (status == INGOT_SUCCESS)
        *native = kernel;
    return status;
}

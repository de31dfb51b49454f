/*
 * kernel.c - finds native kernels; see rtc/kernel.c.
 */
#include "backends/hip/backend.h"
#include "backends/hip/errors.h"
#include "backends/hip/state.h"

ingot_status_t hip_find_kernel(const struct rtc_state *common, uint32_t device_index, void *module, const char *name,
                               void **kernel)
{
    const struct hip_state *state = (const struct hip_state *)common;
    const struct hip_device *device = &state->devices[device_index];
    hipFunction_t native = NULL;
    int previous = 0;
    if (device->number == HIP_NO_DEVICE)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the context is for the architecture %s, without a device",
                                      device->architecture);
    const ingot_status_t status = hip_enter(state, device_index, &previous);
    if (status != INGOT_SUCCESS)
        return status;
    const int result = state->driver.get_function(&native, module, name);
    hip_leave(state, device_index, previous);
    if (result != HIP_SUCCESS)
        return hip_fail(&state->driver, result == HIP_NOT_FOUND ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR,
                        "hipModuleGetFunction", result);
    *kernel = native;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_hip_kernel_get_native(const_ingot_kernel_t handle, hipFunction_t *native)
{
    void *kernel = NULL;
    const ingot_status_t status = rtc_get_native_kernel(&hip_vendor, handle, native, &kernel);
    if (status == INGOT_SUCCESS)
        *native = kernel;
    return status;
}

/*
 * state.c - opens the driver, makes contexts current, and queries devices.
 */
#include "backends/cuda/state.h"

#include "backends/cuda/backend.h"
#include "backends/cuda/errors.h"

#define OLDEST_VERSION 12000

ingot_status_t cuda_state_open_driver(struct cuda_state *state)
{
    struct cuda_driver *driver = &state->driver;
    const ingot_status_t status = cuda_driver_open(driver);
    if (status != INGOT_SUCCESS)
        return status;
    const CUresult result = driver->get_version(&driver->version);
    if (result != CUDA_SUCCESS)
        return cuda_fail(driver, INGOT_BACKEND_ERROR, "cuDriverGetVersion", result);
    if (driver->version < OLDEST_VERSION)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the CUDA driver has version %d; %d or later is needed",
                                      driver->version, OLDEST_VERSION);
    return INGOT_SUCCESS;
}

ingot_status_t cuda_enter(const struct cuda_driver *driver, CUcontext context, bool *pushed)
{
    CUcontext current = NULL;
    *pushed = driver->get_current(&current) != CUDA_SUCCESS || current != context;
    if (!*pushed)
        return INGOT_SUCCESS;
    const CUresult result = driver->push_context(context);
    return result == CUDA_SUCCESS ? INGOT_SUCCESS : cuda_fail(driver, INGOT_BACKEND_ERROR, "cuCtxPushCurrent", result);
}

void cuda_leave(const struct cuda_driver *driver, bool pushed)
{
    CUcontext context = NULL;
    if (pushed)
        (void)driver->pop_context(&context); /* fails only if the context has been destroyed */
}

static ingot_status_t get_capability(const struct cuda_driver *driver, CUdevice native, struct cuda_device *device)
{
    CUresult result =
        driver->get_device_attribute(&device->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, native);
    if (result == CUDA_SUCCESS)
        result = driver->get_device_attribute(&device->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, native);
    return result == CUDA_SUCCESS ? INGOT_SUCCESS
                                  : cuda_fail(driver, INGOT_BACKEND_ERROR, "cuDeviceGetAttribute", result);
}

ingot_status_t cuda_device_init(const struct cuda_driver *driver, CUcontext context, struct cuda_device *device)
{
    CUdevice native = 0;
    bool pushed = false;
    ingot_status_t status = cuda_enter(driver, context, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    CUresult result = driver->get_device(&native);
    cuda_leave(driver, pushed);
    if (result != CUDA_SUCCESS)
        return cuda_fail(driver, INGOT_BACKEND_ERROR, "cuCtxGetDevice", result);
    device->context = context;
    device->native = native;
    result = driver->get_device_name(device->name, (int)sizeof(device->name), native);
    if (result != CUDA_SUCCESS)
        return cuda_fail(driver, INGOT_BACKEND_ERROR, "cuDeviceGetName", result);
    return get_capability(driver, native, device);
}

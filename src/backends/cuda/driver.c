/*
 * driver.c - opens CUDA's driver, makes contexts current, and queries their devices.
 */
#include "backends/cuda/backend.h"

#include "util/library.h"

#define DRIVER_LIBRARY "libcuda.so.1"
#define OLDEST_VERSION 12000

static const struct library_symbol symbols[] = {
    {"cuGetErrorName", offsetof(struct cuda_state, get_error_name)},
    {"cuDriverGetVersion", offsetof(struct cuda_state, get_version)},
    {"cuCtxGetCurrent", offsetof(struct cuda_state, get_current)},
    {"cuCtxPushCurrent_v2", offsetof(struct cuda_state, push_context)},
    {"cuCtxPopCurrent_v2", offsetof(struct cuda_state, pop_context)},
    {"cuCtxGetDevice", offsetof(struct cuda_state, get_device)},
    {"cuDeviceGetName", offsetof(struct cuda_state, get_device_name)},
    {"cuDeviceGetAttribute", offsetof(struct cuda_state, get_device_attribute)},
    {"cuModuleLoadData", offsetof(struct cuda_state, common.load_module)},
    {"cuModuleUnload", offsetof(struct cuda_state, common.unload_module)},
    {"cuModuleGetFunction", offsetof(struct cuda_state, common.get_function)},
};

const char *cuda_error_name(const struct rtc_state *common, int result)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    const char *name = NULL;
    return state->get_error_name((CUresult)result, &name) == CUDA_SUCCESS ? name : NULL;
}

ingot_status_t cuda_enter(const struct rtc_state *common, const struct rtc_device *device, int *pushed)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    CUcontext current = NULL;
    *pushed = state->get_current(&current) != CUDA_SUCCESS || current != device->context;
    const int result = *pushed ? (int)state->push_context(device->context) : RTC_DRIVER_SUCCESS;
    return result == RTC_DRIVER_SUCCESS ? INGOT_SUCCESS
                                        : rtc_fail(common, INGOT_BACKEND_ERROR, "CtxPushCurrent", result);
}

void cuda_leave(const struct rtc_state *common, const struct rtc_device *device, int pushed)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    CUcontext context = NULL;
    (void)device;
    if (pushed)
        (void)state->pop_context(&context); /* fails only if the context has been destroyed */
}

static ingot_status_t open_driver(struct cuda_state *state)
{
    const char *missing = library_open(DRIVER_LIBRARY, sizeof(symbols) / sizeof(symbols[0]), symbols, state);
    if (missing != NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "there is no CUDA driver (" DRIVER_LIBRARY "): %s", missing);
    const int result = (int)state->get_version(&state->version);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(&state->common, INGOT_BACKEND_ERROR, "DriverGetVersion", result);
    if (state->version < OLDEST_VERSION)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the CUDA driver has version %d; %d or later is needed",
                                      state->version, OLDEST_VERSION);
    state->common.driver_major = (unsigned)state->version / 1000;
    return INGOT_SUCCESS;
}

static ingot_status_t init_device(const struct cuda_state *state, CUcontext context, struct rtc_device *device)
{
    const struct rtc_state *common = &state->common;
    int pushed = 0;
    int major = 0;
    int minor = 0;
    device->context = context;
    const ingot_status_t status = cuda_enter(common, device, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    int result = (int)state->get_device(&device->number);
    cuda_leave(common, device, pushed);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(common, INGOT_BACKEND_ERROR, "CtxGetDevice", result);
    result = (int)state->get_device_name(device->name, (int)sizeof(device->name), device->number);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(common, INGOT_BACKEND_ERROR, "DeviceGetName", result);
    result = (int)state->get_device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device->number);
    if (result == RTC_DRIVER_SUCCESS)
        result = (int)state->get_device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device->number);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(common, INGOT_BACKEND_ERROR, "DeviceGetAttribute", result);
    (void)snprintf(device->architecture, sizeof(device->architecture), "sm_%d%d", major, minor);
    return INGOT_SUCCESS;
}

ingot_status_t cuda_init(struct rtc_state *common, const void *natives)
{
    const CUcontext *contexts = natives;
    struct cuda_state *state = (struct cuda_state *)common;
    ingot_status_t status = open_driver(state);
    for (uint32_t i = 0; i < common->device_count && status == INGOT_SUCCESS; ++i)
        status = init_device(state, contexts[i], &common->devices[i]);
    return status;
}

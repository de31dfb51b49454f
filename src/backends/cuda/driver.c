/*
 * driver.c - looks up the functions of CUDA's driver API that the backend uses, in libcuda.so.1.
 */
#include "backends/cuda/driver.h"

#include "util/library.h"

#define DRIVER_LIBRARY "libcuda.so.1"

static const struct library_symbol symbols[] = {
    {"cuGetErrorName", offsetof(struct cuda_driver, get_error_name)},
    {"cuDriverGetVersion", offsetof(struct cuda_driver, get_version)},
    {"cuCtxGetCurrent", offsetof(struct cuda_driver, get_current)},
    {"cuCtxPushCurrent_v2", offsetof(struct cuda_driver, push_context)},
    {"cuCtxPopCurrent_v2", offsetof(struct cuda_driver, pop_context)},
    {"cuCtxGetDevice", offsetof(struct cuda_driver, get_device)},
    {"cuDeviceGetName", offsetof(struct cuda_driver, get_device_name)},
    {"cuDeviceGetAttribute", offsetof(struct cuda_driver, get_device_attribute)},
    {"cuModuleLoadData", offsetof(struct cuda_driver, load_module)},
    {"cuModuleUnload", offsetof(struct cuda_driver, unload_module)},
    {"cuModuleGetFunction", offsetof(struct cuda_driver, get_function)},
};

ingot_status_t cuda_driver_open(struct cuda_driver *driver)
{
    const char *missing = library_open(DRIVER_LIBRARY, sizeof(symbols) / sizeof(symbols[0]), symbols, driver);
    if (missing != NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "there is no CUDA driver (" DRIVER_LIBRARY "): %s", missing);
    return INGOT_SUCCESS;
}

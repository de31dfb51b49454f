/*
 * driver.c - the part of CUDA's driver API that is used here, from libcuda.so.1.
 */
#include "backends/cuda/driver.h"

#include "backends/cuda/errors.h"
#include "backends/cuda/libraries.h"

#include <string.h>

#define DRIVER_LIBRARY "libcuda.so.1"
#define OLDEST_VERSION 12000

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
    const char *missing = NULL;
    memset(driver, 0, sizeof(*driver));
    missing = cuda_open_library(DRIVER_LIBRARY, sizeof(symbols) / sizeof(symbols[0]), symbols, driver);
    if (missing != NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "there is no CUDA driver (" DRIVER_LIBRARY "): %s", missing);
    const CUresult result = driver->get_version(&driver->version);
    if (result != CUDA_SUCCESS)
        return cuda_fail(driver, INGOT_BACKEND_ERROR, "cuDriverGetVersion", result);
    if (driver->version < OLDEST_VERSION)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the CUDA driver is of version %d, older than %d",
                                      driver->version, OLDEST_VERSION);
    return INGOT_SUCCESS;
}

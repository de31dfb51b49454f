/*
 * device_cuda.c - lists and opens the devices of the CUDA driver, which it loads at run time, as the backend does. The
 * library and the primary contexts stay until the process ends.
 */
#include <ingot/cuda.h>

#include "cli/build/device/device.h"
#include "util/library.h"

enum { NAME_SIZE = 256 };

struct driver {
    CUresult (*init)(unsigned);
    CUresult (*get_count)(int *);
    CUresult (*get_device)(CUdevice *, int);
    CUresult (*get_name)(char *, int, CUdevice);
    CUresult (*retain_context)(CUcontext *, CUdevice);
};

static const struct library_symbol symbols[] = {
    {"cuInit", offsetof(struct driver, init)},
    {"cuDeviceGetCount", offsetof(struct driver, get_count)},
    {"cuDeviceGet", offsetof(struct driver, get_device)},
    {"cuDeviceGetName", offsetof(struct driver, get_name)},
    {"cuDevicePrimaryCtxRetain", offsetof(struct driver, retain_context)},
};

static bool open_driver(struct driver *driver)
{
    return library_open("libcuda.so.1", sizeof(symbols) / sizeof(symbols[0]), symbols, driver) == NULL &&
           driver->init(0) == CUDA_SUCCESS;
}

static void add_cuda_devices(struct device_list *list)
{
    struct driver driver;
    int count = 0;
    if (!open_driver(&driver) || driver.get_count(&count) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < count; ++i) {
        const struct device device = {.backend = &device_cuda, .number = i};
        char name[NAME_SIZE] = "";
        CUdevice native = 0;
        if (driver.get_device(&native, i) == CUDA_SUCCESS &&
            driver.get_name(name, (int)sizeof(name) - 1, native) == CUDA_SUCCESS)
            device_add(list, &device, name, "CUDA");
    }
}

static ingot_status_t open_cuda_device(const struct device *device, const ingot_context_info_t *info,
                                       ingot_context_t *context)
{
    struct driver driver;
    CUdevice native_device = 0;
    CUcontext native = NULL;
    if (!open_driver(&driver))
        return device_refuse("cuInit", -1);
    CUresult error = driver.get_device(&native_device, device->number);
    if (error == CUDA_SUCCESS)
        error = driver.retain_context(&native, native_device);
    return error == CUDA_SUCCESS ? ingot_cuda_context_create(context, 1, &native, info)
                                 : device_refuse("cuDevicePrimaryCtxRetain", (long)error);
}

const struct device_backend device_cuda = {"cuda", add_cuda_devices, open_cuda_device, NULL};

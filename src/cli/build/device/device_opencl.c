/*
 * device_opencl.c - lists and opens the devices of all OpenCL platforms.
 */
#include <ingot/opencl.h>

#include "cli/build/device/device.h"

enum { NAME_SIZE = 224, MOST_PLATFORMS = 64, MOST_DEVICES = 256 }; /* far more than machines have */

static void add_devices_of_platform(struct device_list *list, cl_platform_id platform)
{
    char platform_name[NAME_SIZE] = "";
    cl_device_id devices[MOST_DEVICES];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) != CL_SUCCESS)
        return;
    (void)clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(platform_name) - 1, platform_name, NULL);
    for (cl_uint i = 0; i < count && i < MOST_DEVICES; ++i) {
        const struct device device = {.backend = &device_opencl, .owner = platform, .handle = devices[i]};
        char name[NAME_SIZE] = "";
        (void)clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
        device_add(list, &device, name, platform_name);
    }
}

static void add_opencl_devices(struct device_list *list)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < MOST_PLATFORMS; ++i)
        add_devices_of_platform(list, platforms[i]);
}

static ingot_status_t open_opencl_device(const struct device *device, const ingot_context_info_t *info,
                                         ingot_context_t *context)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->owner, 0};
    cl_device_id native_device = device->handle;
    cl_int error = CL_SUCCESS;
    cl_context native = clCreateContext(properties, 1, &native_device, NULL, NULL, &error);
    if (native == NULL)
        return device_refuse("clCreateContext", error);
    const ingot_status_t status = ingot_opencl_context_create(context, native, 1, &native_device, info);
    (void)clReleaseContext(native); /* Ingot's context has its own reference */
    return status;
}

const struct device_backend device_opencl = {"opencl", add_opencl_devices, open_opencl_device, NULL};

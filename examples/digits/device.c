/*
 * device.c - opens an OpenCL device, and creates a context and an in-order queue for it.
 */
#include "device.h"

#include <stdio.h>
#include <string.h>

#define MAX_PLATFORMS 16

static cl_platform_id find_platform(const char *word, char *name, size_t capacity)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; ++i) {
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, capacity, name, NULL) != CL_SUCCESS)
            continue;
        if (strstr(name, word) != NULL)
            return platforms[i];
    }
    return NULL;
}

int device_open(struct device *device, const char *platform_word)
{
    cl_platform_id platform = find_platform(platform_word, device->platform_name, sizeof(device->platform_name));
    if (platform == NULL) {
        fprintf(stderr, "digits: no OpenCL platform with \"%s\" in its name\n", platform_word);
        return -1;
    }
    cl_int error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device->id, NULL);
    if (error == CL_SUCCESS)
        error = clGetDeviceInfo(device->id, CL_DEVICE_NAME, sizeof(device->name), device->name, NULL);
    if (error == CL_SUCCESS)
        device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &error);
    if (error == CL_SUCCESS)
        device->queue = clCreateCommandQueueWithProperties(device->context, device->id, NULL, &error);
    if (error != CL_SUCCESS)
        fprintf(stderr, "digits: no device on %s (%d)\n", device->platform_name, (int)error);
    return error == CL_SUCCESS ? 0 : -1;
}

void device_close(struct device *device)
{
    if (device->queue != NULL)
        clReleaseCommandQueue(device->queue);
    if (device->context != NULL)
        clReleaseContext(device->context);
}

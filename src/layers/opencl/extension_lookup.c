/*
 * extension_lookup.c - looks up functions of a driver; see extension_lookup.h.
 */
#include "layers/opencl/extension_lookup.h"

#include <stdlib.h>

void *extension_find_for_device(cl_device_id device, const char *name)
{
    cl_platform_id platform = NULL;
    if (layer_target.clGetExtensionFunctionAddressForPlatform == NULL ||
        layer_target.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) != CL_SUCCESS)
        return NULL;
    return layer_target.clGetExtensionFunctionAddressForPlatform(platform, name);
}

void *extension_find_for_context(cl_context context, const char *name)
{
    void *function = NULL;
    size_t size = 0;
    if (layer_target.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size) != CL_SUCCESS ||
        size < sizeof(cl_device_id))
        return NULL;
    cl_device_id *devices = malloc(size);
    if (devices != NULL &&
        layer_target.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices, NULL) == CL_SUCCESS)
        function = extension_find_for_device(devices[0], name);
    free(devices);
    return function;
}

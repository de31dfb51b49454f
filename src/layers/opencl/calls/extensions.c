/*
 * extensions.c - replaces functions that the application looks up by name.
 *
 * If a driver has a function that takes or returns programs, the application gets the layer's function instead.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/program/program.h"

static void *find_for_device(cl_device_id device, const char *name)
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
        function = find_for_device(devices[0], name);
    free(devices);
    return function;
}

static void *find_for_queue(cl_command_queue queue, const char *name)
{
    cl_device_id device = NULL;
    if (layer_target.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL) != CL_SUCCESS)
        return NULL;
    return find_for_device(device, name);
}

/* Defines a function that gets a driver's own program for the application's `program`, and calls the driver's function
 * with this name. Without that function, returns `missing`. */
#define FORWARD(function, name, find, object, missing, parameters, arguments)                                          \
    static cl_int CL_API_CALL function parameters                                                                      \
    {                                                                                                                  \
        cl_int(CL_API_CALL *of_driver) parameters = NULL;                                                              \
        *(void **)&of_driver = find(object, name);                                                                     \
        if (of_driver == NULL)                                                                                         \
            return missing;                                                                                            \
        struct shadow_use use = shadow_begin_use(program);                                                             \
        program = use.native;                                                                                          \
        const cl_int error = of_driver arguments;                                                                      \
        shadow_end_use(&use);                                                                                          \
        return error;                                                                                                  \
    }

/* Intel's functions for global variables and function pointers. */
FORWARD(get_variable, "clGetDeviceGlobalVariablePointerINTEL", find_for_device, device, CL_INVALID_DEVICE,
        (cl_device_id device, cl_program program, const char *variable, size_t *size, void **pointer),
        (device, program, variable, size, pointer))
FORWARD(get_function, "clGetDeviceFunctionPointerINTEL", find_for_device, device, CL_INVALID_DEVICE,
        (cl_device_id device, cl_program program, const char *kernel, cl_ulong *pointer),
        (device, program, kernel, pointer))
FORWARD(read_variable, "clEnqueueReadGlobalVariableINTEL", find_for_queue, queue, CL_INVALID_COMMAND_QUEUE,
        (cl_command_queue queue, cl_program program, const char *variable, cl_bool blocks, size_t size, size_t offset,
         void *bytes, cl_uint event_count, const cl_event *events, cl_event *event),
        (queue, program, variable, blocks, size, offset, bytes, event_count, events, event))
FORWARD(write_variable, "clEnqueueWriteGlobalVariableINTEL", find_for_queue, queue, CL_INVALID_COMMAND_QUEUE,
        (cl_command_queue queue, cl_program program, const char *variable, cl_bool blocks, size_t size, size_t offset,
         const void *bytes, cl_uint event_count, const cl_event *events, cl_event *event),
        (queue, program, variable, blocks, size, offset, bytes, event_count, events, event))

typedef void (*function_t)(void);

#define REPLACEMENT(name, function) {#name, (function_t)(function)},

static const struct {
    const char *name;
    function_t function;
} replacements[] = {
    {"clGetDeviceGlobalVariablePointerINTEL", (function_t)get_variable},
    {"clGetDeviceFunctionPointerINTEL", (function_t)get_function},
    {"clEnqueueReadGlobalVariableINTEL", (function_t)read_variable},
    {"clEnqueueWriteGlobalVariableINTEL", (function_t)write_variable},
    {"clCreateProgramWithILKHR", (function_t)layer_create_with_il_khr},
    LAYER_EACH_FUNCTION(REPLACEMENT) /* with a comma at its end */
};

static void *replace_function(void *function, const char *name)
{
    for (size_t i = 0; i < sizeof(replacements) / sizeof(replacements[0]) && function != NULL && name != NULL; ++i) {
        if (strcmp(name, replacements[i].name) == 0)
            memcpy(&function, &replacements[i].function, sizeof(function));
    }
    return function;
}

void *CL_API_CALL layer_get_extension_function(const char *name)
{
    return replace_function(layer_target.clGetExtensionFunctionAddress(name), name);
}

void *CL_API_CALL layer_get_extension_function_for_platform(cl_platform_id platform, const char *name)
{
    return replace_function(layer_target.clGetExtensionFunctionAddressForPlatform(platform, name), name);
}

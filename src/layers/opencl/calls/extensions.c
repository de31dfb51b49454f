/*
 * extensions.c - replaces functions that the application looks up by name.
 *
 * If a driver has a function that takes or returns programs, the application gets the layer's function instead.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/program/shadow.h"

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

static void *find_for_queue(cl_command_queue queue, const char *name)
{
    cl_device_id device = NULL;
    if (layer_target.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL) != CL_SUCCESS)
        return NULL;
    return extension_find_for_device(device, name);
}

/* Intel's functions for global variables and function pointers. */
typedef cl_int(CL_API_CALL *get_variable_t)(cl_device_id, cl_program, const char *, size_t *, void **);
typedef cl_int(CL_API_CALL *get_function_t)(cl_device_id, cl_program, const char *, cl_ulong *);
typedef cl_int(CL_API_CALL *read_variable_t)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t,
                                             void *, cl_uint, const cl_event *, cl_event *);
typedef cl_int(CL_API_CALL *write_variable_t)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t,
                                              const void *, cl_uint, const cl_event *, cl_event *);

/* Begins a call to a function of the driver, for which *use gets the driver's own program. Returns false if `function`
 * is NULL: the driver does not have it. */
static bool begin_call(struct shadow_use *use, cl_program program, const void *function)
{
    if (function != NULL)
        *use = shadow_begin_use(program);
    return function != NULL;
}

static cl_int end_call(struct shadow_use *use, cl_int error)
{
    shadow_end_use(use);
    return error;
}

static cl_int CL_API_CALL get_variable(cl_device_id device, cl_program program, const char *name, size_t *size,
                                       void **pointer)
{
    struct shadow_use use;
    get_variable_t get = NULL;
    *(void **)&get = extension_find_for_device(device, "clGetDeviceGlobalVariablePointerINTEL");
    if (!begin_call(&use, program, *(void **)&get))
        return CL_INVALID_DEVICE;
    return end_call(&use, get(device, use.native, name, size, pointer));
}

static cl_int CL_API_CALL get_function(cl_device_id device, cl_program program, const char *name, cl_ulong *pointer)
{
    struct shadow_use use;
    get_function_t get = NULL;
    *(void **)&get = extension_find_for_device(device, "clGetDeviceFunctionPointerINTEL");
    if (!begin_call(&use, program, *(void **)&get))
        return CL_INVALID_DEVICE;
    return end_call(&use, get(device, use.native, name, pointer));
}

static cl_int CL_API_CALL read_variable(cl_command_queue queue, cl_program program, const char *name, cl_bool blocks,
                                        size_t size, size_t offset, void *bytes, cl_uint event_count,
                                        const cl_event *events, cl_event *event)
{
    struct shadow_use use;
    read_variable_t read = NULL;
    *(void **)&read = find_for_queue(queue, "clEnqueueReadGlobalVariableINTEL");
    if (!begin_call(&use, program, *(void **)&read))
        return CL_INVALID_COMMAND_QUEUE;
    return end_call(&use, read(queue, use.native, name, blocks, size, offset, bytes, event_count, events, event));
}

static cl_int CL_API_CALL write_variable(cl_command_queue queue, cl_program program, const char *name, cl_bool blocks,
                                         size_t size, size_t offset, const void *bytes, cl_uint event_count,
                                         const cl_event *events, cl_event *event)
{
    struct shadow_use use;
    write_variable_t write = NULL;
    *(void **)&write = find_for_queue(queue, "clEnqueueWriteGlobalVariableINTEL");
    if (!begin_call(&use, program, *(void **)&write))
        return CL_INVALID_COMMAND_QUEUE;
    return end_call(&use, write(queue, use.native, name, blocks, size, offset, bytes, event_count, events, event));
}

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

/*
 * layer.c - defines the functions that an OpenCL loader calls when it loads the layer. They return the layer's name
 * and the table of its functions.
 *
 * For every function that the layer does not replace, the table has the pointer of the target (layer.h), so calls such
 * as clSetKernelArg cost nothing extra. Loaders initialize layers before the application's first call, in one thread.
 */
#include "layers/opencl/layer.h"

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <string.h>

#include "layers/common/common.h"

#define LAYER_NAME "Ingot"
#define ENTRY_COUNT (sizeof(cl_icd_dispatch) / sizeof(void *))

/* Newer loaders call the following functions. Not all OpenCL headers declare them, so they have names of their own in
 * C, and only their symbols have OpenCL's names. */
INGOT_API cl_int CL_API_CALL init_with_properties(cl_uint target_count, const cl_icd_dispatch *target, cl_uint *count,
                                                  const cl_icd_dispatch **functions,
                                                  const void *properties) __asm__("clInitLayerWithProperties");
INGOT_API cl_int CL_API_CALL deinit(void) __asm__("clDeinitLayer");

cl_icd_dispatch layer_target;
static cl_icd_dispatch functions_of_layer;
static bool is_initialized;

cl_int layer_answer(size_t size, const void *answer, size_t capacity, void *value, size_t *size_ret)
{
    if (value != NULL && capacity < size)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, answer, size);
    if (size_ret != NULL)
        *size_ret = size;
    return CL_SUCCESS;
}

INGOT_API CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t capacity, void *value,
                                                         size_t *size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    switch (name) {
    case CL_LAYER_API_VERSION: return layer_answer(sizeof(version), &version, capacity, value, size_ret);
    case CL_LAYER_NAME: return layer_answer(sizeof(LAYER_NAME), LAYER_NAME, capacity, value, size_ret);
    default: return CL_INVALID_VALUE;
    }
}

#define REPLACE(name, function)                                                                                        \
    if (layer_target.name != NULL)                                                                                     \
        functions_of_layer.name = (function);

/* Initializes the layer. Changes nothing if the layer is off, or if it is loaded a second time because both the user's
 * list and the system's list name it. */
static cl_int init_layer(cl_uint target_count, const cl_icd_dispatch *target, cl_uint *count,
                         const cl_icd_dispatch **functions)
{
    const size_t known_count = target_count < ENTRY_COUNT ? target_count : ENTRY_COUNT;
    if (target == NULL || count == NULL || functions == NULL)
        return CL_INVALID_VALUE;
    if (is_initialized || settings_are_off()) {
        *count = target_count;
        *functions = target;
        return CL_SUCCESS;
    }
    is_initialized = true;
    memcpy(&layer_target, target, known_count * sizeof(void *));
    functions_of_layer = layer_target;
    /* Keep the libraries of the target's functions loaded, because programs may be stored after the application has
     * closed its loader. If the application loads the loader again, it gets the same one, with this layer. */
    const void *const *targets = (const void *const *)(const void *)&layer_target;
    const void *last = NULL;
    for (size_t i = 0; i < ENTRY_COUNT; ++i) {
        Dl_info info;
        if (targets[i] == NULL || dladdr(targets[i], &info) == 0 || info.dli_fbase == last)
            continue;
        last = info.dli_fbase;
        void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (library != NULL)
            (void)dlclose(library);
    }
    statistics_init();
    LAYER_EACH_FUNCTION(REPLACE)
    *count = (cl_uint)known_count;
    *functions = &functions_of_layer;
    return CL_SUCCESS;
}

INGOT_API CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint target_count, const cl_icd_dispatch *target,
                                                      cl_uint *count, const cl_icd_dispatch **functions)
{
    return init_layer(target_count, target, count, functions);
}

cl_int CL_API_CALL init_with_properties(cl_uint target_count, const cl_icd_dispatch *target, cl_uint *count,
                                        const cl_icd_dispatch **functions, const void *properties)
{
    (void)properties;
    return init_layer(target_count, target, count, functions);
}

/* Does nothing, because the layer and the loader stay loaded until the process ends. */
cl_int CL_API_CALL deinit(void)
{
    return CL_SUCCESS;
}

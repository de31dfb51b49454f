/*
 * kernels.c - creates kernels, which are the driver's own, and answers queries about them.
 *
 * Some drivers lose the compiler's information when they make a program from a binary. PoCL also distinguishes NULL
 * options from empty ones: only NULL keeps argument information. In these cases, the layer builds the shadow's native
 * program as the application asked, and one of its kernels answers.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/common/common.h"
#include "layers/opencl/program/program.h"

/* True if the driver rejected the binary, which some drivers examine only when they create a kernel. */
static bool is_rejected(const struct shadow_use *use, cl_int error)
{
    return use->result != NULL && use->result->is_loaded && error != CL_SUCCESS && error != CL_INVALID_KERNEL_NAME &&
           error != CL_INVALID_VALUE && error != CL_OUT_OF_HOST_MEMORY;
}

/* Handles a binary that the driver rejected: removes its blob, and lets the driver build the program. Returns NULL if
 * the result cannot be replaced. */
static cl_program replace_rejected(const struct shadow_use *use)
{
    size_t size = 0;
    const uint8_t *id = NULL;
    if (ingot_program_desc_get_cache_blob_id(use->result->desc, &size, &id) == INGOT_SUCCESS)
        (void)ingot_storage_remove(settings_store(), size, id);
    return shadow_replace_result(use->shadow, use->result);
}

cl_kernel CL_API_CALL layer_create_kernel(cl_program program, const char *name, cl_int *error)
{
    struct shadow_use use = shadow_begin_use(program);
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = layer_target.clCreateKernel(use.native, name, &code);
    const cl_program built = kernel == NULL && is_rejected(&use, code) ? replace_rejected(&use) : NULL;
    if (built != NULL)
        kernel = layer_target.clCreateKernel(built, name, &code);
    shadow_end_use(&use);
    if (error != NULL)
        *error = code;
    return kernel;
}

cl_int CL_API_CALL layer_create_kernels(cl_program program, cl_uint capacity, cl_kernel *kernels, cl_uint *count)
{
    struct shadow_use use = shadow_begin_use(program);
    cl_uint created = 0;
    cl_uint *made = kernels != NULL ? &created : count;
    cl_int error = layer_target.clCreateKernelsInProgram(use.native, capacity, kernels, made);
    const cl_program built = is_rejected(&use, error) ? replace_rejected(&use) : NULL;
    if (built != NULL)
        error = layer_target.clCreateKernelsInProgram(built, capacity, kernels, made);
    if (error == CL_SUCCESS && kernels != NULL && count != NULL)
        *count = created;
    shadow_end_use(&use);
    return error;
}

/* True if the program's source or options may give a kernel attributes. */
static bool may_have_attributes(const struct shadow_use *use)
{
    const char *options = use->result->options;
    size_t size = 0;
    bool may = true;
    if (use->shadow->kind != INGOT_SOURCE_OPENCL_C || strstr(options, "attribute") != NULL ||
        strstr(options, "-include") != NULL ||
        layer_target.clGetProgramInfo(use->shadow->native, CL_PROGRAM_SOURCE, 0, NULL, &size) != CL_SUCCESS)
        return true;
    char *text = malloc(size + 1);
    if (text == NULL)
        return true;
    text[size] = '\0';
    if (layer_target.clGetProgramInfo(use->shadow->native, CL_PROGRAM_SOURCE, size, text, NULL) == CL_SUCCESS)
        may = strstr(text, "attribute") != NULL || strstr(text, "include") != NULL;
    free(text);
    return may;
}

static cl_kernel create_kernel_of_native(struct shadow *shadow, cl_kernel kernel)
{
    cl_kernel native = NULL;
    size_t size = 0;
    cl_int error = CL_SUCCESS;
    if (layer_target.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return NULL;
    char *name = malloc(size);
    if (name != NULL && layer_target.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name, NULL) == CL_SUCCESS &&
        shadow_build_native(shadow))
        native = layer_target.clCreateKernel(shadow->native, name, &error);
    free(name);
    return native;
}

/* Returns a kernel that answers queries in place of one that was made from a binary, or NULL. The caller releases it.
 */
static cl_kernel create_native_kernel(cl_kernel kernel, bool is_for_attributes)
{
    cl_program program = NULL;
    cl_kernel native = NULL;
    if (layer_target.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(program), &program, NULL) != CL_SUCCESS)
        return NULL;
    struct shadow *shadow = shadow_find_of_native(program);
    if (shadow == NULL || program == shadow->native)
        return NULL;
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    if (use.result != NULL && (use.result->is_loaded || !use.result->has_options) && use.native == program &&
        (!is_for_attributes || may_have_attributes(&use)))
        native = create_kernel_of_native(shadow, kernel);
    shadow_end_use(&use);
    return native;
}

static cl_int get_kernel_program(cl_kernel kernel, size_t capacity, cl_program *program, size_t *size_ret)
{
    const cl_int error = layer_target.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, capacity, program, size_ret);
    struct shadow *shadow = error == CL_SUCCESS && program != NULL ? shadow_find_of_native(*program) : NULL;
    if (shadow != NULL)
        *program = (cl_program)(void *)shadow;
    return error;
}

/* Gets a kernel's attributes. PoCL does not report them if the kernel was made from a binary. */
static cl_int get_kernel_attributes(cl_kernel kernel, size_t capacity, char *value, size_t *size_ret)
{
    size_t size = 0;
    cl_int error = layer_target.clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, 0, NULL, &size);
    cl_kernel native = error == CL_SUCCESS && size <= 1 ? create_native_kernel(kernel, true) : NULL;
    if (native == NULL)
        return layer_target.clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, capacity, value, size_ret);
    error = layer_target.clGetKernelInfo(native, CL_KERNEL_ATTRIBUTES, capacity, value, size_ret);
    (void)layer_target.clReleaseKernel(native);
    return error;
}

cl_int CL_API_CALL layer_get_kernel_info(cl_kernel kernel, cl_kernel_info name, size_t capacity, void *value,
                                         size_t *size_ret)
{
    switch (name) {
    case CL_KERNEL_PROGRAM: return get_kernel_program(kernel, capacity, value, size_ret);
    case CL_KERNEL_ATTRIBUTES: return get_kernel_attributes(kernel, capacity, value, size_ret);
    default: return layer_target.clGetKernelInfo(kernel, name, capacity, value, size_ret);
    }
}

cl_int CL_API_CALL layer_get_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t capacity,
                                      void *value, size_t *size_ret)
{
    cl_int error = layer_target.clGetKernelArgInfo(kernel, index, name, capacity, value, size_ret);
    if (error != CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
        return error;
    cl_kernel native = create_native_kernel(kernel, false);
    if (native == NULL)
        return error;
    error = layer_target.clGetKernelArgInfo(native, index, name, capacity, value, size_ret);
    (void)layer_target.clReleaseKernel(native);
    return error;
}

/*
 * layer.h - declares the functions of the layer's target, and the layer's own functions, grouped by file.
 *
 * The target is the next layer, or the loader's functions that call the driver. The layer calls OpenCL only through
 * the target, because otherwise it would call itself. layer.c writes the table once, before the application's first
 * call.
 */
#ifndef INGOT_LAYERS_OPENCL_LAYER_H
#define INGOT_LAYERS_OPENCL_LAYER_H

#include <ingot/opencl.h>

#include <CL/cl_icd.h>
#include <stdbool.h>

/* The functions of the target. NULL for functions that the target does not have. */
extern cl_icd_dispatch layer_target;

/* Copies a value to the caller as OpenCL's queries do. */
cl_int layer_answer(size_t size, const void *answer, size_t capacity, void *value, size_t *size_ret);

typedef void(CL_CALLBACK *program_callback_t)(cl_program program, void *user);

/* calls/create.c */
cl_program CL_API_CALL layer_create_with_source(cl_context context, cl_uint count, const char **strings,
                                                const size_t *lengths, cl_int *error);
cl_program CL_API_CALL layer_create_with_il(cl_context context, const void *il, size_t length, cl_int *error);
cl_program CL_API_CALL layer_create_with_il_khr(cl_context context, const void *il, size_t length, cl_int *error);

/* calls/build.c */
cl_int CL_API_CALL layer_build(cl_program program, cl_uint device_count, const cl_device_id *devices,
                               const char *options, program_callback_t notify, void *user);

/* calls/compile.c */
cl_int CL_API_CALL layer_compile(cl_program program, cl_uint device_count, const cl_device_id *devices,
                                 const char *options, cl_uint header_count, const cl_program *headers,
                                 const char **header_names, program_callback_t notify, void *user);
cl_program CL_API_CALL layer_link(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                  const char *options, cl_uint input_count, const cl_program *inputs,
                                  program_callback_t notify, void *user, cl_int *error);

/* calls/lifetime.c */
cl_int CL_API_CALL layer_retain(cl_program program);
cl_int CL_API_CALL layer_release(cl_program program);
cl_int CL_API_CALL layer_release_kernel(cl_kernel kernel);
cl_int CL_API_CALL layer_release_context(cl_context context);
cl_int CL_API_CALL layer_set_release_callback(cl_program program, program_callback_t notify, void *user);
cl_int CL_API_CALL layer_set_spec_constant(cl_program program, cl_uint id, size_t size, const void *value);

/* calls/query.c */
cl_int CL_API_CALL layer_get_program_info(cl_program program, cl_program_info name, size_t capacity, void *value,
                                          size_t *size_ret);
cl_int CL_API_CALL layer_get_build_info(cl_program program, cl_device_id device, cl_program_build_info name,
                                        size_t capacity, void *value, size_t *size_ret);

/* calls/kernels.c */
cl_kernel CL_API_CALL layer_create_kernel(cl_program program, const char *name, cl_int *error);
cl_int CL_API_CALL layer_create_kernels(cl_program program, cl_uint capacity, cl_kernel *kernels, cl_uint *count);
cl_int CL_API_CALL layer_get_kernel_info(cl_kernel kernel, cl_kernel_info name, size_t capacity, void *value,
                                         size_t *size_ret);
cl_int CL_API_CALL layer_get_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t capacity,
                                      void *value, size_t *size_ret);

/* calls/extensions.c */
void *extension_find_for_context(cl_context context, const char *name); /* of the driver; NULL: it has none */
void *CL_API_CALL layer_get_extension_function(const char *name);
void *CL_API_CALL layer_get_extension_function_for_platform(cl_platform_id platform, const char *name);

/* Calls WITH(name, function) for each function of OpenCL that the layer replaces: those that involve a program. */
#define LAYER_EACH_FUNCTION(WITH)                                                                                      \
    WITH(clCreateProgramWithSource, layer_create_with_source)                                                          \
    WITH(clCreateProgramWithIL, layer_create_with_il)                                                                  \
    WITH(clBuildProgram, layer_build)                                                                                  \
    WITH(clCompileProgram, layer_compile)                                                                              \
    WITH(clLinkProgram, layer_link)                                                                                    \
    WITH(clRetainProgram, layer_retain)                                                                                \
    WITH(clReleaseProgram, layer_release)                                                                              \
    WITH(clReleaseKernel, layer_release_kernel)                                                                        \
    WITH(clReleaseContext, layer_release_context)                                                                      \
    WITH(clSetProgramReleaseCallback, layer_set_release_callback)                                                      \
    WITH(clSetProgramSpecializationConstant, layer_set_spec_constant)                                                  \
    WITH(clGetProgramInfo, layer_get_program_info)                                                                     \
    WITH(clGetProgramBuildInfo, layer_get_build_info)                                                                  \
    WITH(clCreateKernel, layer_create_kernel)                                                                          \
    WITH(clCreateKernelsInProgram, layer_create_kernels)                                                               \
    WITH(clGetKernelInfo, layer_get_kernel_info)                                                                       \
    WITH(clGetKernelArgInfo, layer_get_arg_info)                                                                       \
    WITH(clGetExtensionFunctionAddress, layer_get_extension_function)                                                  \
    WITH(clGetExtensionFunctionAddressForPlatform, layer_get_extension_function_for_platform)

#endif

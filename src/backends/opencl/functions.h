/*
 * functions.h - lists the functions of OpenCL that the backend calls, for tables of them.
 */
#ifndef INGOT_BACKENDS_OPENCL_FUNCTIONS_H
#define INGOT_BACKENDS_OPENCL_FUNCTIONS_H

/* Calls WITH(name) for each function of OpenCL 1.2. Every operation may call them. */
#define OPENCL_EACH_FUNCTION(WITH)                                                                                     \
    WITH(clGetPlatformInfo)                                                                                            \
    WITH(clGetDeviceInfo)                                                                                              \
    WITH(clRetainDevice)                                                                                               \
    WITH(clReleaseDevice)                                                                                              \
    WITH(clGetContextInfo)                                                                                             \
    WITH(clRetainContext)                                                                                              \
    WITH(clReleaseContext)                                                                                             \
    WITH(clCreateProgramWithSource)                                                                                    \
    WITH(clCreateProgramWithBinary)                                                                                    \
    WITH(clBuildProgram)                                                                                               \
    WITH(clCompileProgram)                                                                                             \
    WITH(clLinkProgram)                                                                                                \
    WITH(clReleaseProgram)                                                                                             \
    WITH(clGetProgramInfo)                                                                                             \
    WITH(clGetProgramBuildInfo)                                                                                        \
    WITH(clCreateKernel)                                                                                               \
    WITH(clCreateKernelsInProgram)                                                                                     \
    WITH(clReleaseKernel)                                                                                              \
    WITH(clGetKernelInfo)                                                                                              \
    WITH(clGetKernelArgInfo)                                                                                           \
    WITH(clGetKernelWorkGroupInfo)                                                                                     \
    WITH(clGetExtensionFunctionAddressForPlatform)

/* The same for functions of OpenCL 2.1 and later, which older loaders and drivers do not have. */
#define OPENCL_EACH_NEWER_FUNCTION(WITH)                                                                               \
    WITH(clCreateProgramWithIL)                                                                                        \
    WITH(clSetProgramSpecializationConstant)                                                                           \
    WITH(clCloneKernel)

#endif

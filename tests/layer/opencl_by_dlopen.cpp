/*
 * opencl_by_dlopen.cpp - defines the OpenCL functions that layer_child.cpp calls. They open the real loader with dlopen
 * at the first call, pass all calls to it, and close it before the process ends.
 */
#include <CL/cl.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

static void *loader;

static void close_loader()
{
    dlclose(loader);
}

static void *symbol(const char *name)
{
    static const bool is_open = [] {
        loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
        return loader != nullptr && std::atexit(close_loader) == 0;
    }();
    void *function = is_open ? dlsym(loader, name) : nullptr;
    if (function == nullptr) {
        std::fprintf(stderr, "no %s\n", name);
        std::abort();
    }
    return function;
}

#define CALL(name) reinterpret_cast<decltype(&(name))>(symbol(#name))

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *ids, cl_uint *count)
{
    return CALL(clGetPlatformIDs)(n, ids, count);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *ids, cl_uint *count)
{
    return CALL(clGetDeviceIDs)(platform, type, n, ids, count);
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                           cl_int *error)
{
    return CALL(clCreateContext)(properties, n, devices, notify, data, error);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties, cl_int *error)
{
    return CALL(clCreateCommandQueueWithProperties)(context, device, properties, error);
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    return CALL(clReleaseCommandQueue)(queue);
}

cl_int clReleaseContext(cl_context context)
{
    return CALL(clReleaseContext)(context);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **strings, const size_t *lengths,
                                     cl_int *error)
{
    return CALL(clCreateProgramWithSource)(context, n, strings, lengths, error);
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    return CALL(clBuildProgram)(program, n, devices, options, notify, data);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    return CALL(clCreateKernel)(program, name, error);
}

cl_int clCompileProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                        cl_uint header_count, const cl_program *headers, const char **names,
                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    return CALL(clCompileProgram)(program, n, devices, options, header_count, headers, names, notify, data);
}

cl_program clLinkProgram(cl_context context, cl_uint n, const cl_device_id *devices, const char *options,
                         cl_uint input_count, const cl_program *inputs, void(CL_CALLBACK *notify)(cl_program, void *),
                         void *data, cl_int *error)
{
    return CALL(clLinkProgram)(context, n, devices, options, input_count, inputs, notify, data, error);
}

cl_int clRetainProgram(cl_program program)
{
    return CALL(clRetainProgram)(program);
}

cl_int clReleaseProgram(cl_program program)
{
    return CALL(clReleaseProgram)(program);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    return CALL(clReleaseKernel)(kernel);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    return CALL(clCreateBuffer)(context, flags, size, host, error);
}

cl_int clReleaseMemObject(cl_mem object)
{
    return CALL(clReleaseMemObject)(object);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    return CALL(clSetKernelArg)(kernel, index, size, value);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint n, const cl_event *events,
                              cl_event *event)
{
    return CALL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, n, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking, size_t offset, size_t size,
                           void *bytes, cl_uint n, const cl_event *events, cl_event *event)
{
    return CALL(clEnqueueReadBuffer)(queue, buffer, is_blocking, offset, size, bytes, n, events, event);
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void *value, size_t *ret)
{
    return CALL(clGetKernelInfo)(kernel, name, size, value, ret);
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t size, void *value,
                          size_t *ret)
{
    return CALL(clGetKernelArgInfo)(kernel, index, name, size, value, ret);
}

cl_int clGetProgramInfo(cl_program program, cl_program_info name, size_t size, void *value, size_t *ret)
{
    return CALL(clGetProgramInfo)(program, name, size, value, ret);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name, size_t size,
                             void *value, size_t *ret)
{
    return CALL(clGetProgramBuildInfo)(program, device, name, size, value, ret);
}

/*
 * device_opencl.c - runs kernels on the machine's first OpenCL device.
 *
 * All threads share one kernel, and an OpenCL kernel stores its arguments. So a thread sets arguments and launches
 * only while it holds the kernel's lock.
 */
#include "device.h"

#include <stdlib.h>

#include <ingot/opencl.h>

#include "check.h"

struct opencl_device {
    struct device device; /* must be first, because pointers to it are cast */
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
};

static const char dialect[] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                              "#define MEMORY __global\n"
                              "#define KERNEL(name) __kernel void name\n"
                              "#define EACH_ROW(row, count) "
                              "for (unsigned long row = get_global_id(0); row < (count); row += get_global_size(0))\n";

static cl_mem make_buffer(const struct opencl_device *device, cl_mem_flags flags, size_t count, const double *values)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(device->context, flags, count * sizeof(double), (void *)(size_t)values, &error);
    check(error == CL_SUCCESS, "clCreateBuffer");
    return buffer;
}

static void run(struct device *opaque, ingot_kernel_t kernel, size_t row_count, const double *in, size_t in_count,
                double *out, size_t out_count)
{
    struct opencl_device *device = (struct opencl_device *)opaque;
    const size_t one = 1;
    const cl_ulong count = row_count;
    cl_kernel native = NULL;
    cl_event done = NULL;
    cl_mem from = make_buffer(device, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, in_count, in);
    cl_mem to = make_buffer(device, CL_MEM_WRITE_ONLY, out_count, NULL);

    check_ingot(ingot_opencl_kernel_get_native(kernel, &native), "native kernel");
    check_ingot(ingot_kernel_lock(kernel), "kernel lock");
    cl_int error = clSetKernelArg(native, 0, sizeof(from), &from);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(native, 1, sizeof(to), &to);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(native, 2, sizeof(count), &count);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(device->queue, native, 1, NULL, &row_count, &one, 0, NULL, &done);
    check_ingot(ingot_kernel_unlock(kernel), "kernel unlock");
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(device->queue, to, CL_TRUE, 0, out_count * sizeof(double), out, 1, &done, NULL);
    check(error == CL_SUCCESS, "running a kernel");
    clReleaseEvent(done);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}

static void close_device(struct device *opaque)
{
    struct opencl_device *device = (struct opencl_device *)opaque;
    ingot_context_release(device->device.context);
    clReleaseCommandQueue(device->queue);
    clReleaseContext(device->context);
    free(device);
}

struct device *device_open_opencl(const ingot_allocator_t *allocator, const ingot_cache_capacity_t *capacity)
{
    struct opencl_device *device = calloc(1, sizeof(*device));
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    cl_platform_id platform = NULL;
    cl_int error = CL_SUCCESS;

    check(device != NULL, "memory");
    check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "an OpenCL platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device->id, NULL) == CL_SUCCESS, "an OpenCL device");
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &error);
    check(error == CL_SUCCESS, "clCreateContext");
    device->queue = clCreateCommandQueueWithProperties(device->context, device->id, NULL, &error);
    check(error == CL_SUCCESS, "clCreateCommandQueueWithProperties");
    info.allocator = allocator;
    info.cache_capacity = capacity;
    check_ingot(ingot_opencl_context_create(&device->device.context, device->context, 1, &device->id, &info),
                "a context of Ingot");
    device->device.kind = INGOT_SOURCE_OPENCL_C;
    device->device.dialect = dialect;
    device->device.run = run;
    device->device.close = close_device;
    return &device->device;
}

/*
 * persist_quickstart.c - shows persist in an application that already has an OpenCL context. doc/quickstart.md shows
 * the main part.
 *
 * Run it twice with the same directory: the second process loads the program from the directory and compiles
 * nothing.
 */
#include <ingot/opencl.h>
#include <ingot/persist.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check((call), #call)

static const char text[] = "__kernel void scale(__global float *x, float by) { x[get_global_id(0)] *= by; }";

static void check(ingot_status_t status, const char *call)
{
    if (status == INGOT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: %s\n", call, ingot_status_name(status), ingot_last_error_detail());
    exit(1);
}

/* Opens the application's own device, context and queue. */
static int open_device(cl_device_id *device, cl_context *cl_ctx, cl_command_queue *queue)
{
    cl_platform_id platform;
    cl_int error = clGetPlatformIDs(1, &platform, NULL);
    if (error == CL_SUCCESS)
        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device, NULL);
    if (error == CL_SUCCESS)
        *cl_ctx = clCreateContext(NULL, 1, device, NULL, NULL, &error);
    if (error == CL_SUCCESS)
        *queue = clCreateCommandQueueWithProperties(*cl_ctx, *device, NULL, &error);
    return error == CL_SUCCESS ? 0 : -1;
}

/* Multiplies 1, 2, 3 and 4 by 10 on the device. */
static int run_scale(cl_context cl_ctx, cl_command_queue queue, cl_kernel kernel)
{
    float values[4] = {1, 2, 3, 4};
    const float by = 10;
    const size_t count = 4;
    cl_int error;
    cl_mem x = clCreateBuffer(cl_ctx, CL_MEM_COPY_HOST_PTR, sizeof(values), values, &error);
    if (x == NULL)
        return -1;
    error = clSetKernelArg(kernel, 0, sizeof(x), &x) | clSetKernelArg(kernel, 1, sizeof(by), &by);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL);
    clReleaseMemObject(x);
    printf("%g %g %g %g\n", (double)values[0], (double)values[1], (double)values[2], (double)values[3]);
    return error == CL_SUCCESS && values[0] == 10 && values[3] == 40 ? 0 : -1;
}

int main(int count, char **arguments)
{
    cl_device_id device;
    cl_context cl_ctx;
    cl_command_queue queue;
    if (count != 2 || open_device(&device, &cl_ctx, &queue) != 0) {
        fputs("usage: persist_quickstart DIRECTORY, on a machine with an OpenCL device\n", stderr);
        return 2;
    }
    const char *directory = arguments[1];
    ingot_context_t context;
    ingot_source_t source;
    ingot_program_desc_t desc;
    ingot_storage_t store;
    ingot_kernel_t kernel;
    ingot_origin_t origin;
    cl_kernel native;

    /* quickstart begin */
    ingot_source_info_t source_info = {
        .struct_size = sizeof(source_info), .kind = INGOT_SOURCE_OPENCL_C, .bytes = text, .size = strlen(text)};
    ingot_program_info_t program_info = {.struct_size = sizeof(program_info),
                                         .sources = &source,
                                         .source_count = 1,
                                         .compile_options = "-cl-fast-relaxed-math"};
    ingot_persist_info_t store_info = {.struct_size = sizeof(store_info), .path = directory};

    CHECK(ingot_opencl_context_create(&context, cl_ctx, 1, &device, NULL));
    CHECK(ingot_source_create(&source, &source_info));
    CHECK(ingot_program_desc_create(&desc, context, &program_info));
    CHECK(ingot_persist_open(&store, &store_info));
    CHECK(ingot_persist_kernel_create(&kernel, desc, store, 0, "scale", &origin)); /* Loads, or builds and stores. */
    CHECK(ingot_opencl_kernel_get_native(kernel, &native)); /* A cl_kernel; launch it as usual. */
    /* quickstart end */

    printf("origin: %s\n", ingot_origin_name(origin));
    const int result = run_scale(cl_ctx, queue, native);

    ingot_kernel_release(kernel);
    ingot_storage_release(store); /* Stores queued programs; otherwise, they are stored when the process ends. */
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    ingot_context_release(context);
    clReleaseCommandQueue(queue);
    clReleaseContext(cl_ctx);
    return result == 0 ? 0 : 1;
}

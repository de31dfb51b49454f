/*
 * quickstart.c - shows Ingot in an application that already has an OpenCL context. README.md shows the main part.
 *
 * Run it twice with the same directory: the second process loads the program from the directory and compiles nothing.
 */
#include <stdio.h>

/* README begin */
#include <ingot/opencl.h>

/* The program is the application's own, as clBuildProgram leaves it: with its build log after INGOT_BUILD_FAILED. */
static ingot_status_t build(ingot_cache_t cache, cl_context context, cl_device_id device, const char *source,
                            cl_program *program, ingot_origin_t *origin)
{
    return ingot_cache_opencl_build(cache, context, 1, &device, source, 0, "-cl-fast-relaxed-math", program, origin);
}
/* README end */

static const char source[] = "__kernel void scale(__global float *x, float by) { x[get_global_id(0)] *= by; }";

/* Multiplies 1, 2, 3 and 4 by 10 on the device. */
static void run(cl_context context, cl_device_id device, cl_kernel kernel)
{
    float values[4] = {1, 2, 3, 4};
    const float by = 10;
    const size_t count = 4;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(values), values, NULL);
    clSetKernelArg(kernel, 0, sizeof(x), &x);
    clSetKernelArg(kernel, 1, sizeof(by), &by);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL);
    printf("%g %g %g %g\n", (double)values[0], (double)values[1], (double)values[2], (double)values[3]);
    clReleaseMemObject(x);
    clReleaseCommandQueue(queue);
}

int main(int count, char **arguments)
{
    cl_platform_id platform;
    cl_device_id device;
    if (count != 2 || clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        fputs("usage: quickstart DIRECTORY, on a machine with an OpenCL device\n", stderr);
        return 2;
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    ingot_cache_info_t info = {.struct_size = sizeof(info), .directory = arguments[1]};
    ingot_cache_t cache = NULL; /* NULL works, too: everything is compiled then */
    ingot_cache_open(&cache, &info);
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    cl_program program = NULL;
    if (build(cache, context, device, source, &program, &origin) != INGOT_SUCCESS) {
        fprintf(stderr, "%s\n", ingot_last_error_detail());
        return 1;
    }
    printf("origin: %s\n", ingot_origin_name(origin));
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    run(context, device, kernel); /* an application then releases its objects as usual, and the cache */
    return 0;
}

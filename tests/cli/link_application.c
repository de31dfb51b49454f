/*
 * link_application.c - an application that knows nothing of Ingot: compiles a program with a header program, links it,
 * and prints the number of its kernels.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>

static cl_program make(cl_context context, const char *text)
{
    return clCreateProgramWithSource(context, 1, &text, NULL, NULL);
}

int main(void)
{
    const char *name = "amount.h";
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program header = make(context, "#define AMOUNT 3\n");
    cl_program object =
        make(context, "#include \"amount.h\"\nkernel void add(global int *x) { x[0] += AMOUNT + N; }\n");
    if (clCompileProgram(object, 1, &device, "-DN=4", 1, &header, &name, NULL, NULL) != CL_SUCCESS)
        return 2;
    cl_program linked = clLinkProgram(context, 1, &device, NULL, 1, &object, NULL, NULL, NULL);
    cl_kernel kernel = linked != NULL ? clCreateKernel(linked, "add", NULL) : NULL;
    if (kernel == NULL || clCreateKernelsInProgram(linked, 0, NULL, &count) != CL_SUCCESS)
        return 3;
    (void)printf("%u kernels\n", (unsigned)count);
    (void)clReleaseKernel(kernel);
    (void)clReleaseProgram(linked);
    (void)clReleaseProgram(object);
    (void)clReleaseProgram(header);
    (void)clReleaseContext(context);
    return 0;
}

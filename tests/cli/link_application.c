/*
 * link_application.c - an application that knows nothing of Ingot: compiles two programs (one of them with a header,
 * which is a program, too), links them, and prints the number of kernels.
 *
 * If the first argument names a folder, the first program also includes files of that folder. If there is a second
 * argument, the application empties the folder between the compilation and the link.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <unistd.h>

static cl_program make(cl_context context, const char *text)
{
    return clCreateProgramWithSource(context, 1, &text, NULL, NULL);
}

static void empty(const char *folder)
{
    static const char *const names[] = {"outer.h", "deep/inner.h"};
    char path[4096];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
}

int main(int argument_count, char **arguments)
{
    const char *name = "amount.h";
    const char *folder = argument_count > 1 ? arguments[1] : NULL;
    char options[4200] = "-DN=4";
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;
    cl_uint count = 0;
    if (folder != NULL)
        (void)snprintf(options, sizeof(options), "-DN=4 -DWITH_FILES -I%s", folder);
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program header = make(context, "#define AMOUNT 3\n");
    cl_program objects[] = {
        make(context, "#include \"amount.h\"\n"
                      "#ifdef WITH_FILES\n#include <outer.h>\n#else\n#define MORE 0\n#endif\n"
                      "int twice(int x);\n"
                      "kernel void add(global int *x) { x[0] += twice(AMOUNT + N + MORE); }\n"),
        make(context, "int twice(int x);\nint twice(int x) { return 2 * x; }\n"),
    };
    if (clCompileProgram(objects[0], 1, &device, options, 1, &header, &name, NULL, NULL) != CL_SUCCESS ||
        clCompileProgram(objects[1], 0, NULL, NULL, 0, NULL, NULL, NULL, NULL) != CL_SUCCESS)
        return 2;
    if (argument_count > 2)
        empty(folder);
    cl_program linked = clLinkProgram(context, 1, &device, NULL, 2, objects, NULL, NULL, NULL);
    cl_kernel kernel = linked != NULL ? clCreateKernel(linked, "add", NULL) : NULL;
    if (kernel == NULL || clCreateKernelsInProgram(linked, 0, NULL, &count) != CL_SUCCESS)
        return 3;
    (void)printf("%u kernels\n", (unsigned)count);
    (void)clReleaseKernel(kernel);
    (void)clReleaseProgram(linked);
    (void)clReleaseProgram(objects[0]);
    (void)clReleaseProgram(objects[1]);
    (void)clReleaseProgram(header);
    (void)clReleaseContext(context);
    return 0;
}

/*
 * quickstart.cpp - shows Ingot's front door in C++: the program of quickstart.c, which it shares the directory with.
 */
#include <ingot/opencl.hpp>

#include <cstdio>

static const char source[] = "__kernel void scale(__global float *x, float by) { x[get_global_id(0)] *= by; }";

int main(int count, char **arguments)
{
    cl_platform_id platform;
    cl_device_id device;
    if (count != 2 || clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
        std::fputs("usage: quickstart_cpp DIRECTORY, on a machine with an OpenCL device\n", stderr);
        return 2;
    }
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    try {
        const ingot::cache cache = ingot::cache::open(arguments[1]);
        ingot_origin_t origin;
        cl_program program = ingot::opencl_build(cache, context, {device}, source, "-cl-fast-relaxed-math", &origin);
        cl_kernel kernel = clCreateKernel(program, "scale", nullptr);
        std::printf("origin: %s\nkernel: %s\n", ingot_origin_name(origin), kernel != nullptr ? "scale" : "none");
        clReleaseKernel(kernel);
        clReleaseProgram(program);
    } catch (const ingot::error &failure) { /* e.g. the program does not compile; what() has the build log */
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    clReleaseContext(context);
    return 0;
}

/*
 * layer_calls.cpp - times single OpenCL calls: those that take a program, and a kernel launch.
 */
#include "bench/layer_calls.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

namespace bench
{

constexpr char kLaunch[] = "clSetKernelArg, clEnqueueNDRangeKernel";
constexpr int kSamples = 301;
constexpr int kCallsPerSample = 20;

/* Prints the median of the nanoseconds that one call takes. */
static void print_time(const char *name, const std::function<void()> &call)
{
    Sample sample;
    for (int i = 0; i < kSamples; ++i) {
        const Clock::time_point start = Clock::now();
        for (int j = 0; j < kCallsPerSample; ++j)
            call();
        sample.values.push_back(microseconds_since(start) * 1000 / kCallsPerSample);
    }
    std::printf("%s\t%.1f\n", name, sample.median());
}

static void print_times_of_queries(const startup::NativeSetup &setup, cl_program program, cl_kernel kernel)
{
    static char text[1 << 16];
    const auto info = [&](cl_program_info name) { clGetProgramInfo(program, name, sizeof(text), text, nullptr); };
    const auto build_info = [&](cl_program_build_info name) {
        clGetProgramBuildInfo(program, setup.device, name, sizeof(text), text, nullptr);
    };
    print_time("CL_PROGRAM_REFERENCE_COUNT", [&] { info(CL_PROGRAM_REFERENCE_COUNT); });
    print_time("CL_PROGRAM_SOURCE", [&] { info(CL_PROGRAM_SOURCE); });
    print_time("CL_PROGRAM_NUM_KERNELS", [&] { info(CL_PROGRAM_NUM_KERNELS); });
    print_time("CL_PROGRAM_KERNEL_NAMES", [&] { info(CL_PROGRAM_KERNEL_NAMES); });
    print_time("CL_PROGRAM_BUILD_STATUS", [&] { build_info(CL_PROGRAM_BUILD_STATUS); });
    print_time("CL_PROGRAM_BUILD_OPTIONS", [&] { build_info(CL_PROGRAM_BUILD_OPTIONS); });
    print_time("CL_PROGRAM_BUILD_LOG", [&] { build_info(CL_PROGRAM_BUILD_LOG); });
    print_time("CL_KERNEL_PROGRAM", [&] { clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(text), text, nullptr); });
}

static void print_times_of_objects(const startup::NativeSetup &setup, cl_program program, const char *kernel_name)
{
    print_time("clRetainProgram, clReleaseProgram", [&] {
        clRetainProgram(program);
        clReleaseProgram(program);
    });
    print_time("clCreateKernel, clReleaseKernel",
               [&] { clReleaseKernel(clCreateKernel(program, kernel_name, nullptr)); });
    print_time("clCreateProgramWithSource, clReleaseProgram", [&] {
        const char *source = "kernel void none(void) { }\n";
        clReleaseProgram(clCreateProgramWithSource(setup.native, 1, &source, nullptr, nullptr));
    });
}

static void print_time_of_launch(const startup::NativeSetup &setup, cl_program program)
{
    const cl_kernel kernel = clCreateKernel(program, "add", nullptr);
    const size_t one = 1;
    cl_int value = 0;
    const cl_mem buffer = clCreateBuffer(setup.native, CL_MEM_READ_WRITE, sizeof(value), nullptr, nullptr);
    clSetKernelArg(kernel, 0, sizeof(buffer), static_cast<const void *>(&buffer));
    print_time(kLaunch, [&] {
        clSetKernelArg(kernel, 1, sizeof(value), &value);
        startup::require_cl(clEnqueueNDRangeKernel(setup.queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
                            kLaunch);
        clFinish(setup.queue);
    });
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
}

void measure_calls()
{
    const startup::NativeSetup setup;
    const char *source = "kernel void add(global int *out, int n) { out[get_global_id(0)] = n; }\n";
    cl_int error = CL_SUCCESS;
    const cl_program program = clCreateProgramWithSource(setup.native, 1, &source, nullptr, &error);
    startup::require_cl(error, "clCreateProgramWithSource");
    startup::require_cl(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), "clBuildProgram");
    const cl_kernel kernel = clCreateKernel(program, "add", &error);
    startup::require_cl(error, "clCreateKernel");
    print_times_of_queries(setup, program, kernel);
    print_times_of_objects(setup, program, "add");
    print_time_of_launch(setup, program);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

bool is_program_call(const std::string &call)
{
    return call != kLaunch;
}

} // namespace bench

/*
 * cache_opencl_child.cpp - builds programs through the front door, in several threads at once.
 *
 * usage: cache_opencl_child DIRECTORY THREADS PROGRAMS START [begin | leave | stay | launch]. Waits until the file
 * START exists. Each thread requests every program, in its own native context if its number is odd. Prints how many
 * programs were compiled and loaded. begin: each thread begins all programs, and then takes them. leave, stay: it
 * begins them, and the process ends, or waits to be killed. launch: it launches each program, and "alone" is printed if
 * no linker ran in another process.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <ingot/opencl.hpp>

namespace
{

std::atomic<int> built{0};
std::atomic<int> loaded{0};
std::atomic<int> failed{0};
bool is_launching = false;

std::string source_of(int number)
{
    return "kernel void f(global float *x) { x[get_global_id(0)] *= " + std::to_string(number) + "; }";
}

cl_int launch(cl_program program, cl_kernel kernel)
{
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    cl_int error = CL_SUCCESS;
    const size_t size = 4;
    clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr);
    clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(device), &device, nullptr);
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, size * sizeof(float), nullptr, &error);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &error);
    clSetKernelArg(kernel, 0, sizeof(memory), &memory);
    error = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, &size, 0, nullptr, nullptr);
    clFinish(queue);
    clReleaseCommandQueue(queue);
    clReleaseMemObject(memory);
    return error;
}

void count(cl_program program, ingot_origin_t origin)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "f", &error);
    if (error == CL_SUCCESS && is_launching)
        error = launch(program, kernel);
    failed += error != CL_SUCCESS;
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    built += origin == INGOT_ORIGIN_BUILD;
    loaded += origin == INGOT_ORIGIN_STORAGE;
}

void begin_all(const ingot::cache &cache, cl_context context, cl_device_id device, int program_count, bool is_leaving)
{
    std::vector<ingot_pending_t> pending(static_cast<size_t>(program_count));
    for (int i = 0; i < program_count; ++i) {
        const std::string source = source_of(i);
        failed += ingot_cache_opencl_begin(cache.get(), context, 1, &device, source.c_str(), 0, "",
                                           &pending[static_cast<size_t>(i)]) != INGOT_SUCCESS;
    }
    for (size_t i = 0; i < pending.size() && !is_leaving; ++i) {
        cl_program program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        if (ingot_cache_opencl_take(pending[i], &program, &origin) == INGOT_SUCCESS)
            count(program, origin);
        else
            ++failed;
    }
}

void request_all(const ingot::cache &cache, cl_context context, cl_device_id device, int program_count)
{
    for (int i = 0; i < program_count; ++i) {
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        try {
            cl_program program = ingot::opencl_build(cache, context, {device}, source_of(i), "", &origin);
            count(program, origin);
        } catch (const ingot::error &failure) {
            std::fprintf(stderr, "%s\n", failure.what());
            ++failed;
        }
    }
}

} // namespace

int main(int argument_count, char **arguments)
{
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        return 2;
    cl_context shared = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    const ingot::cache cache = ingot::cache::open(arguments[1]);
    const int program_count = std::atoi(arguments[3]);
    const std::string how = argument_count > 5 ? arguments[5] : "";
    is_launching = how == "launch";
    std::vector<std::thread> threads;
    struct stat facts = {};
    while (stat(arguments[4], &facts) != 0)
        std::this_thread::yield();
    for (int i = 0; i < std::atoi(arguments[2]); ++i)
        threads.emplace_back([&, i] {
            cl_context own = i % 2 == 0 ? nullptr : clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
            if (how.empty() || is_launching)
                request_all(cache, own != nullptr ? own : shared, device, program_count);
            else
                begin_all(cache, own != nullptr ? own : shared, device, program_count, how != "begin");
            if (own != nullptr)
                clReleaseContext(own);
        });
    for (std::thread &thread : threads)
        thread.join();
    if (how == "stay")
        pause();
    if (how == "leave")
        std::exit(failed.load());
    clReleaseContext(shared);
    rusage usage{};
    const bool is_alone = getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_minflt + usage.ru_majflt == 0;
    std::printf("built %d loaded %d%s\n", built.load(), loaded.load(), is_launching && is_alone ? " alone" : "");
    return failed == 0 ? 0 : 1;
}

/*
 * cache_opencl_child.cpp - builds programs through the front door, in several threads at once.
 *
 * usage: cache_opencl_child DIRECTORY THREADS PROGRAMS START [begin | leave | stay]. Waits until the file START exists.
 * Each thread requests every program, in its own native context if its number is odd. Prints how many programs were
 * compiled and loaded. begin: each thread begins all programs, and then takes them. leave, stay: it begins them, and
 * the process ends, or waits to be killed.
 */
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

std::string source_of(int number)
{
    return "kernel void f(global float *x) { x[get_global_id(0)] *= " + std::to_string(number) + "; }";
}

void count(cl_program program, ingot_origin_t origin)
{
    cl_int error = CL_SUCCESS;
    clReleaseKernel(clCreateKernel(program, "f", &error));
    failed += error != CL_SUCCESS;
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
    std::vector<std::thread> threads;
    struct stat facts = {};
    while (stat(arguments[4], &facts) != 0)
        std::this_thread::yield();
    for (int i = 0; i < std::atoi(arguments[2]); ++i)
        threads.emplace_back([&, i] {
            cl_context own = i % 2 == 0 ? nullptr : clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
            if (how.empty())
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
    std::printf("built %d loaded %d\n", built.load(), loaded.load());
    return failed == 0 ? 0 : 1;
}

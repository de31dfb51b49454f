/*
 * cache_opencl_child.cpp - builds programs through the front door, in several threads at once.
 *
 * usage: cache_opencl_child DIRECTORY THREADS PROGRAMS START. Waits until the file START exists. Each thread requests
 * every program, in its own native context if its number is odd. Prints how many programs were compiled and loaded.
 */
#include <sys/stat.h>

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

void request_all(const ingot::cache &cache, cl_context context, cl_device_id device, int program_count)
{
    for (int i = 0; i < program_count; ++i) {
        const std::string source =
            "kernel void f(global float *x) { x[get_global_id(0)] *= " + std::to_string(i) + "; }";
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        try {
            cl_program program = ingot::opencl_build(cache, context, {device}, source, "", &origin);
            cl_int error = CL_SUCCESS;
            clReleaseKernel(clCreateKernel(program, "f", &error));
            failed += error != CL_SUCCESS;
            clReleaseProgram(program);
        } catch (const ingot::error &failure) {
            std::fprintf(stderr, "%s\n", failure.what());
            ++failed;
        }
        built += origin == INGOT_ORIGIN_BUILD;
        loaded += origin == INGOT_ORIGIN_STORAGE;
    }
}

} // namespace

int main(int, char **arguments)
{
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        return 2;
    cl_context shared = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    const ingot::cache cache = ingot::cache::open(arguments[1]);
    const int program_count = std::atoi(arguments[3]);
    std::vector<std::thread> threads;
    struct stat facts = {};
    while (stat(arguments[4], &facts) != 0)
        std::this_thread::yield();
    for (int i = 0; i < std::atoi(arguments[2]); ++i)
        threads.emplace_back([&, i] {
            cl_context own = i % 2 == 0 ? nullptr : clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
            request_all(cache, own != nullptr ? own : shared, device, program_count);
            if (own != nullptr)
                clReleaseContext(own);
        });
    for (std::thread &thread : threads)
        thread.join();
    clReleaseContext(shared);
    std::printf("built %d loaded %d\n", built.load(), loaded.load());
    return failed == 0 ? 0 : 1;
}

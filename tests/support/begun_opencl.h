/*
 * begun_opencl.h - begins and takes small OpenCL programs (ingot/pending.h), in this process and in others.
 */
#pragma once

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/opencl.h>
#include <ingot/pending.h>

#include "support/child_process.h"
#include "support/opencl_platform.h"

namespace begun_opencl
{

inline std::string source_of(int number)
{
    return "kernel void f(global float *x) { x[get_global_id(0)] *= " + std::to_string(number) + "; }";
}

inline ingot_pending_t begin(ingot_cache_t cache, cl_context context, const std::string &source,
                             const char *options = "")
{
    const cl_device_id device = OpenclPlatform::get().devices()[0];
    ingot_pending_t pending = nullptr;
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_cache_opencl_begin(cache, context, 1, &device, source.data(), source.size(), options, &pending))
        << ingot_last_error_detail();
    return pending;
}

/* Takes the program, and creates its kernel. Returns its origin. */
inline ingot_origin_t take(ingot_pending_t pending, ingot_status_t expected = INGOT_SUCCESS)
{
    cl_program program = nullptr;
    cl_int error = CL_SUCCESS;
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    const ingot_status_t status = ingot_cache_opencl_take(pending, &program, &origin);
    EXPECT_EQ(expected, status) << ingot_last_error_detail();
    if (status == INGOT_SUCCESS) {
        EXPECT_EQ(CL_SUCCESS, clReleaseKernel(clCreateKernel(program, "f", &error)));
    }
    if (program != nullptr) {
        EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
    }
    return origin;
}

/* The sums of what processes have printed. */
struct Counts {
    int built = 0;
    int loaded = 0;
};

/* Runs processes at once on an empty store, each of which requests the programs, or begins them if `how` is "begin". */
inline Counts run_children(const std::string &program, int process_count, int thread_count, int program_count,
                           const std::string &folder, const char *how = "")
{
    Counts sum;
    const std::string start = folder + "/start";
    std::vector<std::unique_ptr<child_process::Child>> children;
    for (int i = 0; i < process_count; ++i)
        children.push_back(std::make_unique<child_process::Child>(
            std::vector<std::string>{program, folder + "/store", std::to_string(thread_count),
                                     std::to_string(program_count), start, how},
            folder + "/" + std::to_string(i) + ".log",
            child_process::Child::Environment{{"INGOT_PERSIST_LOCK_TIMEOUT", "60s"}}));
    std::ofstream(start).flush();
    for (const auto &child : children) {
        Counts one;
        EXPECT_EQ(0, child->wait()) << child->output();
        EXPECT_EQ(2, std::sscanf(child->output().c_str(), "built %d loaded %d", &one.built, &one.loaded));
        sum.built += one.built;
        sum.loaded += one.loaded;
    }
    return sum;
}

} // namespace begun_opencl

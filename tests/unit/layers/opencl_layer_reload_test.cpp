/*
 * opencl_layer_reload_test.cpp - tests an application that opens and closes the OpenCL loader itself. (So this test is
 * not linked with the loader.) When the application closes the loader, the libraries that the layer still calls must
 * stay loaded. When the application opens the loader again, the loader must load the layer again.
 */
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <CL/cl.h>

#include "support/scratch_directory.h"

namespace
{

/* Opens the loader, builds a program that depends on `value`, and closes the loader, perhaps with its objects alive. */
void run_application(int value, bool releases = true)
{
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, loader);
#define LOAD(name) const auto name##_ = reinterpret_cast<decltype(&name)>(dlsym(loader, #name))
    LOAD(clGetPlatformIDs);
    LOAD(clGetDeviceIDs);
    LOAD(clCreateContext);
    LOAD(clCreateProgramWithSource);
    LOAD(clBuildProgram);
    LOAD(clReleaseProgram);
    LOAD(clReleaseContext);
#undef LOAD
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    const std::string text = "__kernel void k(__global int *x) { *x = " + std::to_string(value) + "; }\n";
    const char *string = text.c_str();
    ASSERT_EQ(CL_SUCCESS, clGetPlatformIDs_(1, &platform, nullptr));
    ASSERT_EQ(CL_SUCCESS, clGetDeviceIDs_(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
    cl_context context = clCreateContext_(nullptr, 1, &device, nullptr, nullptr, nullptr);
    cl_program program = clCreateProgramWithSource_(context, 1, &string, nullptr, nullptr);
    EXPECT_EQ(CL_SUCCESS, clBuildProgram_(program, 0, nullptr, "", nullptr, nullptr));
    if (releases) {
        EXPECT_EQ(CL_SUCCESS, clReleaseProgram_(program));
        EXPECT_EQ(CL_SUCCESS, clReleaseContext_(context));
    }
    dlclose(loader);
}

TEST(LayerReload, OutlivesTheApplicationsUseOfTheLoader)
{
    const ScratchDirectory scratch;
    const std::string trace = scratch.path() / "trace";
    setenv("OPENCL_LAYERS", INGOT_LAYER_FILE, 1);
    setenv("INGOT_PERSIST_DIR", (scratch.path() / "store").c_str(), 1);
    setenv("INGOT_TRACE", trace.c_str(), 1);
    run_application(1);
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(nullptr, loader) << "the layer's target was unloaded";
    dlclose(loader);
    const auto size = std::filesystem::file_size(trace);
    EXPECT_LT(0u, size);
    run_application(2);
    EXPECT_LT(size, std::filesystem::file_size(trace)) << "the second load has no layer";
    run_application(2, false); /* the process ends with these objects */
}

} // namespace

/*
 * opencl_layer_table_test.cpp - tests which of a driver's functions the layer replaces, and which it leaves alone.
 */
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <CL/cl_layer.h>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"

namespace
{

using namespace layer_session;

/* The application must get the driver's own program and not the layer's object for it, so the bare driver must know the
 * program. */
TEST(Layer, PassesProgramsOfOtherPlatformsThrough)
{
    const Session session(layered());
    cl_int error = CL_SUCCESS;
    const char *text = kTwo;
    setenv("INGOT_LAYER_PLATFORMS", "Another Platform,Portable", 1);
    cl_program program = session.cl.clCreateProgramWithSource(session.context, 1, &text, nullptr, &error);
    ASSERT_EQ(CL_SUCCESS, error);
    cl_uint count = 0;
    EXPECT_EQ(CL_SUCCESS, bare().clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr));
    EXPECT_EQ(1u, count);
    EXPECT_EQ(CL_SUCCESS, bare().clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
    session.cl.clReleaseProgram(program);
    unsetenv("INGOT_LAYER_PLATFORMS");
}

TEST(Layer, HasAName)
{
    (void)layered();
    void *layer = dlopen(INGOT_LAYER_FILE, RTLD_LAZY | RTLD_LOCAL);
    const auto info = reinterpret_cast<pfn_clGetLayerInfo>(dlsym(layer, "clGetLayerInfo"));
    char name[16] = "";
    cl_layer_api_version version = 0;
    size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, info(CL_LAYER_NAME, sizeof(name), name, &size));
    EXPECT_STREQ("Ingot", name);
    EXPECT_EQ(6u, size);
    EXPECT_EQ(CL_SUCCESS, info(CL_LAYER_API_VERSION, sizeof(version), &version, nullptr));
    EXPECT_EQ(static_cast<cl_layer_api_version>(CL_LAYER_API_VERSION_100), version);
    EXPECT_EQ(CL_INVALID_VALUE, info(CL_LAYER_NAME, 2, name, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, info(0, sizeof(name), name, nullptr));
}

TEST(Layer, LeavesFunctionsOfKernelsAndQueuesToTheDriver)
{
    EXPECT_EQ(bare().clSetKernelArg, layered().clSetKernelArg);
    EXPECT_EQ(bare().clEnqueueNDRangeKernel, layered().clEnqueueNDRangeKernel);
    EXPECT_EQ(bare().clCreateBuffer, layered().clCreateBuffer);
    EXPECT_NE(bare().clBuildProgram, layered().clBuildProgram);
}

/* Newer loaders initialize a layer with properties, and shut it down before the process ends. */
TEST(Layer, WorksWithNewerLoaders)
{
    (void)layered();
    void *layer = dlopen(INGOT_LAYER_FILE, RTLD_LAZY | RTLD_LOCAL);
    using Init =
        cl_int(CL_API_CALL *)(cl_uint, const cl_icd_dispatch *, cl_uint *, const cl_icd_dispatch **, const void *);
    const auto init = reinterpret_cast<Init>(dlsym(layer, "clInitLayerWithProperties"));
    const auto deinit = reinterpret_cast<cl_int(CL_API_CALL *)()>(dlsym(layer, "clDeinitLayer"));
    const cl_icd_dispatch *table = nullptr;
    cl_uint count = 0;
    EXPECT_EQ(CL_SUCCESS, init(7, &layered(), &count, &table, nullptr));
    EXPECT_EQ(&layered(), table);
    EXPECT_EQ(7u, count);
    EXPECT_EQ(CL_INVALID_VALUE, init(7, nullptr, &count, &table, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, init(7, &bare(), nullptr, &table, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, init(7, &bare(), &count, nullptr, nullptr));
    EXPECT_EQ(CL_SUCCESS, deinit());
    Session session(layered());
    cl_program program = session.source(kTwo);
    EXPECT_EQ(CL_SUCCESS, session.cl.clBuildProgram(program, 0, nullptr, "-DENDED", nullptr, nullptr));
    EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseProgram(program));
}

TEST(Layer, ReplacesFunctionsOfExtensions)
{
    const cl_platform_id platform = OpenclPlatform::get().id();
    const auto compare_one = [&](const char *name, bool is_replaced) {
        void *without = bare().clGetExtensionFunctionAddressForPlatform(platform, name);
        void *with = layered().clGetExtensionFunctionAddressForPlatform(platform, name);
        EXPECT_EQ(without == nullptr, with == nullptr) << name;
        EXPECT_EQ(without != nullptr && is_replaced, without != with) << name;
    };
    for (const char *name :
         {"clCreateProgramWithILKHR", "clGetDeviceGlobalVariablePointerINTEL", "clGetDeviceFunctionPointerINTEL",
          "clEnqueueReadGlobalVariableINTEL", "clEnqueueWriteGlobalVariableINTEL"})
        compare_one(name, true);
    for (const char *name : {"clGetKernelSubGroupInfoKHR", "clHostMemAllocINTEL", "clNothing"})
        compare_one(name, false);
}

} // namespace

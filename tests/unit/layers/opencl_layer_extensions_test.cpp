/*
 * opencl_layer_extensions_test.cpp - tests which of a driver's functions the layer replaces, and what it passes to the
 * driver's extension functions that take programs.
 *
 * Few drivers have such functions, so functions of this test stand in for them and record their arguments.
 */
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <CL/cl_layer.h>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/spirv_module.h"

namespace
{

using namespace layer_session;

using GetVariable = cl_int(CL_API_CALL *)(cl_device_id, cl_program, const char *, size_t *, void **);
using GetFunction = cl_int(CL_API_CALL *)(cl_device_id, cl_program, const char *, cl_ulong *);
using ReadVariable = cl_int(CL_API_CALL *)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t, void *,
                                           cl_uint, const cl_event *, cl_event *);
using WriteVariable = cl_int(CL_API_CALL *)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t,
                                            const void *, cl_uint, const cl_event *, cl_event *);
using CreateWithIl = cl_program(CL_API_CALL *)(cl_context, const void *, size_t, cl_int *);

const char kGetVariable[] = "clGetDeviceGlobalVariablePointerINTEL";
const char kGetFunction[] = "clGetDeviceFunctionPointerINTEL";
const char kRead[] = "clEnqueueReadGlobalVariableINTEL";
const char kWrite[] = "clEnqueueWriteGlobalVariableINTEL";
const char kCreate[] = "clCreateProgramWithILKHR";

/* The arguments of the last call to a stand-in. */
struct Noted {
    const void *object; /* a device, a queue or a context */
    cl_program program;
    std::string name;
    std::vector<size_t> numbers;
    std::vector<const void *> pointers;
};
Noted noted;

cl_int CL_API_CALL get_variable(cl_device_id device, cl_program program, const char *name, size_t *size, void **pointer)
{
    noted = {device, program, name, {}, {size, pointer}};
    *size = 12;
    *pointer = &noted;
    return CL_SUCCESS;
}

cl_int CL_API_CALL get_function(cl_device_id device, cl_program program, const char *name, cl_ulong *pointer)
{
    noted = {device, program, name, {}, {pointer}};
    *pointer = 34;
    return CL_INVALID_ARG_VALUE;
}

cl_int CL_API_CALL read_variable(cl_command_queue queue, cl_program program, const char *name, cl_bool blocks,
                                 size_t size, size_t offset, void *bytes, cl_uint event_count, const cl_event *events,
                                 cl_event *event)
{
    noted = {queue, program, name, {blocks, size, offset, event_count}, {bytes, events, event}};
    return CL_INVALID_EVENT_WAIT_LIST;
}

cl_int CL_API_CALL write_variable(cl_command_queue queue, cl_program program, const char *name, cl_bool blocks,
                                  size_t size, size_t offset, const void *bytes, cl_uint event_count,
                                  const cl_event *events, cl_event *event)
{
    noted = {queue, program, name, {blocks, size, offset, event_count}, {bytes, events, event}};
    return CL_OUT_OF_RESOURCES;
}

cl_program CL_API_CALL create_with_il(cl_context context, const void *il, size_t length, cl_int *error)
{
    noted = {context, nullptr, "", {length}, {il}};
    return bare().clCreateProgramWithIL(context, il, length, error);
}

/* Gives the functions to the driver, and the layer's versions of them to the application. */
class LayerExtensions : public ::testing::Test
{
protected:
    template <typename Function> static Function give(const char *name, Function function)
    {
        extension_functions[name] = reinterpret_cast<void *>(function);
        return reinterpret_cast<Function>(
            layered().clGetExtensionFunctionAddressForPlatform(OpenclPlatform::get().id(), name));
    }
    /* Takes the function away from the driver. Another platform may still have it. */
    static void take_away(const char *name) { extension_functions[name] = nullptr; }
    void TearDown() override { extension_functions.clear(); }

    const GetVariable get_variable_ = give(kGetVariable, get_variable);
    const GetFunction get_function_ = give(kGetFunction, get_function);
    const ReadVariable read_ = give(kRead, read_variable);
    const WriteVariable write_ = give(kWrite, write_variable);
    const CreateWithIl create_ = give(kCreate, create_with_il);
};

/* Expects that the stand-in got the driver's program, the one to which the application's kernels belong. */
void expect_program_of_kernel(Session &session, cl_program program)
{
    ASSERT_NE(program, noted.program);
    cl_program of_kernel = nullptr;
    cl_kernel kernel = session.kernel(program, "twice");
    EXPECT_EQ(CL_SUCCESS, bare().clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(of_kernel), &of_kernel, nullptr));
    EXPECT_EQ(of_kernel, noted.program);
    EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseKernel(kernel));
}

TEST_F(LayerExtensions, PassTheDriversProgramToItsDevice)
{
    for (int i = 0; i < 2; ++i) { /* first compiled, then loaded */
        Session session(layered());
        cl_program program = session.source(kTwo);
        session.build(program, "-DEXTENDED");
        size_t size = 0;
        void *pointer = nullptr;
        EXPECT_EQ(CL_SUCCESS, get_variable_(session.devices[0], program, "variable", &size, &pointer));
        expect_program_of_kernel(session, program);
        EXPECT_EQ(session.devices[0], noted.object);
        EXPECT_EQ("variable", noted.name);
        EXPECT_EQ(12u, size);
        EXPECT_EQ(&noted, pointer);
        cl_ulong number = 0;
        EXPECT_EQ(CL_INVALID_ARG_VALUE, get_function_(session.devices[0], program, "function", &number));
        expect_program_of_kernel(session, program);
        EXPECT_EQ(session.devices[0], noted.object);
        EXPECT_EQ("function", noted.name);
        EXPECT_EQ(34u, number);
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseProgram(program));
    }
}

TEST_F(LayerExtensions, PassTheDriversProgramToItsQueue)
{
    for (int i = 0; i < 2; ++i) {
        Session session(layered());
        cl_program program = session.source(kTwo);
        session.build(program, "-DQUEUED");
        cl_command_queue queue = session.cl.clCreateCommandQueue(session.context, session.devices[0], 0, nullptr);
        char bytes[4] = "";
        cl_event events[2] = {nullptr, nullptr};
        const std::vector<size_t> numbers = {CL_TRUE, 4, 8, 1};
        const std::vector<const void *> pointers = {bytes, &events[0], &events[1]};
        const auto expect_passed = [&](const char *name) {
            expect_program_of_kernel(session, program);
            EXPECT_EQ(queue, noted.object);
            EXPECT_EQ(name, noted.name);
            EXPECT_EQ(numbers, noted.numbers);
            EXPECT_EQ(pointers, noted.pointers);
            noted = {};
        };
        EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
                  read_(queue, program, "read", CL_TRUE, 4, 8, bytes, 1, &events[0], &events[1]));
        expect_passed("read");
        EXPECT_EQ(CL_OUT_OF_RESOURCES,
                  write_(queue, program, "write", CL_TRUE, 4, 8, bytes, 1, &events[0], &events[1]));
        expect_passed("write");
        session.cl.clReleaseCommandQueue(queue);
        session.cl.clReleaseProgram(program);
    }
}

TEST_F(LayerExtensions, RefuseDevicesWhoseDriverHasNoSuchFunction)
{
    Session session(layered());
    cl_program program = session.source(kTwo);
    session.build(program, "");
    cl_command_queue queue = session.cl.clCreateCommandQueue(session.context, session.devices[0], 0, nullptr);
    size_t size = 0;
    void *pointer = nullptr;
    cl_ulong number = 0;
    char byte = 0;
    cl_int error = CL_SUCCESS;
    noted = {};
    const auto expect_refusals = [&](cl_device_id device, cl_command_queue of_device, cl_context context) {
        EXPECT_EQ(CL_INVALID_DEVICE, get_variable_(device, program, "v", &size, &pointer));
        EXPECT_EQ(CL_INVALID_DEVICE, get_function_(device, program, "f", &number));
        EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, read_(of_device, program, "v", CL_TRUE, 1, 0, &byte, 0, nullptr, nullptr));
        EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, write_(of_device, program, "v", CL_TRUE, 1, 0, &byte, 0, nullptr, nullptr));
        error = CL_SUCCESS;
        EXPECT_EQ(nullptr, create_(context, &byte, 1, &error));
        EXPECT_EQ(CL_INVALID_CONTEXT, error);
        EXPECT_EQ(nullptr, create_(context, &byte, 1, nullptr));
        EXPECT_EQ(nullptr, noted.object);
    };
    expect_refusals(nullptr, nullptr, nullptr);
    for (const char *name : {kGetVariable, kGetFunction, kRead, kWrite, kCreate})
        take_away(name);
    expect_refusals(session.devices[0], queue, session.context);
    session.cl.clReleaseCommandQueue(queue);
    session.cl.clReleaseProgram(program);
}

TEST_F(LayerExtensions, CacheProgramsOfIntermediateLanguage)
{
    if (OpenclPlatform::get().version().find("PoCL 6.0") != std::string::npos)
        GTEST_SKIP() << "PoCL 6.0 may crash with this module without the layer, too";
    const std::vector<uint32_t> module = spirv_module::specialized();
    const size_t size = module.size() * sizeof(module[0]);
    for (const int expected : {1, 0}) {
        Session session(layered());
        cl_int error = CL_SUCCESS;
        cl_int error_of_driver = CL_SUCCESS;
        cl_program bare_program = bare().clCreateProgramWithIL(session.context, module.data(), size, &error_of_driver);
        cl_program program = create_(session.context, module.data(), size, &error);
        EXPECT_EQ(session.context, noted.object);
        EXPECT_EQ(std::vector<const void *>{module.data()}, noted.pointers);
        EXPECT_EQ(std::vector<size_t>{size}, noted.numbers);
        EXPECT_EQ(error_of_driver, error);
        ASSERT_EQ(bare_program == nullptr, program == nullptr);
        if (program == nullptr)
            return; /* PoCL 3.1 refuses SPIR-V */
        bare().clReleaseProgram(bare_program);
        const int compiled = compilation_count;
        session.build(program, "-cl-mad-enable");
        cl_kernel kernel = session.kernel(program, "specialized");
        EXPECT_NE(nullptr, kernel);
        EXPECT_EQ(compiled + expected, compilation_count);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(program);
    }
}

TEST_F(LayerExtensions, AreTheSameWithoutAPlatform)
{
    for (const char *name : {kGetVariable, kGetFunction, kRead, kWrite, kCreate}) {
        void *function = layered().clGetExtensionFunctionAddress(name);
        EXPECT_EQ(layered().clGetExtensionFunctionAddressForPlatform(OpenclPlatform::get().id(), name), function);
        EXPECT_NE(extension_functions[name], function) << name;
    }
    for (const char *name : {kGetVariable, kRead}) {
        take_away(name);
        EXPECT_EQ(nullptr, layered().clGetExtensionFunctionAddress(name)) << name;
    }
}

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

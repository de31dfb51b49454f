/*
 * opencl_backend_test.cpp - tests the parts of the OpenCL backend that the conformance suite does not cover: its public
 * header and its table of operations.
 */
#include "unit/backends/opencl_backend_fixture.h"

#include <fstream>

extern "C" {
#include "backends/opencl/backend.h"
}
#include "support/failing_allocator.h"

using namespace opencl_backend;

/* A part of a test that runs in a separate process: builds kSource, and writes the driver's binary, including
 * intermediate code, to `path`. */
static int write_binary(const char *path)
{
    const Built built;
    std::ofstream file(path, std::ios::binary);
    file << built.of_driver;
    file.close();
    return file.good() && !testing::Test::HasFailure() ? 0 : 1;
}

TEST(OpenclContextCreate, TakesAllDevicesOfTheContextWhenNoneIsNamed)
{
    const OpenclContext native(platform().devices());
    const Context all = make(native);
    const auto count = static_cast<uint32_t>(platform().devices().size());
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_device_info(all.get(), count - 1, &info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_get_device_info(all.get(), count, &info));
}

TEST(OpenclContextCreate, TakesSomeDevicesInAnyOrderButNoneTwice)
{
    const std::vector<cl_device_id> &devices = platform().devices();
    const OpenclContext native(devices);
    EXPECT_EQ(INGOT_SUCCESS, create(native, {devices[1]}));
    EXPECT_EQ(INGOT_SUCCESS, create(native, {devices[1], devices[0]}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {devices[0], devices[0]}));
}

TEST(OpenclContextCreate, RefusesADeviceOfNoneOrAnotherContext)
{
    const OpenclContext native(one_device());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {platform().devices()[1]}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {nullptr}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {platform().devices()[0], platform().devices()[1]}));
}

TEST(OpenclContextCreate, RefusesNull)
{
    const OpenclContext native(one_device());
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_context_create(nullptr, native.native(), 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_context_create(&context, nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_context_create(&context, native.native(), 1, nullptr, nullptr));
    EXPECT_EQ(nullptr, context);
}

TEST(OpenclContextCreate, CallsTheFunctionsThatItWasGiven)
{
    const OpenclContext native(one_device());
    const int builds = build_count, retains = retain_count, releases = release_count;
    (void)build(make_with(counting_functions(), native));
    EXPECT_EQ(builds + 1, build_count);
    EXPECT_EQ(retains + 1, retain_count);
    EXPECT_EQ(releases + 1, release_count);
}

TEST(OpenclContextCreate, RefusesAnIncompleteTable)
{
    const OpenclContext native(one_device());
    ingot_context_t context = nullptr;
    cl_icd_dispatch table = counting_functions();
    table.clLinkProgram = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_opencl_context_create_with(&context, &table, native.native(), 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_opencl_context_create_with(&context, nullptr, native.native(), 0, nullptr, nullptr));
}

TEST(OpenclContextCreate, HoldsTheNativeContextUntilTheLastObjectIsReleased)
{
    const OpenclContext native(one_device());
    const cl_uint before = native.reference_count();
    Context context = make(native);
    EXPECT_LT(before, native.reference_count());
    Program program = build(context);
    context.reset();
    EXPECT_LT(before, native.reference_count());
    program.reset();
    EXPECT_EQ(before, native.reference_count());
}

TEST(OpenclContextCreate, FailsCleanlyAtEveryAllocation)
{
    const OpenclContext native(one_device());
    const cl_uint before = native.reference_count();
    expect_clean_failures([&](const ingot_allocator_t *allocator) {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator;
        ingot_context_t context = nullptr;
        const ingot_status_t status = ingot_opencl_context_create(&context, native.native(), 0, nullptr, &info);
        ingot_context_release(context);
        EXPECT_EQ(before, native.reference_count());
        return status;
    });
}

TEST(OpenclDeviceInfo, SaysThatPoclGeneratesCodeAtLaunch)
{
    const OpenclContext native(one_device());
    const Context context = make(native);
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_get_device_info(context.get(), 0, &info));
    EXPECT_EQ(platform().is_pocl(), info.generates_code_at_launch != 0);
}

/* Without its cache, PoCL deletes files that all programs with the same binary share. */
TEST(OpenclDeviceInfo, PoclWithoutItsCacheProvidesNoBlobs)
{
    if (!platform().is_pocl())
        return;
    const auto take = [](std::vector<uint8_t> *id) {
        const OpenclContext native(one_device());
        const Context context = make(native);
        const Desc desc = describe(context, kSource);
        *id = id_of(desc);
        return has_blob(create_program(desc));
    };
    std::vector<uint8_t> with;
    std::vector<uint8_t> without;
    EXPECT_EQ(INGOT_SUCCESS, take(&with));
    setenv("POCL_KERNEL_CACHE", "0", 1);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, take(&without));
    unsetenv("POCL_KERNEL_CACHE");
    EXPECT_NE(with, without) << "no other process's blob is loaded, either";
}

TEST(OpenclNative, GivesProgramAndKernelBack)
{
    const OpenclContext native(one_device());
    const Context context = make(native);
    const Program owned = build(context);
    const Kernel owned_kernel = create_kernel(owned, "twice");
    ingot_program_t program = owned.get();
    ingot_kernel_t kernel = owned_kernel.get();
    cl_program native_program = nullptr;
    cl_kernel native_kernel = nullptr;
    cl_program program_of_kernel = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_opencl_program_get_native(program, &native_program));
    ASSERT_EQ(INGOT_SUCCESS, ingot_opencl_kernel_get_native(kernel, &native_kernel));
    ASSERT_EQ(CL_SUCCESS,
              clGetKernelInfo(native_kernel, CL_KERNEL_PROGRAM, sizeof(cl_program), &program_of_kernel, nullptr));
    EXPECT_EQ(native_program, program_of_kernel);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_program_get_native(nullptr, &native_program));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_program_get_native(program, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_kernel_get_native(nullptr, &native_kernel));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_kernel_get_native(kernel, nullptr));
}

TEST(OpenclErrors, NamesEveryCodeAndTellsLackOfMemory)
{
    EXPECT_STREQ("CL_BUILD_PROGRAM_FAILURE", opencl_error_name(CL_BUILD_PROGRAM_FAILURE));
    EXPECT_STREQ("CL_INVALID_SPEC_ID", opencl_error_name(CL_INVALID_SPEC_ID));
    EXPECT_STREQ("unknown error", opencl_error_name(-9999));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, opencl_fail(INGOT_BACKEND_ERROR, "clCall", CL_OUT_OF_RESOURCES));
    EXPECT_EQ(INGOT_BACKEND_ERROR, opencl_fail(INGOT_BACKEND_ERROR, "clCall", CL_INVALID_VALUE));
    EXPECT_STREQ("clCall: CL_INVALID_VALUE (-30)", ingot_last_error_detail());
    EXPECT_EQ(CL_INVALID_VALUE, ingot_last_error_code());
}

TEST(OpenclBuild, RefusesALastOptionWithoutItsValue)
{
    Table table;
    for (const char *options : {"-I", "-DA -I", "-I ", "-D", "-w\t-D \t"}) {
        void *program = nullptr;
        table.request.compile_options = options; /* PoCL 3.1 would end the process */
        EXPECT_EQ(INGOT_BUILD_FAILED, table.build(&program)) << options;
        EXPECT_TRUE(last_error_has("has no value")) << options;
    }
    EXPECT_NE("", table.log.text());
}

/* Returns a kernel with this much local memory. */
static std::string with_local_memory(size_t bytes)
{
    const std::string count = std::to_string(bytes / sizeof(cl_int));
    return "__kernel void big(__global int *x) { __local int a[" + count +
           "]; size_t i = get_local_id(0);\n"
           "a[i * 7] = x[i]; barrier(CLK_LOCAL_MEM_FENCE); x[i] = a[i * 11]; }\n";
}

/* Intel's compiler fails with CL_OUT_OF_RESOURCES. PoCL compiles the program, and then refuses the launch. */
TEST(OpenclBuild, ProgramWithTooMuchLocalMemoryIsRefusedWithItsLogAndEmptiesNothing)
{
    const Programs programs;
    const Program kept = build(programs.context);
    cl_ulong local_size = 0;
    EXPECT_EQ(CL_SUCCESS, clGetDeviceInfo(platform().devices()[0], CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local_size),
                                          &local_size, nullptr));
    const ingot_status_t status = request(describe(programs.context, with_local_memory(local_size * 4)));
    if (platform().is_intel()) {
        EXPECT_EQ(INGOT_BUILD_FAILED, status);
        EXPECT_TRUE(last_error_has("CL_OUT_OF_RESOURCES (-5)")) << ingot_last_error_detail();
        EXPECT_EQ(CL_OUT_OF_RESOURCES, ingot_last_error_code());
        EXPECT_TRUE(last_error_has("local memory")) << ingot_last_error_detail();
        EXPECT_EQ(1u, programs.stats().build_failures);
        EXPECT_EQ(1u, programs.stats().programs);
    } else {
        EXPECT_EQ(INGOT_SUCCESS, status) << ingot_last_error_detail();
        EXPECT_EQ(2u, programs.stats().programs);
    }
    EXPECT_EQ(0u, programs.stats().evictions_memory);
}

TEST(OpenclBuild, FailureHasTheDriversCodeBesideTheBuildLog)
{
    const Programs programs;
    EXPECT_EQ(INGOT_BUILD_FAILED, request(describe(programs.context, "__kernel void k(no_such_type x) {}\n")));
    EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, ingot_last_error_code());
    EXPECT_TRUE(last_error_has("no_such_type")) << ingot_last_error_detail();
}

/* Tests which status follows from each error code of a driver, whichever codes this machine's drivers return. */
TEST(OpenclBuild, ConcludesFromTheDriversCodeWhoseFaultItIs)
{
    Table table;
    const auto *state = static_cast<const opencl_state *>(table.state);
    const struct {
        cl_int error;
        ingot_status_t status;
    } answers[] = {{CL_OUT_OF_RESOURCES, INGOT_BUILD_FAILED},
                   {CL_BUILD_PROGRAM_FAILURE, INGOT_BUILD_FAILED},
                   {CL_OUT_OF_HOST_MEMORY, INGOT_OUT_OF_MEMORY},
                   {CL_COMPILER_NOT_AVAILABLE, INGOT_UNIMPLEMENTED},
                   {CL_INVALID_OPERATION, INGOT_BACKEND_ERROR}};
    for (const auto &answer : answers) {
        Sink log;
        EXPECT_EQ(answer.status, opencl_conclude(state, "clBuildProgram", answer.error, nullptr, 0, nullptr, log.get()))
            << answer.error;
        EXPECT_TRUE(last_error_has(opencl_error_name(answer.error)));
        EXPECT_EQ(answer.status == INGOT_BUILD_FAILED, !log.text().empty()) << answer.error;
    }
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc == 3 && std::string(argv[1]) == "--write-binary")
        return write_binary(argv[2]);
    return RUN_ALL_TESTS();
}

/*
 * opencl_backend_test.cpp - what the OpenCL backend adds to the conformance suite: its own header, and its table.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <ingot/opencl.h>

#include <CL/cl_icd.h>

extern "C" {
#include "backends/opencl/backend.h"
#include "backends/opencl/errors.h"
#include "core/base/sink.h"
}
#include "support/child_process.h"
#include "support/failing_allocator.h"
#include "support/opencl_platform.h"

namespace
{

const char kSource[] = "__kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }\n";
const ingot_source_view_t kView = {INGOT_SOURCE_OPENCL_C, sizeof(kSource) - 1, kSource, ""};

OpenclPlatform &platform()
{
    return OpenclPlatform::get();
}
std::vector<cl_device_id> one_device()
{
    return {platform().devices()[0]};
}

ingot_context_t make(const OpenclContext &native, const ingot_context_info_t *info = nullptr)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, info))
        << ingot_last_error_detail();
    return context;
}

ingot_status_t create(const OpenclContext &native, const std::vector<cl_device_id> &devices)
{
    ingot_context_t context = nullptr;
    const ingot_status_t status = ingot_opencl_context_create(
        &context, native.native(), static_cast<uint32_t>(devices.size()), devices.data(), nullptr);
    EXPECT_EQ(status == INGOT_SUCCESS, context != nullptr);
    ingot_context_release(context);
    return status;
}

ingot_program_t build(ingot_context_t context)
{
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = INGOT_SOURCE_OPENCL_C;
    source_info.bytes = kSource;
    source_info.size = sizeof(kSource) - 1;
    ingot_source_t source = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &source_info));
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info)) << ingot_last_error_detail();
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_create(&program, desc)) << ingot_last_error_detail();
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    return program;
}

/* The table itself, over a context that Ingot made: what the core would never ask of it. */
struct Table {
    OpenclContext native{one_device()};
    ingot_context_t context = make(native);
    void *state = ingot_context_get_backend_state(context, &opencl_ops);
    ingot_allocator_t allocator{};
    ingot_build_request_t request{};
    const uint32_t device = 0;

    Table()
    {
        request.struct_size = sizeof(request);
        request.sources = &kView;
        request.source_count = 1;
        request.compile_options = "";
        request.link_options = "";
    }
    ~Table() { ingot_context_release(context); }
};

/* A native program of kSource, with its binary as the driver gives it and as the table does. */
struct Built {
    std::string of_driver;
    std::string of_table;

    Built()
    {
        const OpenclContext native(one_device());
        ingot_context_t context = make(native);
        ingot_program_t program = build(context);
        ingot_allocator_t allocator{};
        ingot_sink_t binary{};
        cl_program of_context = nullptr;
        alloc_init(&allocator, nullptr);
        bytes_writer_init(&binary.writer, &allocator);
        EXPECT_EQ(INGOT_SUCCESS,
                  opencl_ops.get_binary(ingot_context_get_backend_state(context, &opencl_ops),
                                        ingot_program_get_backend_program(program, &opencl_ops), 0, &binary));
        of_table.assign(reinterpret_cast<const char *>(binary.writer.bytes), binary.writer.size);
        EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_program_get_native(program, &of_context));
        of_driver = ask_driver(of_context);
        bytes_writer_fini(&binary.writer);
        ingot_program_release(program);
        ingot_context_release(context);
    }

    static std::string ask_driver(cl_program native)
    {
        size_t size = 0;
        EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
        std::string bytes(size, '\0');
        char *place = &bytes[0];
        EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(native, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr));
        return bytes;
    }
};

/* A part of a test in its own process: builds kSource and writes the driver's binary, intermediate code and all. */
int write_binary(const char *path)
{
    const Built built;
    std::ofstream file(path, std::ios::binary);
    file << built.of_driver;
    file.close();
    return file.good() && !testing::Test::HasFailure() ? 0 : 1;
}

} // namespace

TEST(OpenclContextCreate, TakesAllDevicesOfTheContextWhenNoneIsNamed)
{
    const OpenclContext native(platform().devices());
    ingot_context_t context = make(native);
    EXPECT_EQ(platform().devices().size(), ingot_context_get_device_count(context));
    ingot_context_release(context);
}

TEST(OpenclContextCreate, TakesSomeDevicesInAnyOrder)
{
    const OpenclContext native(platform().devices());
    EXPECT_EQ(INGOT_SUCCESS, create(native, {platform().devices()[1]}));
    EXPECT_EQ(INGOT_SUCCESS, create(native, {platform().devices()[1], platform().devices()[0]}));
}

TEST(OpenclBackendOps, HaveTheStateOfAContext)
{
    const OpenclContext native(one_device());
    ingot_context_t context = make(native);
    const ingot_backend_ops_t *ops = ingot_opencl_get_backend_ops();
    ASSERT_NE(nullptr, ops);
    EXPECT_STREQ("opencl", ops->name);
    void *state = ingot_context_get_backend_state(context, ops);
    ASSERT_NE(nullptr, state);
    EXPECT_NE(0, ops->accepts(state, INGOT_SOURCE_OPENCL_C));
    EXPECT_EQ(0, ops->accepts(state, INGOT_SOURCE_CUDA_CPP));
    ingot_context_release(context);
}

TEST(OpenclContextCreate, RefusesADeviceTwice)
{
    const OpenclContext native(platform().devices());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {platform().devices()[0], platform().devices()[0]}));
}

TEST(OpenclContextCreate, RefusesADeviceOfNoneOrAnotherContext)
{
    const OpenclContext native(one_device());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {platform().devices()[1]}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {nullptr}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(native, {platform().devices()[0], platform().devices()[1]}));
}

TEST(OpenclContextCreate, TakesASubDeviceByName)
{
    const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                       CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_id part = nullptr;
    cl_uint count = 0;
    if (!platform().is_pocl()) {
        ASSERT_NE(CL_SUCCESS, clCreateSubDevices(platform().devices()[0], properties, 1, &part, &count))
            << "the simulated device of one tile has parts: test them";
        return;
    }
    ASSERT_EQ(CL_SUCCESS, clCreateSubDevices(platform().devices()[0], properties, 1, &part, &count));
    {
        const OpenclContext native({part});
        ingot_context_t context = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 1, &part, nullptr))
            << ingot_last_error_detail();
        ingot_program_t program = build(context);
        size_t size = 0;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, nullptr)) << ingot_last_error_detail();
        ingot_kernel_t kernel = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program, 0, "twice"));
        ingot_kernel_release(kernel);
        ingot_program_release(program);
        ingot_context_release(context);
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create(OpenclContext({platform().devices()[1]}), {part}));
    }
    clReleaseDevice(part);
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

/* A table with counting functions in some places, and nothing in those of OpenCL 2.1 and later. */
std::atomic<int> build_count, retain_count, release_count;

const cl_icd_dispatch &counting_functions()
{
    static cl_icd_dispatch table;
    table.clGetPlatformInfo = clGetPlatformInfo;
    table.clGetDeviceInfo = clGetDeviceInfo;
    table.clRetainDevice = clRetainDevice;
    table.clReleaseDevice = clReleaseDevice;
    table.clGetContextInfo = clGetContextInfo;
    table.clCreateProgramWithSource = clCreateProgramWithSource;
    table.clCreateProgramWithBinary = clCreateProgramWithBinary;
    table.clCompileProgram = clCompileProgram;
    table.clLinkProgram = clLinkProgram;
    table.clReleaseProgram = clReleaseProgram;
    table.clGetProgramInfo = clGetProgramInfo;
    table.clGetProgramBuildInfo = clGetProgramBuildInfo;
    table.clCreateKernel = clCreateKernel;
    table.clCreateKernelsInProgram = clCreateKernelsInProgram;
    table.clReleaseKernel = clReleaseKernel;
    table.clGetKernelInfo = clGetKernelInfo;
    table.clGetKernelArgInfo = clGetKernelArgInfo;
    table.clGetKernelWorkGroupInfo = clGetKernelWorkGroupInfo;
    table.clGetExtensionFunctionAddressForPlatform = clGetExtensionFunctionAddressForPlatform;
    table.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                              void(CL_CALLBACK * notify)(cl_program, void *), void *user) {
        ++build_count;
        return clBuildProgram(program, count, devices, options, notify, user);
    };
    table.clRetainContext = [](cl_context retained) {
        ++retain_count;
        return clRetainContext(retained);
    };
    table.clReleaseContext = [](cl_context released) {
        ++release_count;
        return clReleaseContext(released);
    };
    return table;
}

TEST(OpenclContextCreate, CallsTheFunctionsThatItWasGiven)
{
    const OpenclContext native(one_device());
    ingot_context_t context = nullptr;
    const int builds = build_count, retains = retain_count, releases = release_count;
    ASSERT_EQ(INGOT_SUCCESS,
              ingot_opencl_context_create_with(&context, &counting_functions(), native.native(), 0, nullptr, nullptr))
        << ingot_last_error_detail();
    ingot_program_release(build(context));
    ingot_context_release(context);
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
    ingot_context_t context = make(native);
    EXPECT_LT(before, native.reference_count());
    ingot_program_t program = build(context);
    ingot_context_release(context);
    EXPECT_LT(before, native.reference_count());
    ingot_program_release(program);
    EXPECT_EQ(before, native.reference_count());
}

TEST(OpenclContextCreate, FailsCleanlyAtEveryAllocation)
{
    const OpenclContext native(one_device());
    const cl_uint before = native.reference_count();
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n);
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator.table();
        ingot_context_t context = nullptr;
        const ingot_status_t status = ingot_opencl_context_create(&context, native.native(), 0, nullptr, &info);
        ingot_context_release(context);
        ASSERT_EQ(0u, allocator.live_count());
        ASSERT_EQ(before, native.reference_count());
        if (!allocator.failed())
            return;
        ASSERT_EQ(INGOT_OUT_OF_MEMORY, status) << n;
    }
}

TEST(OpenclDeviceInfo, SaysThatPoclGeneratesCodeAtLaunch)
{
    const OpenclContext native(one_device());
    ingot_context_t context = make(native);
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_get_device_info(context, 0, &info));
    EXPECT_EQ(platform().is_pocl(), info.generates_code_at_launch != 0);
    ingot_context_release(context);
}

TEST(OpenclNative, GivesProgramAndKernelBack)
{
    const OpenclContext native(one_device());
    ingot_context_t context = make(native);
    ingot_program_t program = build(context);
    ingot_kernel_t kernel = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program, 0, "twice"));
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
    ingot_kernel_release(kernel);
    ingot_program_release(program);
    ingot_context_release(context);
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
    ingot_sink_t log{};
    alloc_init(&table.allocator, nullptr);
    bytes_writer_init(&log.writer, &table.allocator);
    for (const char *options : {"-I", "-DA -I", "-I ", "-D", "-w\t-D \t"}) {
        void *program = nullptr;
        table.request.compile_options = options; /* PoCL 3.1 would end the process */
        EXPECT_EQ(INGOT_BUILD_FAILED, opencl_ops.build(table.state, &table.request, 1, &table.device, &log, &program))
            << options;
        EXPECT_NE(nullptr, std::strstr(ingot_last_error_detail(), "has no value")) << options;
    }
    EXPECT_NE(0u, log.writer.size);
    bytes_writer_fini(&log.writer);
}

namespace
{

/* One kernel with this much local memory. */
std::string with_local_memory(size_t bytes)
{
    const std::string count = std::to_string(bytes / sizeof(cl_int));
    return "__kernel void big(__global int *x) { __local int a[" + count +
           "]; size_t i = get_local_id(0);\n"
           "a[i * 7] = x[i]; barrier(CLK_LOCAL_MEM_FENCE); x[i] = a[i * 11]; }\n";
}

struct Programs {
    OpenclContext native;
    ingot_context_t context = make(native);
    explicit Programs(const std::vector<cl_device_id> &devices = one_device()) : native(devices) {}
    ~Programs() { ingot_context_release(context); }

    ingot_status_t create(const std::string &text, ingot_program_t *program) const
    {
        ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
        source_info.kind = INGOT_SOURCE_OPENCL_C;
        source_info.bytes = text.data();
        source_info.size = text.size();
        ingot_source_t source = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &source_info));
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = &source;
        info.source_count = 1;
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info)) << ingot_last_error_detail();
        const ingot_status_t status = ingot_program_create(program, desc);
        ingot_program_desc_release(desc);
        ingot_source_release(source);
        return status;
    }
    ingot_cache_stats_t stats() const
    {
        ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context, &stats));
        return stats;
    }
};

} // namespace

/* Intel's compiler answers CL_OUT_OF_RESOURCES; PoCL compiles it and refuses the launch. */
TEST(OpenclBuild, ProgramWithTooMuchLocalMemoryIsRefusedWithItsLogAndEmptiesNothing)
{
    const Programs programs;
    ingot_program_t kept = build(programs.context);
    ingot_program_t program = nullptr;
    cl_ulong local_size = 0;
    EXPECT_EQ(CL_SUCCESS, clGetDeviceInfo(platform().devices()[0], CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local_size),
                                          &local_size, nullptr));
    const ingot_status_t status = programs.create(with_local_memory(local_size * 4), &program);
    if (platform().is_intel()) {
        EXPECT_EQ(INGOT_BUILD_FAILED, status);
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "CL_OUT_OF_RESOURCES (-5)")) << ingot_last_error_detail();
        EXPECT_EQ(CL_OUT_OF_RESOURCES, ingot_last_error_code());
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "local memory")) << ingot_last_error_detail();
        EXPECT_EQ(1u, programs.stats().build_failures);
        EXPECT_EQ(1u, programs.stats().programs);
    } else {
        EXPECT_EQ(INGOT_SUCCESS, status) << ingot_last_error_detail();
        EXPECT_EQ(2u, programs.stats().programs);
    }
    EXPECT_EQ(0u, programs.stats().evictions_memory);
    ingot_program_release(program);
    ingot_program_release(kept);
}

namespace
{

/* Kernels of several kinds, small and large: arithmetic without end, barriers, many in one program. */
std::vector<std::string> various_programs()
{
    std::vector<std::string> texts{kSource};
    for (const char *name : {"two_kernels.cl", "many_kernels.cl"}) {
        std::ifstream file(std::string(INGOT_SOURCE_DIR "/tests/support/kernels/") + name);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::string barriers;
    for (const char *name : {"a", "b", "c"})
        barriers += std::string("__kernel void ") + name +
                    "(__global float *x, __local float *l) { size_t i = get_local_id(0); float s = 0; l[i] = x[i];\n"
                    "barrier(CLK_LOCAL_MEM_FENCE); for (int j = 0; j < 64; ++j) s += l[(i + j) % 64]; x[i] = s; }\n";
    texts.push_back(barriers);
    for (const int lines : {20, 100}) {
        std::string text = "__kernel void k(__global float *x) { size_t i = get_global_id(0); float a = x[i], b = a;\n";
        for (int line = 0; line < lines; ++line) {
            const std::string number = std::to_string(line);
            text += "    a = a * " + number + ".5f + b; b = b > a ? sqrt(a) : b - a * x[i + " + number + "];\n";
        }
        texts.push_back(text + "    x[i] = a + b; }\n");
    }
    return texts;
}

std::vector<uint8_t> blob_of(ingot_program_t program)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, nullptr)) << ingot_last_error_detail();
    std::vector<uint8_t> blob(size);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, blob.data()));
    return blob;
}

} // namespace

/* What the cache counts for a program after its build, and what it counts once the blob's size is known. */
TEST(OpenclCache, CountsTheBytesOfBuiltPrograms)
{
    size_t total = 0;
    const std::vector<std::string> texts = various_programs();
    for (const std::string &text : texts) {
        const Programs programs;
        ingot_program_t program = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, programs.create(text, &program)) << ingot_last_error_detail();
        const auto counted = static_cast<double>(programs.stats().bytes);
        EXPECT_EQ(0u, programs.stats().blobs_taken);
        const std::vector<uint8_t> blob = blob_of(program);
        const auto real = static_cast<double>(programs.stats().bytes);
        EXPECT_GE(real, static_cast<double>(blob.size()) * 0.9) << "of which names and log are a few bytes";
        EXPECT_LE(real, static_cast<double>(blob.size()) + 8192) << "what the host has of it included";
        EXPECT_NEAR(real, counted, real / 4) << text.substr(0, 200);
        if (platform().is_intel()) {
            EXPECT_EQ(real, counted);
        }
        total += programs.stats().bytes;
        ingot_program_release(program);
    }
    EXPECT_LT(texts.size() * 3000, total);
}

/* The driver has code for each device, even if two are equal and share one section of the blob. */
TEST(OpenclCache, CountsTheBytesForEachDevice)
{
    const std::vector<cl_device_id> &all = platform().devices();
    ASSERT_LE(2u, all.size());
    const auto bytes_for = [](const std::vector<cl_device_id> &devices) {
        const Programs programs(devices);
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, programs.create(various_programs()[1], &program)) << ingot_last_error_detail();
        const auto counted = static_cast<double>(programs.stats().bytes);
        blob_of(program);
        const auto real = static_cast<double>(programs.stats().bytes);
        EXPECT_NEAR(real, counted, real / 4) << devices.size() << " devices";
        ingot_program_release(program);
        return real;
    };
    const double one = bytes_for({all[0]});
    EXPECT_NEAR(2 * one, bytes_for({all[0], all[1]}), one / 4);
    if (all.size() > 2) { /* PoCL's third one differs */
        EXPECT_NEAR(2 * one, bytes_for({all[0], all[2]}), one / 4);
    }
}

TEST(OpenclCache, KeepsItsLimitOfBytes)
{
    const Programs programs;
    std::vector<ingot_program_t> built;
    ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
    for (int i = 0; i < 4; ++i) {
        ingot_program_t program = nullptr;
        const std::string name = "k" + std::to_string(i);
        const std::string text = "__kernel void " + name + "(__global int *x) { x[get_global_id(0)] = 1; }";
        ASSERT_EQ(INGOT_SUCCESS, programs.create(text, &program));
        built.push_back(program);
        if (i == 0)
            capacity.max_bytes = programs.stats().bytes * 5 / 2; /* two fit, three do not */
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_set_cache_capacity(programs.context, &capacity));
    }
    EXPECT_EQ(2u, programs.stats().programs);
    EXPECT_EQ(2u, programs.stats().evictions_bytes);
    for (ingot_program_t program : built)
        ingot_program_release(program);
}

TEST(OpenclBuild, FailureHasTheDriversCodeBesideTheBuildLog)
{
    const Programs programs;
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, programs.create("__kernel void k(no_such_type x) {}\n", &program));
    EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, ingot_last_error_code());
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "no_such_type")) << ingot_last_error_detail();
}

/* Every backend's way from a driver's answer to a status, whatever this machine's drivers answer. */
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
    alloc_init(&table.allocator, nullptr);
    for (const auto &answer : answers) {
        ingot_sink_t log{};
        bytes_writer_init(&log.writer, &table.allocator);
        EXPECT_EQ(answer.status, opencl_conclude(state, "clBuildProgram", answer.error, nullptr, 0, nullptr, &log))
            << answer.error;
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), opencl_error_name(answer.error)));
        EXPECT_EQ(answer.status == INGOT_BUILD_FAILED, log.writer.size != 0) << answer.error;
        bytes_writer_fini(&log.writer);
    }
}

TEST(OpenclGetBinary, LeavesIntelsIntermediateCodeOut)
{
    const std::string spirv = {0x03, 0x02, 0x23, 0x07};
    const Built built;
    if (platform().is_intel()) {
        EXPECT_NE(std::string::npos, built.of_driver.find(spirv));
        EXPECT_EQ(std::string::npos, built.of_table.find(spirv));
        EXPECT_LT(built.of_table.size(), built.of_driver.size());
    } else {
        EXPECT_EQ(built.of_driver, built.of_table);
    }
}

/* A driver that answers as NVIDIA's: PTX is each program's binary, and PTX and machine code make the same program. */
struct Nvidia {
    static constexpr char kPtx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry twice(.param .u64 x)\n{\nret;\n}\n";
    static inline std::string binary; /* the real driver's */
    static inline bool takes_machine_code;
    static inline std::vector<size_t> loaded; /* sizes */

    static const cl_icd_dispatch &functions()
    {
        static cl_icd_dispatch table = counting_functions();
        table.clGetPlatformInfo = [](cl_platform_id id, cl_platform_info what, size_t capacity, void *value,
                                     size_t *size) {
            const char version[] = "OpenCL 3.0 CUDA 13.0.98";
            if (what == CL_PLATFORM_VERSION && value != nullptr && capacity >= sizeof(version))
                return std::memcpy(value, version, sizeof(version)), CL_SUCCESS;
            return clGetPlatformInfo(id, what, capacity, value, size);
        };
        table.clGetDeviceInfo = [](cl_device_id id, cl_device_info what, size_t capacity, void *value, size_t *size) {
            if (what != 0x4000 && what != 0x4001)
                return clGetDeviceInfo(id, what, capacity, value, size);
            *static_cast<cl_uint *>(value) = what == 0x4000 ? 9 : 0; /* the compute capability */
            return CL_SUCCESS;
        };
        table.clGetProgramInfo = [](cl_program program, cl_program_info what, size_t capacity, void *value,
                                    size_t *size) {
            const size_t ptx_size = sizeof(kPtx);
            if (what == CL_PROGRAM_BINARY_SIZES && value != nullptr)
                return std::memcpy(value, &ptx_size, sizeof(ptx_size)), CL_SUCCESS;
            if (what == CL_PROGRAM_BINARIES && value != nullptr)
                return std::memcpy(*static_cast<void **>(value), kPtx, sizeof(kPtx)), CL_SUCCESS;
            return clGetProgramInfo(program, what, capacity, value, size);
        };
        table.clCreateProgramWithBinary = [](cl_context context, cl_uint count, const cl_device_id *devices,
                                             const size_t *sizes, const unsigned char **, cl_int *statuses,
                                             cl_int *error) -> cl_program {
            const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
            const size_t size = binary.size();
            loaded.push_back(sizes[0]);
            if (sizes[0] == sizeof(kPtx) || takes_machine_code)
                return clCreateProgramWithBinary(context, count, devices, &size, &bytes, statuses, error);
            *error = CL_INVALID_BINARY;
            return nullptr;
        };
        return table;
    }

    /* Returns the binary that is stored. */
    static std::string binary_of_program()
    {
        const OpenclContext native(one_device());
        ingot_context_t context = nullptr;
        ingot_allocator_t allocator{};
        ingot_sink_t sink{};
        EXPECT_EQ(INGOT_SUCCESS,
                  ingot_opencl_context_create_with(&context, &functions(), native.native(), 0, nullptr, nullptr));
        ingot_program_t program = build(context);
        alloc_init(&allocator, nullptr);
        bytes_writer_init(&sink.writer, &allocator);
        EXPECT_EQ(INGOT_SUCCESS,
                  opencl_ops.get_binary(ingot_context_get_backend_state(context, &opencl_ops),
                                        ingot_program_get_backend_program(program, &opencl_ops), 0, &sink));
        const std::string bytes(reinterpret_cast<const char *>(sink.writer.bytes), sink.writer.size);
        bytes_writer_fini(&sink.writer);
        ingot_program_release(program);
        ingot_context_release(context);
        return bytes;
    }
};

TEST(OpenclGetBinary, IsMachineCodeInPlaceOfPtxIfTheDriverMakesTheSameProgramOfIt)
{
    if (!HAS_LINKER)
        GTEST_SKIP() << "no libnvJitLink, so every program keeps its PTX";
    const std::string ptx(Nvidia::kPtx, sizeof(Nvidia::kPtx));
    Nvidia::binary = Built().of_driver;
    Nvidia::takes_machine_code = true;
    Nvidia::loaded.clear();
    const std::string native = Nvidia::binary_of_program();
    EXPECT_EQ("\x7f"
              "ELF",
              native.substr(0, 4));
    EXPECT_EQ((std::vector<size_t>{ptx.size(), native.size()}), Nvidia::loaded) << "compared";
    Nvidia::takes_machine_code = false;
    EXPECT_EQ(ptx, Nvidia::binary_of_program());
    Nvidia::binary = "no driver takes this";
    EXPECT_EQ(ptx, Nvidia::binary_of_program());
}

/* NVIDIA's driver lists the kernels of a program only if all devices of the context have it. */
TEST(OpenclKernelNames, AreReadFromAProgramForAllDevicesIfTheDriverListsNoneForOne)
{
    const std::vector<cl_device_id> both(platform().devices().begin(), platform().devices().begin() + 2);
    const OpenclContext native(both);
    cl_icd_dispatch table = counting_functions();
    static cl_program for_both; /* the driver's program that was made last for two devices */
    for_both = nullptr;
    table.clCreateProgramWithBinary = [](cl_context of, cl_uint count, const cl_device_id *devices, const size_t *sizes,
                                         const unsigned char **bytes, cl_int *statuses, cl_int *error) {
        cl_program made = clCreateProgramWithBinary(of, count, devices, sizes, bytes, statuses, error);
        for_both = count == 2 ? made : nullptr;
        return made;
    };
    table.clGetProgramInfo = [](cl_program program, cl_program_info what, size_t capacity, void *value, size_t *size) {
        if (what == CL_PROGRAM_KERNEL_NAMES && program != for_both)
            return CL_INVALID_PROGRAM_EXECUTABLE;
        return clGetProgramInfo(program, what, capacity, value, size);
    };
    table.clGetPlatformInfo = [](cl_platform_id id, cl_platform_info what, size_t capacity, void *value, size_t *size) {
        const char name[] = "NVIDIA CUDA"; /* of PoCL, names would be requested before a binary */
        if (what != CL_PLATFORM_NAME)
            return clGetPlatformInfo(id, what, capacity, value, size);
        if (value != nullptr && capacity >= sizeof(name))
            std::memcpy(value, name, sizeof(name));
        if (size != nullptr)
            *size = sizeof(name);
        return CL_SUCCESS;
    };
    ingot_context_t context = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_opencl_context_create_with(&context, &table, native.native(), 0, nullptr, nullptr));
    void *state = ingot_context_get_backend_state(context, &opencl_ops);
    Table request;
    ingot_sink_t log{}, names{};
    void *program = nullptr;
    const uint32_t device = 1;
    alloc_init(&request.allocator, nullptr);
    bytes_writer_init(&log.writer, &request.allocator);
    bytes_writer_init(&names.writer, &request.allocator);
    ASSERT_EQ(INGOT_SUCCESS, opencl_ops.build(state, &request.request, 1, &device, &log, &program));
    EXPECT_EQ(INGOT_SUCCESS, opencl_ops.get_kernel_names(state, program, &names)) << ingot_last_error_detail();
    EXPECT_EQ(std::string("twice", 6),
              std::string(reinterpret_cast<const char *>(names.writer.bytes), names.writer.size));
    opencl_ops.destroy_program(state, program);
    bytes_writer_fini(&names.writer);
    bytes_writer_fini(&log.writer);
    ingot_context_release(context);
}

/* PoCL aborts. */
TEST(OpenclGetBinary, IsNotRequestedOfPoclIfAKernelsNameCannotBeAFiles)
{
    for (const size_t length : {size_t{252}, size_t{253}}) {
        const std::string text = "kernel void " + std::string(length, 'k') + "(global int *x) { *x = 1; }\n";
        const ingot_source_view_t view = {INGOT_SOURCE_OPENCL_C, text.size(), text.data(), nullptr};
        Table table;
        table.request.sources = &view;
        ingot_sink_t log{}, binary{};
        void *program = nullptr;
        alloc_init(&table.allocator, nullptr);
        bytes_writer_init(&log.writer, &table.allocator);
        bytes_writer_init(&binary.writer, &table.allocator);
        ASSERT_EQ(INGOT_SUCCESS, opencl_ops.build(table.state, &table.request, 1, &table.device, &log, &program));
        EXPECT_EQ(platform().is_pocl() && length == 253 ? INGOT_UNIMPLEMENTED : INGOT_SUCCESS,
                  opencl_ops.get_binary(table.state, program, 0, &binary));
        opencl_ops.destroy_program(table.state, program);
        bytes_writer_fini(&binary.writer);
        bytes_writer_fini(&log.writer);
    }
}

TEST(OpenclLoad, RefusesABinaryThatTheDriverDoesNotKnow)
{
    Table table;
    const uint8_t garbage[] = "garbage";
    const ingot_binary_t binary = {sizeof(garbage), garbage};
    void *program = nullptr;
    EXPECT_EQ(INGOT_BLOB_REJECTED, opencl_ops.load(table.state, &table.request, 1, &table.device, &binary, &program));
    EXPECT_EQ(nullptr, program);
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "CL_INVALID_BINARY")) << ingot_last_error_detail();
}

TEST(OpenclLoad, RefusesABinaryOfAnotherDeviceThoughTheDriverWouldCompileItAgain)
{
    child_process::Child::Environment other;
    if (platform().is_intel())
        other = {{"ProductFamilyOverride", "skl"}};
    child_process::Child child({"/proc/self/exe", "--write-binary", "other.bin"}, "other.out", other);
    ASSERT_EQ(0, child.wait()) << child.output();
    std::ifstream file("other.bin", std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ASSERT_LT(16u, bytes.size());
    /* CPU devices of newer versions share binaries; the device's number follows the magic */
    if (platform().is_pocl()) {
        ASSERT_EQ("poclbin", std::string(bytes.begin(), bytes.begin() + 7));
        bytes[8] = static_cast<char>(bytes[8] ^ 1);
    }
    const ingot_binary_t binary = {bytes.size(), reinterpret_cast<const uint8_t *>(bytes.data())};
    Table table;
    void *program = nullptr;
    EXPECT_EQ(INGOT_BLOB_REJECTED, opencl_ops.load(table.state, &table.request, 1, &table.device, &binary, &program))
        << ingot_last_error_detail();
    EXPECT_EQ(nullptr, program);
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc == 3 && std::string(argv[1]) == "--write-binary")
        return write_binary(argv[2]);
    return RUN_ALL_TESTS();
}

/*
 * cuda_backend_test.cpp - tests the CUDA backend with a driver: contexts, failures of every call to the driver, and
 * requests that must not be compiled.
 *
 * The driver is cuda_stand_in.c, because real drivers do not fail on demand. The compilers are the real ones.
 */
#include <ingot/private/program.h>

#include "conformance/objects.h"
#include "support/cuda_driver.h"
#include "support/failing_allocator.h"

using namespace conformance;

const char kTwice[] = "extern \"C\" __global__ void twice(int *x) { x[0] += x[0]; }\n";

static CudaDriver &driver()
{
    return CudaDriver::get();
}

static void fail(const char *call, CUresult result, int times = 1)
{
    driver().function<decltype(&stand_in_fail)>("stand_in_fail")(call, result, times);
}

static int live_modules()
{
    return driver().live_modules();
}
static int stack_depth()
{
    return driver().function<int (*)()>("cuda_stand_in_stack_depth")();
}

static ingot_status_t try_make(ingot_context_t *context, std::vector<CUcontext> natives,
                               const ingot_context_info_t *info = nullptr)
{
    return ingot_cuda_context_create(context, static_cast<uint32_t>(natives.size()), natives.data(), info);
}

static Context make(std::vector<CUcontext> natives)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, try_make(&context, natives)) << ingot_last_error_detail();
    return Context(context);
}

static Context make()
{
    return make({driver().contexts()[0]});
}

static ProgramText twice()
{
    return {{{INGOT_SOURCE_CUDA_CPP, kTwice}}};
}

/* objects.h refers to this function, but this test calls nothing that needs it. */
conformance::DeviceUnderTest &conformance::device_under_test()
{
    throw std::logic_error("no device");
}

TEST(CudaContext, RefusesWhatIsNoContext)
{
    ingot_context_t context = nullptr;
    CUcontext native = driver().contexts()[0];
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_context_create(nullptr, 1, &native, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_context_create(&context, 1, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_context_create(&context, 0, &native, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_make(&context, {native, nullptr}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_make(&context, {native, native}));
    EXPECT_EQ(nullptr, context);
}

TEST(CudaContext, LeavesTheThreadsContextsAsTheyWere)
{
    const Context context = make();
    CUcontext current = nullptr;
    driver().call("cuCtxPushCurrent_v2", driver().contexts()[2]);
    {
        const Program program = create_program(describe(context, twice()));
        const Kernel kernel = create_kernel(program, "twice");
        EXPECT_EQ(1, stack_depth());
        (void)blob_of(program);
    }
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    EXPECT_EQ(1, stack_depth());
    driver().call("cuCtxPopCurrent_v2", &current);
    EXPECT_EQ(driver().contexts()[2], current);
    EXPECT_EQ(0, live_modules());
}

TEST(CudaContext, SaysWhichCallFailed)
{
    for (const char *call :
         {"cuDriverGetVersion", "cuCtxPushCurrent", "cuCtxGetDevice", "cuDeviceGetName", "cuDeviceGetAttribute"}) {
        ingot_context_t context = nullptr;
        fail(call, CUDA_ERROR_DEINITIALIZED);
        EXPECT_EQ(INGOT_BACKEND_ERROR, try_make(&context, {driver().contexts()[0]})) << call;
        EXPECT_TRUE(last_error_has(call)) << ingot_last_error_detail();
        EXPECT_EQ(nullptr, context);
        EXPECT_EQ(0, stack_depth());
    }
}

TEST(CudaContext, FailsCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator;
        ingot_context_t context = nullptr;
        const ingot_status_t status = try_make(&context, {driver().contexts()[0]}, &info);
        ingot_context_release(context);
        return status;
    });
}

/* NVRTC puts the name of a source into internal symbols. */
TEST(CudaProgram, HasTheNameOfItsSourceOnlyIfItsIdHasIt)
{
    const Context context = make();
    const std::string text = "static __device__ __noinline__ int square(int x) { return x * x; }\n"
                             "extern \"C\" __global__ void twice(int *x) { x[0] = square(x[0]); }\n";
    const auto describe_named = [&](const std::string &source, const char *name) {
        return describe_source(context.get(), make_source(source, name, INGOT_SOURCE_CUDA_CPP).get());
    };
    const auto has_name = [](const Desc &desc) {
        const Bytes blob = blob_of(create_program(desc));
        return std::string(blob.begin(), blob.end()).find("named_source_cu") != std::string::npos;
    };
    const std::string include = "#if 0\n#include \"none.h\"\n#endif\n";
    for (const std::string &source : {text, include + text}) {
        const Desc desc = describe_named(source, "dir/named_source.cu");
        EXPECT_EQ(id_of(describe_named(source, "other.cu")), id_of(desc));
        EXPECT_FALSE(has_name(desc));
    }
    const std::string asking = "__device__ const char *file() { return __FILE__; }\n" + text;
    EXPECT_TRUE(has_name(describe_named(asking, "named_source.cu"))) << "the symbols of this NVRTC have no name";
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED,
              ingot_program_get(&program, describe_named("no_such_type x;\n", "named_source.cu").get(), 0));
    EXPECT_TRUE(last_error_has("named_source.cu(1)")) << ingot_last_error_detail();
}

TEST(CudaProgram, IsBuiltAndLoadedOrFailsCleanlyAtEveryAllocation)
{
    const Bytes blob = blob_of(create_program(describe(make(), twice())));
    for (const bool loads : {false, true}) {
        size_t failures = 0;
        for (size_t n = 0;; ++n) {
            /* All later requests fail, too: after a single failure, Ingot would succeed at the second try. */
            FailingAllocator failing(FailingAllocator::kNever, true);
            ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
            info.allocator = failing.table();
            ingot_context_t context = nullptr;
            ASSERT_EQ(INGOT_SUCCESS, try_make(&context, {driver().contexts()[0], driver().contexts()[1]}, &info));
            const Context owned(context);
            const Desc desc = describe(owned, twice());
            failing.fail_from_now(n);
            ingot_program_t program = nullptr;
            const ingot_status_t status =
                loads ? ingot_program_create_from_cache_blob(&program, desc.get(), blob.size(), blob.data())
                      : ingot_program_get(&program, desc.get(), 0);
            ingot_program_release(program);
            ASSERT_EQ(status == INGOT_SUCCESS, program != nullptr);
            if (!failing.failed())
                break;
            ASSERT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY) << n << ingot_last_error_detail();
            failures += status == INGOT_OUT_OF_MEMORY;
        }
        EXPECT_LT(3u, failures);
        EXPECT_EQ(0, live_modules());
    }
}

TEST(CudaProgram, IsTriedOnceMoreWhenTheDeviceHasNoMemory)
{
    const Context context = make();
    const Program other =
        create_program(describe(context, {{{INGOT_SOURCE_CUDA_CPP, "extern \"C\" __global__ void f() {}\n"}}}));
    const Bytes blob = blob_of(create_program(describe(context, twice())));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    for (const bool loads : {false, true}) {
        const auto make_twice = [&](ingot_program_t *program) {
            const Desc desc = describe(context, twice());
            return loads ? ingot_program_create_from_cache_blob(program, desc.get(), blob.size(), blob.data())
                         : ingot_program_get(program, desc.get(), 0);
        };
        ingot_program_t program = nullptr;
        fail("cuModuleLoadData", CUDA_ERROR_OUT_OF_MEMORY, 1);
        EXPECT_EQ(INGOT_SUCCESS, make_twice(&program)) << ingot_last_error_detail();
        ingot_program_release(program);
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
        program = nullptr;
        fail("cuModuleLoadData", CUDA_ERROR_OUT_OF_MEMORY, 1000);
        EXPECT_EQ(INGOT_OUT_OF_MEMORY, make_twice(&program));
        EXPECT_TRUE(last_error_has("CUDA_ERROR_OUT_OF_MEMORY")) << ingot_last_error_detail();
        EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, ingot_last_error_code());
        EXPECT_EQ(nullptr, program);
        fail("", CUDA_SUCCESS, 0);
    }
    EXPECT_EQ(1, live_modules()); /* the module of `other` */
}

TEST(CudaProgram, TellsARefusalFromABrokenDriver)
{
    const Context context = make();
    const Desc desc = describe(context, twice());
    const Bytes blob = blob_of(create_program(desc));
    const struct {
        const char *call;
        CUresult result;
        ingot_status_t built;
        ingot_status_t loaded;
    } cases[] = {
        {"cuModuleLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU, INGOT_BUILD_FAILED, INGOT_BLOB_REJECTED},
        {"cuModuleLoadData", CUDA_ERROR_INVALID_IMAGE, INGOT_BUILD_FAILED, INGOT_BLOB_REJECTED},
        {"cuModuleLoadData", CUDA_ERROR_ILLEGAL_ADDRESS, INGOT_BACKEND_ERROR, INGOT_BACKEND_ERROR},
        {"cuCtxPushCurrent", CUDA_ERROR_CONTEXT_IS_DESTROYED, INGOT_BACKEND_ERROR, INGOT_BACKEND_ERROR},
    };
    for (const auto &one : cases) {
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
        ingot_program_t program = nullptr;
        fail(one.call, one.result);
        EXPECT_EQ(one.built, ingot_program_get(&program, desc.get(), 0)) << one.call << " " << one.result;
        fail(one.call, one.result);
        EXPECT_EQ(one.loaded, load_program(desc, blob)) << one.call << " " << one.result;
        EXPECT_TRUE(last_error_has(one.call)) << ingot_last_error_detail();
        EXPECT_EQ(0, stack_depth());
        EXPECT_EQ(0, live_modules());
    }
}

TEST(CudaProgram, OfAnArchitectureThatTheDeviceHasNotIsRefused)
{
    ProgramText text = twice();
    text.compile_options = "-arch=sm_80";
    const Desc desc = describe(make(), text);
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
    EXPECT_TRUE(last_error_has("cuModuleLoadData")) << ingot_last_error_detail();
}

TEST(CudaProgram, IsGivenBackAsNativeObjects)
{
    const Context context = make();
    const Program program = create_program(describe(context, twice()));
    const Kernel kernel = create_kernel(program, "twice");
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    const char *name = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cuda_program_get_native(program.get(), 0, &module));
    EXPECT_NE(nullptr, module);
    EXPECT_EQ(INGOT_SUCCESS, ingot_cuda_kernel_get_native(kernel.get(), &function));
    EXPECT_NE(nullptr, function);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_program_get_native(program.get(), 1, &module));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_program_get_native(nullptr, 0, &module));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_program_get_native(program.get(), 0, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_kernel_get_native(nullptr, &function));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_kernel_get_native(kernel.get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_program_get_lowered_name(nullptr, "f", &name));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_program_get_lowered_name(program.get(), nullptr, &name));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cuda_program_get_lowered_name(program.get(), "f", nullptr));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_cuda_program_get_lowered_name(program.get(), "twice", &name));
}

TEST(CudaProgram, OfPtxIsLoadedWithoutPtx)
{
    const Context context = make();
    const Desc desc = describe(context, {{{INGOT_SOURCE_PTX, ".version 8.0\n.target sm_80\n.address_size 64\n"
                                                             ".visible .entry empty() { ret; }\n"}}});
    const Bytes blob = blob_of(create_program(desc));
    const std::string text(blob.begin(), blob.end());
    EXPECT_EQ(std::string::npos, text.find(".version 8.0"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    EXPECT_EQ((std::vector<std::string>{"empty"}), kernel_names_of(load(desc, blob)));
}

TEST(CudaProgram, IsCacheableWithTheToolkitsHeaders)
{
    for (const char *header :
         {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h", "math_constants.h", "vector_types.h"}) {
        ProgramText text{{{INGOT_SOURCE_CUDA_CPP, std::string("#include <") + header + ">\n" + kTwice}}};
        text.compile_options = "-I " CUDA_INCLUDE_DIRECTORY;
        const Desc desc = describe(make(), text);
        const char *reason = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_is_cacheable(desc.get(), &reason)) << header << ": " << reason;
        EXPECT_NE(nullptr, create_program(desc)) << header;
    }
}

TEST(CudaKernel, IsMadeOnceMemoryIsThere)
{
    const Context context = make();
    const Program program = create_program(describe(context, twice()));
    ingot_kernel_t kernel = nullptr;
    fail("cuModuleGetFunction", CUDA_ERROR_OUT_OF_MEMORY, 1);
    EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program.get(), 0, "twice")) << ingot_last_error_detail();
    ingot_kernel_release(kernel);
}

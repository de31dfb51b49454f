/*
 * cuda_device.cpp - implements DeviceUnderTest for the CUDA driver of the test.
 *
 * If there is a GPU, kernels compute results. Without one, the driver is cuda_stand_in.c: it loads what the real
 * compilers made, but kernels compute nothing.
 */
#include "conformance/device_under_test.h"

#include <map>

#include "conformance/objects.h"
#include "support/cuda_driver.h"
#include "support/elf_build_id.h"

namespace conformance
{

namespace
{

const char kTwoKernels[] =
    "#warning careful\n"
    "extern \"C\" __global__ void twice(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += x[i]; }\n"
    "extern \"C\" __global__ void square(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] *= x[i]; }\n";
const char kAdd[] =
    "extern \"C\" __global__ void add(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += AMOUNT; }\n";
const char kFailing[] = "extern \"C\" __global__ void add(int *x) { x[0] = no_such_name; }\n";
const char kCalling[] = "__device__ int helper(int x);\n"
                        "extern \"C\" __global__ void call(int *x)\n"
                        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = helper(x[i]); }\n";

ProgramText cuda_cpp(const std::string &text)
{
    return {{{INGOT_SOURCE_CUDA_CPP, text}}};
}

class CudaDevice : public DeviceUnderTest
{
public:
    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        std::vector<CUcontext> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(driver_.contexts().at(device));
        ingot_context_t context = nullptr;
        if (ingot_cuda_context_create(&context, static_cast<uint32_t>(chosen.size()), chosen.data(), &info) !=
            INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_cuda_context_create: ") + ingot_last_error_detail());
        first_[context] = chosen.front();
        return context;
    }

    uint32_t equal_device() const override { return 1; } /* another GPU, or another context of the first one */
    std::optional<uint32_t> different_device() const override { return driver_.different_device(); }

    /* No environment variable turns a real GPU into another one, so this sets a variable that changes what the compiler
     * generates. */
    Environment environment_of_incompatible_device() const override
    {
        return executes() ? Environment{} : environment_of_another_device();
    }
    Environment environment_of_another_device() const override
    {
        return executes() ? Environment{{"NVRTC_APPEND_FLAGS", "-maxrregcount=128"}}
                          : Environment{{"CUDA_STAND_IN_CAPABILITY", "89"}, {"CUDA_STAND_IN_NAME", "Its successor"}};
    }

    /* Puts a copy of NVRTC with another build-id first in the library path. */
    Environment environment_of_another_driver() const override
    {
        static const std::string path = path_with_another_build("libnvrtc.so.13", "compiler");
        return {{"LD_LIBRARY_PATH", path}};
    }

    ProgramText two_kernels() const override { return cuda_cpp(kTwoKernels); }
    ProgramText with_option(int amount) const override
    {
        ProgramText text = cuda_cpp(kAdd);
        text.compile_options = "-DAMOUNT=" + std::to_string(amount);
        return text;
    }
    ProgramText failing() const override { return cuda_cpp(kFailing); }
    ProgramText not_linking() const override
    {
        return {{{INGOT_SOURCE_CUDA_CPP, kCalling},
                 {INGOT_SOURCE_CUDA_CPP, "__device__ int other(int x) { return x; }\n"}}};
    }
    ProgramText several_sources() const override
    {
        return {{{INGOT_SOURCE_CUDA_CPP, kCalling},
                 {INGOT_SOURCE_CUDA_CPP, "__device__ int helper(int x) { return x + 5; }\n"}}};
    }
    ProgramText with_header(int amount) const override
    {
        ProgramText text = cuda_cpp(std::string("#include \"amount.h\"\n") + kAdd);
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }
    ProgramText with_include(const std::string &directory) const override
    {
        ProgramText text = cuda_cpp(std::string("#include <amount.h>\n") + kAdd);
        text.compile_options = "-I " + directory;
        return text;
    }
    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }
    ProgramText not_cacheable() const override
    {
        return cuda_cpp(std::string("__constant__ char built[] = __DATE__;\n") + kTwoKernels);
    }

    std::string harmless_option() const override { return "-maxrregcount=64"; }
    bool takes_link_options() const override { return true; }
    bool takes_spec_constants() const override { return false; }
    ProgramText specialized() const override { throw std::logic_error("CUDA has no specialization constants"); }

    bool executes() const override { return !driver_.is_stand_in(); }

    int run(ingot_context_t context, ingot_kernel_t kernel, int x, size_t local_size) override
    {
        CUfunction native = nullptr;
        CUcontext current = nullptr;
        CUdeviceptr buffer = 0;
        std::vector<int> values(8, x);
        const size_t size = values.size() * sizeof(int);
        void *arguments[] = {&buffer};
        if (ingot_cuda_kernel_get_native(kernel, &native) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        const unsigned threads = static_cast<unsigned>(local_size);
        const unsigned blocks = static_cast<unsigned>(values.size()) / threads;
        driver_.call("cuCtxPushCurrent_v2", first_.at(context));
        driver_.call("cuMemAlloc_v2", &buffer, size);
        driver_.call("cuMemcpyHtoD_v2", buffer, static_cast<const void *>(values.data()), size);
        driver_.call("cuLaunchKernel", native, blocks, 1u, 1u, threads, 1u, 1u, 0u, static_cast<CUstream>(nullptr),
                     static_cast<void **>(arguments), static_cast<void **>(nullptr));
        driver_.call("cuMemcpyDtoH_v2", static_cast<void *>(values.data()), buffer, size);
        driver_.call("cuMemFree_v2", buffer);
        driver_.call("cuCtxPopCurrent_v2", &current);
        return values.back();
    }

private:
    CudaDriver &driver_ = CudaDriver::get();
    std::map<ingot_context_t, CUcontext> first_; /* native context of each context's first device */
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static CudaDevice device;
    return device;
}

} // namespace conformance

using namespace conformance;

/* Only this backend has name expressions, so the suite's ProgramText lacks them. */
static Desc describe_template(const Context &context, std::vector<const char *> expressions)
{
    const Source source =
        make_source("namespace ns { template <typename T> __global__ void add(T *x) { x[threadIdx.x] += T(30); }\n"
                    "__constant__ int table[4]; }\n"
                    "extern \"C\" __global__ void plain(int *x) { x[threadIdx.x] += ns::table[0]; }\n",
                    "template.cu", INGOT_SOURCE_CUDA_CPP);
    ingot_source_t handle = source.get();
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &handle;
    info.source_count = 1;
    info.name_expressions = expressions.data();
    info.name_expression_count = expressions.size();
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info)) << ingot_last_error_detail();
    return Desc(desc);
}

static void expect_found_by_expression(const Context &context, const Program &program)
{
    const Kernel by_expression = create_kernel(program, "ns::add<int>");
    const Kernel by_name = create_kernel(program, "_ZN2ns3addIiEEvPT_");
    CUfunction natives[2] = {nullptr, nullptr};
    ASSERT_EQ(INGOT_SUCCESS, ingot_cuda_kernel_get_native(by_expression.get(), &natives[0]));
    ASSERT_EQ(INGOT_SUCCESS, ingot_cuda_kernel_get_native(by_name.get(), &natives[1]));
    EXPECT_EQ(natives[0], natives[1]);
    const char *lowered_name = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cuda_program_get_lowered_name(program.get(), "&ns::table", &lowered_name));
    EXPECT_STREQ("_ZN2ns5tableE", lowered_name);
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_cuda_program_get_lowered_name(program.get(), "ns::add<char>", &lowered_name));
    if (device_under_test().executes()) {
        EXPECT_EQ(42, device_under_test().run(context.get(), by_expression.get(), 12, 8));
    }
}

TEST(CudaNameExpressions, FindKernelsAfterBuildingAndAfterLoading)
{
    const std::vector<const char *> expressions{"plain", "ns::add<int>", "&ns::table"};
    const Context first = make_context();
    const Program built = create_program(describe_template(first, expressions));
    EXPECT_EQ((std::vector<std::string>{"_ZN2ns3addIiEEvPT_", "ns::add<int>", "plain"}), kernel_names_of(built));
    expect_found_by_expression(first, built);

    const Context second = make_context();
    const Program loaded = load(describe_template(second, expressions), blob_of(built));
    ASSERT_NE(nullptr, loaded);
    EXPECT_EQ(0u, stats_of(second).builds);
    EXPECT_EQ(kernel_names_of(built), kernel_names_of(loaded));
    expect_found_by_expression(second, loaded);
    EXPECT_EQ(blob_of(built), blob_of(loaded));
}

TEST(CudaNameExpressions, MakeAnotherProgram)
{
    const Context context = make_context();
    const Program one = create_program(describe_template(context, {"ns::add<int>"}));
    EXPECT_EQ(INGOT_BLOB_MISMATCH, load_program(describe_template(context, {"ns::add<float>"}), blob_of(one)));
}

TEST(CudaDevices, OfTwoContextsKeepEachItsOwnModule)
{
    const Context both = make_context({0, device_under_test().equal_device()});
    const Program program = create_program(describe(both, device_under_test().two_kernels()));
    CUmodule modules[2] = {nullptr, nullptr};
    for (uint32_t i = 0; i < 2; ++i)
        ASSERT_EQ(INGOT_SUCCESS, ingot_cuda_program_get_native(program.get(), i, &modules[i]));
    EXPECT_NE(modules[0], modules[1]);
    EXPECT_EQ(1u, stats_of(both).builds);
    const bool two = CudaDriver::get().equal_gpu_count() > 1;
    std::cout << "devices 0 and 1 are " << (two ? "two equal GPUs" : "two contexts of one GPU") << std::endl;
}

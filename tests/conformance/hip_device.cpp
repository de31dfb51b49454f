/*
 * hip_device.cpp - implements DeviceUnderTest for the HIP driver of the test.
 *
 * If there is a GPU, kernels compute results. Without one, the driver is hip_stand_in.c: it loads what the real hipRTC
 * made, but kernels compute nothing.
 */
#include "conformance/device_under_test.h"

#include <filesystem>
#include <map>

#include "conformance/children.h"
#include "conformance/objects.h"
#include "support/elf_build_id.h"
#include "support/hip_driver.h"

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

ProgramText hip_cpp(const std::string &text)
{
    return {{{INGOT_SOURCE_HIP_CPP, text}}};
}

class HipDevice : public DeviceUnderTest
{
public:
    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        std::vector<int> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(driver_.devices().at(device));
        ingot_context_t context = nullptr;
        if (ingot_hip_context_create(&context, static_cast<uint32_t>(chosen.size()), chosen.data(), &info) !=
            INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_hip_context_create: ") + ingot_last_error_detail());
        first_[context] = chosen.front();
        return context;
    }

    uint32_t equal_device() const override { return 1; }
    bool has_equal_device() const override { return driver_.equal_count() > 1; }
    std::optional<uint32_t> different_device() const override
    {
        const uint32_t equal = driver_.equal_count();
        return driver_.devices().size() > equal ? std::optional<uint32_t>(equal) : std::nullopt;
    }

    /* No environment variable turns a real GPU into another one, so this sets a variable that hipRTC may read. */
    Environment environment_of_incompatible_device() const override
    {
        return executes() ? Environment{} : environment_of_another_device();
    }
    Environment environment_of_another_device() const override
    {
        return executes() ? Environment{{"HIPRTC_COMPILE_OPTIONS_APPEND", "-O2"}}
                          : Environment{{"HIP_STAND_IN_ARCHITECTURE", "gfx908"}};
    }

    /* Puts a copy of the compiler with another build-id first in the library path. */
    Environment environment_of_another_driver() const override
    {
        static const std::string path = path_with_another_build("libamd_comgr.so.2", "compiler");
        return {{"LD_LIBRARY_PATH", path}};
    }

    ProgramText two_kernels() const override { return hip_cpp(kTwoKernels); }
    ProgramText with_option(int amount) const override
    {
        ProgramText text = hip_cpp(kAdd);
        text.compile_options = "-DAMOUNT=" + std::to_string(amount);
        return text;
    }
    ProgramText failing() const override { return hip_cpp(kFailing); }
    ProgramText not_linking() const override
    {
        return {
            {{INGOT_SOURCE_HIP_CPP, kCalling}, {INGOT_SOURCE_HIP_CPP, "__device__ int other(int x) { return x; }\n"}}};
    }
    ProgramText several_sources() const override
    {
        return {{{INGOT_SOURCE_HIP_CPP, kCalling},
                 {INGOT_SOURCE_HIP_CPP, "__device__ int helper(int x) { return x + 5; }\n"}}};
    }
    ProgramText with_header(int amount) const override
    {
        ProgramText text = hip_cpp(std::string("#include \"amount.h\"\n") + kAdd);
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }
    ProgramText with_include(const std::string &directory) const override
    {
        ProgramText text = hip_cpp(std::string("#include <amount.h>\n") + kAdd);
        text.compile_options = "-I " + directory;
        return text;
    }
    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }
    ProgramText not_cacheable() const override
    {
        return hip_cpp(std::string("__constant__ char built[] = __DATE__;\n") + kTwoKernels);
    }

    std::string harmless_option() const override { return "-O2"; }
    bool takes_link_options() const override { return false; }
    bool takes_spec_constants() const override { return false; }
    ProgramText specialized() const override { throw std::logic_error("HIP has no specialization constants"); }

    bool executes() const override { return !driver_.is_stand_in(); }

    int run(ingot_context_t context, ingot_kernel_t kernel, int x, size_t local_size) override
    {
        hipFunction_t native = nullptr;
        void *buffer = nullptr;
        std::vector<int> values(8, x);
        const size_t size = values.size() * sizeof(int);
        void *arguments[] = {&buffer};
        if (ingot_hip_kernel_get_native(kernel, &native) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        const unsigned threads = static_cast<unsigned>(local_size);
        const unsigned blocks = static_cast<unsigned>(values.size()) / threads;
        int previous = 0;
        driver_.call("hipGetDevice", &previous);
        driver_.call("hipSetDevice", first_.at(context));
        driver_.call("hipMalloc", &buffer, size);
        driver_.call("hipMemcpy", buffer, static_cast<void *>(values.data()), size, 1); /* to the device */
        driver_.call("hipModuleLaunchKernel", native, blocks, 1u, 1u, threads, 1u, 1u, 0u, static_cast<void *>(nullptr),
                     static_cast<void **>(arguments), static_cast<void **>(nullptr));
        driver_.call("hipMemcpy", static_cast<void *>(values.data()), buffer, size, 2); /* waits for the kernel */
        driver_.call("hipFree", buffer);
        driver_.call("hipSetDevice", previous);
        return values.back();
    }

private:
    HipDriver &driver_ = HipDriver::get();
    std::map<ingot_context_t, int> first_; /* number of each context's first device */
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static HipDevice device;
    return device;
}

} // namespace conformance

using namespace conformance;

/* Only this backend and CUDA's have name expressions, so the suite's ProgramText lacks them. */
static Desc describe_template(const Context &context, std::vector<const char *> expressions)
{
    const Source source =
        make_source("namespace ns { template <typename T> __global__ void add(T *x) { x[threadIdx.x] += T(30); }\n"
                    "__constant__ int table[4]; }\n"
                    "extern \"C\" __global__ void plain(int *x) { x[threadIdx.x] += ns::table[0]; }\n",
                    "template.hip", INGOT_SOURCE_HIP_CPP);
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
    hipFunction_t natives[2] = {nullptr, nullptr};
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_kernel_get_native(by_expression.get(), &natives[0]));
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_kernel_get_native(by_name.get(), &natives[1]));
    EXPECT_EQ(natives[0], natives[1]);
    const char *lowered_name = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_program_get_lowered_name(program.get(), "&ns::table", &lowered_name));
    EXPECT_STREQ("_ZN2ns5tableE", lowered_name);
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_hip_program_get_lowered_name(program.get(), "ns::add<char>", &lowered_name));
    if (device_under_test().executes()) {
        EXPECT_EQ(42, device_under_test().run(context.get(), by_expression.get(), 12, 8));
    }
}

TEST(HipNameExpressions, FindKernelsAfterBuildingAndAfterLoading)
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
    expect_found_by_expression(second, loaded);
    EXPECT_EQ(blob_of(built), blob_of(loaded));
}

/* Version numbers and paths do not tell builds apart, so every library that takes part is in the id. */
TEST(HipIdentity, DiffersByEachLibrary)
{
    const Bytes id = id_in_child({});
    EXPECT_EQ(id, id_in_child({}));
    int copies = 0;
    const bool is_apart = dlopen(HIPRTC_NAME, RTLD_LAZY) != nullptr; /* otherwise, hipRTC is in libamdhip64 */
    for (const char *name : {is_apart ? HIPRTC_NAME : AMDHIP_NAME, "libamd_comgr.so.2", BUILTINS_NAME}) {
        const std::string path = path_with_another_build(name, "library-" + std::to_string(copies++));
        EXPECT_EQ("device[0].compiler", differing_fields(id, id_in_child({{"LD_LIBRARY_PATH", path}}))) << name;
    }
}

/* hipRTC would include it before the text, in place of its own. */
TEST(HipIdentity, DiffersByAHeaderInTheCurrentDirectory)
{
    const Bytes id = id_in_child({});
    write_file("hiprtc_runtime.h", {'\n'});
    EXPECT_EQ("device[0].files", differing_fields(id, id_in_child({})));
    std::filesystem::remove("hiprtc_runtime.h");
}

/* A context whose device this machine need not have makes the same programs. */
TEST(HipContext, ForAnArchitectureMakesTheSameIdsAndBlobs)
{
    const Context real = make_context();
    const Desc desc = describe(real, device_under_test().two_kernels());
    const char *architecture = "gfx90a:sramecc+:xnack-";
    if (device_under_test().executes())
        return; /* the GPU's architecture is known only to its driver */
    ingot_context_t handle = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_context_create_for(&handle, architecture, nullptr)) << ingot_last_error_detail();
    const Context without(handle);
    const Desc same = describe(without, device_under_test().two_kernels());
    EXPECT_EQ(id_of(desc), id_of(same));
    const Program program = create_program(same);
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), kernel_names_of(program));
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_kernel_create(&kernel, program.get(), 0, "twice"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(real.get(), nullptr));
    ASSERT_NE(nullptr, load(desc, blob_of(program)));
    for (const char *wrong : {"", "gfx", "sm_90", "gfx90a xnack", "gfx90a\n"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_hip_context_create_for(&handle, wrong, nullptr)) << wrong;
}

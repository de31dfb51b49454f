/*
 * cuda_compile_test.cpp - tests how the CUDA backend makes machine code for a request, with the real compilers and
 * without a GPU.
 */
#include <algorithm>
#include <fstream>

#include "support/failing_allocator.h"
#include "support/sink.h"

extern "C" {
#include "backends/cuda/compiler/compile.h"
#include "backends/rtc/compiler.h"
}

namespace
{

struct Text {
    ingot_source_kind_t kind;
    std::string bytes;
    std::string name = "";
};

/* A request to compile, and its result. */
struct Compilation {
    std::vector<Text> sources;
    std::vector<Text> headers{};
    std::string compile_options{};
    std::string link_options{};
    std::vector<const char *> expressions{};
    std::vector<ingot_spec_constant_t> constants{};
    unsigned driver_major = 13;
    std::string device = "sm_90";
    ingot_allocator_t allocator{nullptr, nullptr, nullptr};

    std::string log{};
    std::vector<uint8_t> image{};

    ingot_status_t run()
    {
        std::vector<ingot_source_view_t> views, header_views;
        for (const Text &text : sources)
            views.push_back({text.kind, text.bytes.size(), text.bytes.c_str(), text.name.c_str()});
        for (const Text &text : headers)
            header_views.push_back({text.kind, text.bytes.size(), text.bytes.c_str(), text.name.c_str()});
        ingot_build_request_t request{};
        request.struct_size = sizeof(request);
        request.sources = views.data();
        request.source_count = views.size();
        request.headers = header_views.data();
        request.header_count = header_views.size();
        request.compile_options = compile_options.c_str();
        request.link_options = link_options.c_str();
        request.spec_constants = constants.data();
        request.spec_constant_count = constants.size();
        request.name_expressions = expressions.data();
        request.name_expression_count = expressions.size();
        Sink sink;
        const rtc_target target{allocator, driver_major, device.c_str()};
        rtc_bytes bytes{0, nullptr};
        const ingot_status_t status = cuda_compile(&target, &request, sink.get(), &bytes);
        log = sink.text();
        image.assign(bytes.bytes, bytes.bytes + bytes.size);
        rtc_bytes_fini(&bytes, &allocator);
        return status;
    }

    std::vector<std::string> kernels() const
    {
        std::vector<std::string> names;
        rtc_image view{};
        EXPECT_EQ(INGOT_SUCCESS, rtc_image_read(&view, &cuda_cubin, "sm_90", image.size(), image.data()))
            << ingot_last_error_detail();
        const auto keep = [](void *user, size_t, const char *name) {
            static_cast<std::vector<std::string> *>(user)->push_back(name);
            return INGOT_SUCCESS;
        };
        EXPECT_EQ(INGOT_SUCCESS, rtc_code_for_each_kernel(&cuda_cubin, view.code_size, view.code, keep, &names));
        std::sort(names.begin(), names.end());
        return names;
    }

    /* Returns the cubin's architecture from its ELF header. */
    int architecture() const
    {
        rtc_image view{};
        EXPECT_EQ(INGOT_SUCCESS, rtc_image_read(&view, &cuda_cubin, "sm_90", image.size(), image.data()))
            << ingot_last_error_detail();
        return view.code_size > 50 ? view.code[49] : 0; /* the second byte of e_flags */
    }
};

Text cuda(const std::string &bytes)
{
    return {INGOT_SOURCE_CUDA_CPP, bytes};
}
Text ptx(const std::string &bytes)
{
    return {INGOT_SOURCE_PTX, bytes};
}

const char kPlain[] = "extern \"C\" __global__ void add(int *x) { x[0] += AMOUNT; }\n";
const char kCalling[] = "__device__ int helper(int x);\n"
                        "extern \"C\" __global__ void call(int *x) { x[0] = helper(x[0]); }\n";
const char kHelper[] = "__device__ int helper(int x) { return x + 5; }\n";
const char kPtx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry empty() { ret; }\n.visible .entry other() { ret; }\n";

using Names = std::vector<std::string>;

} // namespace

TEST(CudaCompile, MakesMachineCodeForTheArchitecture)
{
    for (const int capability : {75, 80, 89, 90, 120}) {
        Compilation one{{cuda(kPlain)}};
        one.compile_options = "-DAMOUNT=3";
        one.device = "sm_" + std::to_string(capability);
        ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
        EXPECT_EQ(Names{"add"}, one.kernels());
        EXPECT_EQ(capability, one.architecture());
        EXPECT_EQ("", one.log);
    }
}

TEST(CudaCompile, MakesTheSameBytesAgain)
{
    Compilation one{{cuda(kCalling), cuda(kHelper)}};
    ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
    const std::vector<uint8_t> first = one.image;
    ASSERT_EQ(INGOT_SUCCESS, one.run());
    EXPECT_EQ(first, one.image);
}

TEST(CudaCompile, TakesTheArchitectureThatAnOptionNames)
{
    for (const char *option : {"--gpu-architecture=sm_80", "-arch=sm_80", "-arch sm_80", "--gpu-architecture sm_80"}) {
        Compilation one{{cuda(kPlain)}};
        one.compile_options = std::string(option) + " -DAMOUNT=3";
        ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
        EXPECT_EQ(80, one.architecture()) << option;
        Compilation linked{{cuda(kCalling), cuda(kHelper)}};
        linked.compile_options = option;
        ASSERT_EQ(INGOT_SUCCESS, linked.run()) << ingot_last_error_detail();
        EXPECT_EQ(80, linked.architecture()) << option;
    }
}

TEST(CudaCompile, LinksOneSourceWithLinkOptionsOrMadeRelocatable)
{
    Compilation one{{cuda(kPlain)}};
    one.compile_options = "-DAMOUNT=3";
    one.link_options = "-maxrregcount=64";
    ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
    EXPECT_EQ(Names{"add"}, one.kernels());
    one.link_options = "";
    one.compile_options = "-DAMOUNT=3 -rdc=true";
    ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
    EXPECT_EQ(Names{"add"}, one.kernels());
    EXPECT_FALSE(rtc_code_is_relocatable(&cuda_cubin, one.image.size(), one.image.data()));
}

TEST(CudaCompile, MakesMachineCodeOfPtx)
{
    Compilation alone{{ptx(kPtx)}};
    ASSERT_EQ(INGOT_SUCCESS, alone.run()) << ingot_last_error_detail();
    EXPECT_EQ((Names{"empty", "other"}), alone.kernels());
    EXPECT_EQ(90, alone.architecture());
    alone.compile_options = "-maxrregcount=64";
    EXPECT_EQ(INGOT_SUCCESS, alone.run()) << "both kinds of options are the linker's: " << ingot_last_error_detail();
    Compilation mixed{{ptx(kPtx), cuda(kPlain)}};
    mixed.compile_options = "-DAMOUNT=3";
    ASSERT_EQ(INGOT_SUCCESS, mixed.run()) << ingot_last_error_detail();
    EXPECT_EQ((Names{"add", "empty", "other"}), mixed.kernels());
}

TEST(CudaCompile, KeepsLoweredNamesOfExpressions)
{
    Compilation one{{cuda("template <typename T> __global__ void scale(T *x) { x[0] *= 2; }\n"
                          "namespace ns { __constant__ int table[4]; }\n"
                          "extern \"C\" __global__ void plain(int *x) { x[0] = ns::table[0]; }\n")}};
    one.expressions = {"&ns::table", "plain", "scale<double>", "scale<float>"};
    ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
    EXPECT_EQ((Names{"_Z5scaleIdEvPT_", "_Z5scaleIfEvPT_", "plain"}), one.kernels());
    rtc_image view{};
    ASSERT_EQ(INGOT_SUCCESS, rtc_image_read(&view, &cuda_cubin, "sm_90", one.image.size(), one.image.data()));
    EXPECT_STREQ("_Z5scaleIfEvPT_", rtc_image_lowered_name(&view, "scale<float>"));
    EXPECT_STREQ("_ZN2ns5tableE", rtc_image_lowered_name(&view, "&ns::table"));
    EXPECT_EQ(nullptr, rtc_image_lowered_name(&view, "scale<char>"));
    EXPECT_EQ(0, (view.code - one.image.data()) % 8);
    one.sources.insert(one.sources.begin(), ptx(kPtx)); /* linking keeps the names */
    ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
    ASSERT_EQ(INGOT_SUCCESS, rtc_image_read(&view, &cuda_cubin, "sm_90", one.image.size(), one.image.data()));
    EXPECT_STREQ("_Z5scaleIfEvPT_", rtc_image_lowered_name(&view, "scale<float>"));
}

TEST(CudaCompile, KeepsWarningsOfEverySource)
{
    Compilation both{
        {cuda(std::string("#warning careful\n") + kCalling), cuda(std::string("#warning also\n") + kHelper)}};
    both.sources[0].name = "first.cu";
    ASSERT_EQ(INGOT_SUCCESS, both.run()) << ingot_last_error_detail();
    EXPECT_NE(std::string::npos, both.log.find("first.cu(1): warning")) << both.log;
    EXPECT_LT(both.log.find("careful"), both.log.find("also")) << both.log;
}

TEST(CudaCompile, IsRefusedWithALogThatSaysWhy)
{
    struct Case {
        Compilation compilation;
        const char *word;
    };
    const char *const nonsense = "no_such<int>";
    std::vector<Case> cases{
        {{{cuda("__global__ void f(int *x) { x[0] = no_such_name; }\n")}}, "no_such_name"},
        {{{cuda("extern \"C\" __device__ int missing(int);\n"
                "extern \"C\" __global__ void f(int *x) { x[0] = missing(1); }\n")}},
         "missing"},
        {{{cuda(kCalling), cuda(kPtx)}}, "error"},
        {{{cuda(kCalling), cuda("__device__ int other(int x) { return x; }\n")}}, "helper"},
        {{{ptx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { frob.s32 a; }\n")}}, "frob"},
        {{{ptx("this is no PTX\n")}}, "PTX"},
        {{{cuda(kHelper)}, {}, "-frobnicate"}, "-frobnicate"},
        {{{cuda(kHelper)}, {}, "-arch=sm_11"}, "gpu-architecture"},
        {{{cuda(kHelper)}, {}, "-arch=compute_90"}, "machine code"},
        {{{cuda(kHelper)}, {}, "-arch=" + std::string(200, '9')}, "architecture"},
        {{{cuda(kHelper)}, {}, "", "-frobnicate"}, "option"},
        {{{cuda(kHelper)}, {}, "", "", {nonsense}}, "no_such"},
        {{{ptx(kPtx)}, {}, "", "", {nonsense}}, "CUDA C++"},
    };
    const uint32_t value = 7;
    cases.push_back({{{cuda(kHelper)}}, "99"});
    cases.back().compilation.constants = {{99, sizeof(value), &value}};
    for (Case &one : cases) {
        EXPECT_EQ(INGOT_BUILD_FAILED, one.compilation.run()) << one.word << ": " << ingot_last_error_detail();
        EXPECT_NE(std::string::npos, one.compilation.log.find(one.word)) << one.word << ": " << one.compilation.log;
        EXPECT_TRUE(one.compilation.image.empty());
    }
}

TEST(CudaCompile, IsUnimplementedWithoutACompiler)
{
    for (const Text &text : {cuda(kHelper), ptx(kPtx)}) {
        Compilation one{{text}};
        one.driver_major = 11; /* no compiler is known to be old enough for this driver */
        EXPECT_EQ(INGOT_UNIMPLEMENTED, one.run());
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "libnv")) << ingot_last_error_detail();
    }
}

TEST(CudaCompile, FailsCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) {
        Compilation one{{cuda(kCalling), cuda(kHelper)}};
        one.headers = {{INGOT_SOURCE_HEADER, "", "a.h"}};
        one.expressions = {"call"};
        one.allocator = *allocator;
        return one.run();
    });
}

TEST(CudaOptions, AreSplitAsAShellSplitsThem)
{
    const ingot_allocator_t allocator{nullptr, nullptr, nullptr};
    rtc_options options{};
    ASSERT_EQ(INGOT_SUCCESS,
              rtc_options_init(&options, &allocator, " -DA=\"b c\" '-I d e'\t-f\\ g \"\" ", "--last", 1));
    rtc_options_add(&options, "more");
    const Names words(options.words, options.words + options.count);
    EXPECT_EQ((Names{"-DA=b c", "-I d e", "-f g", "--last", "more"}), words);
    rtc_options_fini(&options, &allocator);
}

TEST(CudaOptions, GiveOutTheArchitectureThatStandsLast)
{
    const ingot_allocator_t allocator{nullptr, nullptr, nullptr};
    rtc_options options{};
    ASSERT_EQ(INGOT_SUCCESS, rtc_options_init(&options, &allocator,
                                              "-a -arch=sm_80 -b --gpu-architecture sm_90a -architect", "-arch", 0));
    EXPECT_STREQ("sm_90a", rtc_options_take_architecture(&options, "--gpu-architecture", "-arch"));
    const Names words(options.words, options.words + options.count);
    EXPECT_EQ((Names{"-a", "-b", "-architect", "-arch"}), words);
    rtc_options_fini(&options, &allocator);
}

/* An image is cut off at every length and changed at every byte. It must be refused, or read without leaving its
 * bytes, which ASan checks. */
TEST(CudaImage, IsReadWithinItsBytesWhateverTheySay)
{
    Compilation one{{cuda("template <typename T> __global__ void scale(T *x) { x[0] *= 2; }\n")}};
    one.expressions = {"scale<double>", "scale<float>"};
    ASSERT_EQ(INGOT_SUCCESS, one.run()) << ingot_last_error_detail();
    const auto look = [](const std::vector<uint8_t> &bytes) {
        rtc_image view{};
        if (rtc_image_read(&view, &cuda_cubin, "sm_90", bytes.size(), bytes.data()) != INGOT_SUCCESS)
            return;
        const auto ignore = [](void *, size_t length, const char *name) {
            return strnlen(name, length) < 4096 ? INGOT_SUCCESS : INGOT_BACKEND_ERROR;
        };
        (void)rtc_image_lowered_name(&view, "scale<char>");
        (void)rtc_code_for_each_kernel(&cuda_cubin, view.code_size, view.code, ignore, nullptr);
    };
    for (size_t size = 0; size < one.image.size(); ++size)
        look(std::vector<uint8_t>(one.image.begin(), one.image.begin() + static_cast<std::ptrdiff_t>(size)));
    for (size_t at = 0; at < one.image.size(); ++at) {
        for (const uint8_t change : {0x01, 0x80, 0xff}) {
            std::vector<uint8_t> changed = one.image;
            changed[at] ^= change;
            look(changed);
        }
    }
    rtc_image view{};
    std::vector<uint8_t> lie = one.image;
    memset(lie.data() + 16, 0xff, 8); /* the size of the texts */
    EXPECT_EQ(INGOT_BLOB_REJECTED, rtc_image_read(&view, &cuda_cubin, "sm_90", lie.size(), lie.data()));
    const std::string text = kPtx;
    EXPECT_EQ(INGOT_BLOB_REJECTED,
              rtc_image_read(&view, &cuda_cubin, "sm_90", text.size(), reinterpret_cast<const uint8_t *>(text.data())))
        << "the driver would compile it";
}

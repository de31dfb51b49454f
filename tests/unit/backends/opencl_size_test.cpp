/*
 * opencl_size_test.cpp - the estimated size of programs whose texts are mostly code that they do not use.
 */
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <ingot/opencl.h>

extern "C" {
#include "backends/opencl/code_weight.h"
#include "core/base/alloc.h"
}
#include "support/failing_allocator.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

ingot_build_request_t request_of(const std::vector<ingot_source_view_t> &sources)
{
    ingot_build_request_t request = {};
    request.sources = sources.data();
    request.source_count = sources.size();
    return request;
}

opencl_code_weight weigh(const std::string &text)
{
    const std::vector<ingot_source_view_t> sources = {{INGOT_SOURCE_OPENCL_C, text.size(), text.data(), ""}};
    const ingot_build_request_t request = request_of(sources);
    ingot_allocator_t allocator;
    opencl_code_weight weight = {};
    EXPECT_EQ(INGOT_SUCCESS, alloc_init(&allocator, nullptr));
    EXPECT_TRUE(opencl_weigh_code(&allocator, &request, &weight));
    return weight;
}

const std::string kernel = "__kernel void k(__global int *x) { x[0] = f(x[1]); }\n";

TEST(OpenclCodeWeight, CountsWhatKernelsUse)
{
    const size_t alone = weigh(kernel).kept;
    EXPECT_EQ(24u, alone);
    EXPECT_EQ(alone, weigh(kernel).reached);
    const std::string used = "static int f(int a) { return a; }\n"; /* 12 tokens */
    EXPECT_EQ(alone + 12, weigh(used + kernel).reached);
    EXPECT_EQ(alone + 12, weigh(used + "static int g(int a) { return f(a); }\n" + kernel).kept);
    EXPECT_EQ(alone + 12, weigh("int f(int);\n" + kernel + used).reached) << "a prototype, and the function later";
    EXPECT_EQ(alone + 24,
              weigh("static int g(int a) { return a; }\nstatic int f(int a) { return g; }\n" + kernel).kept);
    EXPECT_EQ(alone + 22, weigh("__constant int f[4] = {1, 2, 3, 4}, unused[1];\n" + kernel).reached);
}

TEST(OpenclCodeWeight, CountsWhatACompilerKeeps)
{
    const size_t alone = weigh(kernel).kept;
    for (const char *text : {"static int g(int a) { return a; }\n", "inline int g(int a) { return a; }\n",
                             "#define LOCAL static\nLOCAL int g(int a) { return a; }\n", "#define G(x) ((x) + (x))\n",
                             "typedef struct { int a; float b; } s_t;\nstruct t { int a; };\nenum { A, B = 2 };\n",
                             "/* int g(int a) { return a; } */ // int h(int a) { return a; }\n", "int g(int a);\n"})
        EXPECT_EQ(alone, weigh(text + kernel).kept) << text;
    const opencl_code_weight weight = weigh("int g(int a) { return a; }\n" + kernel);
    EXPECT_EQ(alone, weight.reached);
    EXPECT_EQ(alone + 11, weight.kept);
}

TEST(OpenclCodeWeight, CountsMacrosWhereTheyAreUsed)
{
    const size_t alone = weigh(kernel).kept;
    const std::string macro = "#define f(x) \\\n  g(x) + g(x)\n#define g(x) x\n";
    EXPECT_EQ(alone - 1 + 18, weigh(macro + kernel).kept) << "with the list of parameters";
    const std::string kernels = "#define KERNEL(n) __kernel void n(__global int *x) { x[0] = 1; }\n";
    EXPECT_EQ(2 * weigh(kernels + "KERNEL(a)\n").reached, weigh(kernels + "KERNEL(a)\nKERNEL(b)\n").reached);
    EXPECT_LT(20u, weigh(kernels + "KERNEL(a);\n").reached);
    std::string growing = "#define M0 a a\n";
    for (int i = 1; i < 40; ++i)
        growing += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + " M" + std::to_string(i - 1) + "\n";
    EXPECT_GT(1000000u, weigh(growing + "kernel void k() { M39; }").kept);
    EXPECT_LT(4u, weigh("#define A B A\n#define B A B\nkernel void k() { A; }").kept);
}

TEST(OpenclCodeWeight, ReadsWhatIsNotWhole)
{
    for (const char *text : {"", "#", "#define", "#define A", "/*", "\"", "'\\", "kernel void k(", "kernel void k() {",
                             "} ) ;", "int a = {", "#define A \\", "\\", "= ;"})
        EXPECT_GT(10u, weigh(text).kept) << text;
}

TEST(OpenclCodeWeight, SaysThatMemoryIsMissing)
{
    FailingAllocator allocator(0);
    const std::vector<ingot_source_view_t> sources = {{INGOT_SOURCE_OPENCL_C, kernel.size(), kernel.data(), ""}};
    const ingot_build_request_t request = request_of(sources);
    opencl_code_weight weight = {};
    EXPECT_FALSE(opencl_weigh_code(allocator.table(), &request, &weight));
}

/* Functions, types, tables and macros that no kernel uses, as in headers for many programs. */
std::string large_header(size_t count)
{
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        const std::string n = std::to_string(i);
        text += "#define STEP_" + n + "(a, b) ((a) * " + n + "u ^ ((b) << 3) ^ ((a) >> 5))\n";
        text += "typedef struct { uint state[" + n + " + 1]; uint used; } context_" + n + "_t;\n";
        text += "static inline uint mix_" + n + "(uint a, uint b)\n{\n    for (int i = 0; i < 8; ++i)\n";
        text += "        a = STEP_" + n + "(a, b) + " + (i == 0 ? "b" : "mix_" + std::to_string(i - 1) + "(b, a)") +
                ";\n    return a;\n}\n";
    }
    return text;
}

/* Returns how many times the real size of a program's binaries the cache counts after the build. */
double counted_over_real(const std::string &text, const std::string &options)
{
    const OpenclContext native({OpenclPlatform::get().devices()[0]});
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, nullptr));
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = INGOT_SOURCE_OPENCL_C;
    source_info.bytes = text.data();
    source_info.size = text.size();
    ingot_source_t source = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &source_info));
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = options.c_str();
    ingot_program_desc_t desc = nullptr;
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_create(&program, desc)) << ingot_last_error_detail();
    ingot_cache_stats_t counted = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context, &counted));
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, nullptr)) << ingot_last_error_detail();
    std::vector<uint8_t> blob(size);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, blob.data()));
    ingot_cache_stats_t real = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context, &real));
    ingot_program_release(program);
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    ingot_context_release(context);
    std::printf("counted %zu, real %zu\n", counted.bytes, real.bytes);
    return static_cast<double>(counted.bytes) / static_cast<double>(real.bytes);
}

TEST(OpenclSize, IsNotThatOfAHeaderThatIsMostlyUnused)
{
    const ScratchDirectory scratch;
    const std::string header = large_header(1000);
    std::ofstream(scratch.path() / "large.h") << header;
    ASSERT_LT(150000u, header.size());
    const double ratio = counted_over_real("#include \"large.h\"\n__kernel void k(__global uint *x)\n"
                                           "{\n    x[get_global_id(0)] = mix_3(x[0], x[1]);\n}\n",
                                           "-I " + scratch.path().string());
    EXPECT_NEAR(1.0, ratio, 0.25);
}

/* PoCL keeps functions that other programs could call. Those are estimated too high, by a third here and not by three
 * times as much as by the length of their text. */
TEST(OpenclSize, IsThatOfFunctionsWhichAreKept)
{
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        const std::string n = std::to_string(i);
        text += "uint mix_" + n + "(uint a, uint b)\n{\n    uint c = a * " + n +
                "u + b;\n    c = c > b ? c << 3 : a ^ c;\n" +
                "    c = (c >> 7) + (c << 9) - a * b;\n    return c;\n}\n";
    }
    const double ratio =
        counted_over_real(text + "__kernel void k(__global uint *x) { x[0] = mix_3(x[0], x[1]); }\n", "");
    if (OpenclPlatform::get().is_pocl()) {
        EXPECT_NEAR(1.0, ratio, 0.4);
    } else {
        EXPECT_EQ(1.0, ratio);
    }
}

} // namespace

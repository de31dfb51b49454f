/*
 * opencl_size_test.cpp - tests the estimated size of programs whose texts are mostly code that they do not use.
 */
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <ingot/opencl.h>

extern "C" {
#include "backends/opencl/size/code_weight.h"
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
    const size_t alone = weigh(kernel).reached;
    const size_t kept = weigh(kernel).kept;
    EXPECT_EQ(24u, alone);
    const std::string used = "static int f(int a) { return a; }\n"; /* 12 tokens */
    const std::string unused = "static int g(int a) { return f(a); }\n";
    EXPECT_EQ(alone + 12, weigh(used + kernel).reached);
    EXPECT_LT(kept, weigh(used + kernel).kept);
    EXPECT_EQ(weigh(used + kernel).kept, weigh(used + unused + kernel).kept);
    EXPECT_EQ(alone + 12, weigh(used + unused + kernel).reached);
    EXPECT_EQ(alone + 12, weigh("int f(int);\n" + kernel + used).reached) << "a prototype, and the function later";
    EXPECT_EQ(alone + 24,
              weigh("static int g(int a) { return a; }\nstatic int f(int a) { return g; }\n" + kernel).reached);
    EXPECT_EQ(alone + 22, weigh("__constant int f[4] = {1, 2, 3, 4}, unused[1];\n" + kernel).reached);
}

/* Returns how much more a function with these statements weighs than an empty one. */
size_t bitcode_of(const std::string &statements)
{
    return weigh("int f(int a) {" + statements + "}").kept - weigh("int f(int a) {}").kept;
}

TEST(OpenclCodeWeight, WeighsInstructions)
{
    EXPECT_EQ(0u, bitcode_of("int b; b = a;"));
    const size_t one = bitcode_of("a = a + a;");
    EXPECT_LT(0u, one);
    for (const char *operation : {"a << a;", "a != a;", "a && a;", "-a;", "~a;", "a.x;", "a->x;", "a++;"})
        EXPECT_GE(2 * one, bitcode_of(operation)) << operation;
    EXPECT_EQ(one, bitcode_of("a <<= 2;"));
    EXPECT_EQ(2 * one, bitcode_of("a < b > c;")) << "not one operator of two equal characters";
    EXPECT_EQ(2 * one, bitcode_of("a - -b;")) << "nor these";
    EXPECT_LT(one, bitcode_of("a[1];"));
    const size_t call = bitcode_of("g(a);");
    EXPECT_LT(one, call);
    EXPECT_EQ(call, bitcode_of("g (a);"));
    EXPECT_EQ(2 * call, bitcode_of("g(g(a));"));
    EXPECT_EQ(0u, bitcode_of("(a);"));
    EXPECT_GT(call, bitcode_of("if (a) return (a);"));
    EXPECT_LT(0u, bitcode_of("if (a) return (a);"));
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
    EXPECT_EQ(weigh(kernel).reached, weight.reached);
    EXPECT_LT(alone, weight.kept);
}

TEST(OpenclCodeWeight, CountsMacrosWhereTheyAreUsed)
{
    const size_t alone = weigh(kernel).reached;
    const std::string macro = "#define f(x) \\\n  g(x) + g(x)\n#define g(x) x\n";
    EXPECT_EQ(alone - 1 + 18, weigh(macro + kernel).reached) << "with the list of parameters";
    const std::string kernels = "#define KERNEL(n) __kernel void n(__global int *x) { x[0] = 1; }\n";
    EXPECT_EQ(2 * weigh(kernels + "KERNEL(a)\n").reached, weigh(kernels + "KERNEL(a)\nKERNEL(b)\n").reached);
    EXPECT_LT(20u, weigh(kernels + "KERNEL(a);\n").reached);
    std::string growing = "#define M0 a a\n";
    for (int i = 1; i < 40; ++i)
        growing += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + " M" + std::to_string(i - 1) + "\n";
    EXPECT_GT(1000000u, weigh(growing + "kernel void k() { M39; }").reached);
    EXPECT_LT(4u, weigh("#define A B A\n#define B A B\nkernel void k() { A; }").reached);
}

opencl_code_weight weigh_with(const std::string &options, const std::string &text)
{
    const std::vector<ingot_source_view_t> sources = {{INGOT_SOURCE_OPENCL_C, text.size(), text.data(), ""}};
    ingot_build_request_t request = request_of(sources);
    request.compile_options = options.c_str();
    ingot_allocator_t allocator;
    opencl_code_weight weight = {};
    EXPECT_EQ(INGOT_SUCCESS, alloc_init(&allocator, nullptr));
    EXPECT_TRUE(opencl_weigh_code(&allocator, &request, &weight));
    return weight;
}

/* Each condition has a branch of 1 token and an #else branch of 3, in a kernel of 7 other tokens. `tokens` is how many
 * of the branches' tokens are added to the weight: those of both branches if the condition is unknown. `before`
 * precedes the kernel. */
TEST(OpenclCodeWeight, CountsWhatConditionsKeep)
{
    const struct {
        const char *options, *before, *condition;
        size_t tokens;
    } cases[] = {
        {"", "", "#if 1", 1},
        {"", "", "#if 0", 3},
        {"", "", "#ifdef A", 3},
        {"", "", "#ifndef A", 1},
        {"", "", "#if A", 3},
        {"", "#define A", "#ifdef A", 1},
        {"", "#define A", "#ifndef A", 3},
        {"", "#define A\n#undef A", "#ifdef A", 3},
        {"", "#define A 3u", "#if A > 2 && A >= 3 && A != 2 && A <= 3", 1},
        {"", "#define A 3", "#if A < 3 || A == 0x4 || A > 3", 3},
        {"", "#define A 0", "#if !defined(A) || !(defined A && A)", 1},
        {"-D A", "", "#if A == 1", 1},
        {"-cl-mad-enable -DA=2 -D B=7", "", "#if A == 2 && B == 7", 1},
        {"-DA=\"2\"", "", "#if A", 4},
        {"-DA=B", "", "#if A", 4},
        {"", "", "#ifdef __GPU__", 4},
        {"", "", "#if defined(cl_khr_fp64) && 1", 4},
        {"", "", "#if defined(cl_khr_fp64) && defined(A)", 3},
        {"", "", "#if __OPENCL_VERSION__ >= 200 || 1", 1},
        {"", "#define A 1", "#if A + 1", 4},
        {"", "#define A 1", "#if A << 1", 4},
        {"", "#define A(x) 1", "#if A(1)", 4},
        {"", "#ifdef __GPU__\n#define A 1\n#endif", "#if A", 4},
        {"", "#ifdef __GPU__\n#define A 1\n#endif", "#ifdef A", 4},
        {"", "#ifdef B\n#define A 1\n#else\n#define C\n#endif", "#if !defined(A) && defined(C)", 1},
        {"", "#define A 2", "#if !!A == 1 && !A == 0 && !!!A == 0", 1},
        {"", "", "#if ((((1)))) && ((((0)) || 1)", 4},
        {"", "", "#if ((((1)))) && ((((0))) || (1))", 1},
        {"", "", "#if (", 4},
        {"", "", "#if", 4},
        {"", "", "#if 0\n1 2\n#elif 1", 1},
        {"", "", "#if 0\n1 2\n#elif 0", 3},
        {"", "", "#if 1\n1 2\n#elif 1", 2},
        {"", "", "#if __GPU__\n1 2\n#elif 1", 3},
        {"", "", "#if 0\n#if 1\n1 2\n#else\n3\n#endif\n#else", 1},
        {"", "", "#if 0 /* #endif */ // #endif\n/*\n#endif\n*/", 3},
        {"", "", "  #  if \\\n 0", 3},
    };
    for (const auto &each : cases) {
        const std::string text =
            std::string(each.before) + "\nkernel void k() {\n" + each.condition + "\na\n#else\nb c d\n#endif\n}\n";
        EXPECT_EQ(7 + each.tokens, weigh_with(each.options, text).reached) << each.options << "\n" << text;
    }
}

TEST(OpenclCodeWeight, SurvivesManyConditions)
{
    std::string text;
    for (int i = 0; i < 200; ++i)
        text += "#if 1\n#define A" + std::to_string(i) + "\n";
    text += "kernel void k() { a; }\n";
    for (int i = 0; i < 200; ++i)
        text += "#endif\n";
    EXPECT_EQ(9u, weigh(text).reached);
    EXPECT_EQ(9u, weigh("#endif\n#else\n#elif 0\nkernel void k() { a; }\n#endif").reached);
    EXPECT_EQ(9u, weigh("#if " + std::string(1000000, '(') + "1\n#endif\nkernel void k() { a; }\n").reached);
    EXPECT_EQ(9u, weigh("#if " + std::string(1000000, '!') + "1\n#endif\nkernel void k() { a; }\n").reached);
}

TEST(OpenclCodeWeight, ReadsWhatIsNotWhole)
{
    for (const char *text : {"", "#", "#define", "#define A", "/*", "\"", "'\\", "kernel void k(", "kernel void k() {",
                             "} ) ;", "int a = {", "#define A \\", "\\", "= ;"})
        EXPECT_GT(10u, weigh(text).reached) << text;
}

TEST(OpenclCodeWeight, SaysThatMemoryIsMissing)
{
    const std::vector<ingot_source_view_t> sources = {{INGOT_SOURCE_OPENCL_C, kernel.size(), kernel.data(), ""}};
    const ingot_build_request_t request = request_of(sources);
    for (int successes = 0; successes < 3; ++successes) {
        FailingAllocator allocator(successes);
        opencl_code_weight weight = {};
        EXPECT_FALSE(opencl_weigh_code(allocator.table(), &request, &weight)) << successes;
    }
}

/* Returns functions, types, tables and macros that no kernel uses, like a header for many programs. */
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

/* Returns the size that the cache counts after the build, divided by the real size of the program's binaries. */
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

std::string functions(size_t count)
{
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        const std::string n = std::to_string(i);
        text += "uint mix_" + n + "(uint a, uint b)\n{\n    uint c = a * " + n +
                "u + b;\n    c = c > b ? c << 3 : a ^ c;\n" +
                "    c = (c >> 7) + (c << 9) - a * b;\n    return c;\n}\n";
    }
    return text;
}

TEST(OpenclSize, IsNotThatOfCodeForAnotherDevice)
{
    const double ratio = counted_over_real("#if DEVICE == 2\n" + functions(1000) + "#endif\n" +
                                               "__kernel void k(__global uint *x) { x[0] = x[1]; }\n",
                                           "-D DEVICE=1");
    EXPECT_NEAR(1.0, ratio, 0.25);
}

/* PoCL keeps functions that other programs could call. */
TEST(OpenclSize, IsThatOfFunctionsWhichAreKept)
{
    const double ratio =
        counted_over_real(functions(1000) + "__kernel void k(__global uint *x) { x[0] = mix_3(x[0], x[1]); }\n", "");
    EXPECT_NEAR(1.0, ratio, 0.25);
}

TEST(OpenclSize, IsThatOfManyKindsOfStatements)
{
    const std::map<std::string, std::string> kinds = {
        {"elements", "for (int i = 0; i < 8; i++) { p[i] = p[i + 9]; p[i + 1] = p[i] + p[a]; }\n"
                     "p[2] = p[3]; p[3] = p[4]; p[5] = p[6];"},
        {"calls", "a = g (a, 3); b = g (b, a); a = max(a, b); a = g(a, a); b = rotate(b, a); p[0] = g(a, b);"},
        {"branches", "if (a > 7) { b = 1; } else if (a < b) { b = 2; } else { b = a; }\n"
                     "switch (a) { case 1: b = 7; break; case 2: b = 9; break; default: b = 4; }\n"
                     "while (b > 9) { b = b / 2; if (b == a) break; }\np[0] = b;"},
        {"vectors", "uint4 v = (uint4)(a, b, a, b); v.x = v.y + 3; v.yz = v.xw; v = v * v + v; v.w ^= v.x; v = v.wzyx;"
                    " p[0] = v.x;"},
        {"mixed", "uint c = 1; if (a > b && b > c || a < 7) { p[a] += b; p[b] -= a; }\n"
                  "c = p[c]; c &= a; c |= b << 2; c ^= p[a & b]; p[0] = c ? (uint)(ulong)b * c >> 9 : ~a;"}};
    for (const auto &[kind, statements] : kinds) {
        std::string text = "uint g(uint a, uint b) { return b ? get_global_id(a) : a; }\n";
        for (int i = 0; i < 500; ++i)
            text += "void f" + std::to_string(i) + "(uint a, uint b, uint *p)\n{\n" + statements + "\n}\n";
        EXPECT_NEAR(1.0, counted_over_real(text + "kernel void k(global uint *x) { x[0] = x[1]; }\n", ""), 0.25)
            << kind;
    }
}

} // namespace

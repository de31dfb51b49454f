/*
 * hermetic_constructs_test.cpp - tests everything that a source can do with files. With each construct, Ingot must make
 * the same program as the compiler alone, whether or not the program is cacheable.
 */

#include <gtest/gtest.h>

#include "conformance/program_setup.h"

using namespace conformance;

using Files = std::vector<std::pair<std::string, std::string>>;

static bool is_cuda()
{
    return device_under_test().two_kernels().sources[0].kind == INGOT_SOURCE_CUDA_CPP;
}

static std::string kernel(const std::string &name)
{
    return (is_cuda() ? "extern \"C\" __global__ void " + name + "(int *x)"
                      : "__kernel void " + name + "(__global int *x)") +
           " { x[0] = 1; }\n";
}

/* Two kernels must not have the same name. This text defines N as another name each time that it is included. */
const std::string kCount = "#ifndef N\n#define N first\n#elif !defined(M)\n#define M\n#undef N\n#define N second\n"
                           "#else\n#undef N\n#define N third\n#endif\n";

static ProgramSetup with_files(const std::string &source, const Files &files)
{
    return {source, "-I.", files};
}

/* Builds as expect_like_native does. Returns true if the program is cacheable, or if the compiler rejects it. */
static bool is_cacheable_or_rejected(const ProgramSetup &setup)
{
    return expect_like_native(setup) || Workplace().build_natively(setup).origin == "failed";
}

TEST(LikeNative, WithGuards)
{
    const std::string guarded = "#ifndef G\n#define G\n" + kernel("guarded") + "#endif\n";
    EXPECT_TRUE(expect_like_native(with_files("#include <g.h>\n#include <g.h>\n#include <h.h>\n" + kernel("last"),
                                              {{"g.h", guarded}, {"h.h", "#include <g.h>\n"}})));
    const std::string again = kCount + "#ifndef A\n#define A\n" + kernel("N") + "#endif\n";
    EXPECT_TRUE(expect_like_native(with_files("#include <a.h>\n#undef A\n#include <a.h>\n", {{"a.h", again}})));
    const std::string plain = "#ifndef P\n#define P\n#ifdef SEEN\n" + kernel("second") + "#else\n#define SEEN\n" +
                              kernel("first") + "#endif\n#endif\n";
    EXPECT_TRUE(expect_like_native(with_files("#include <p.h>\n#undef P\n#include <p.h>\n", {{"p.h", plain}})));
    EXPECT_TRUE(expect_like_native(
        with_files("#define P\n#include <p.h>\n#include <p.h>\n" + kernel("last"), {{"p.h", plain}})));
}

TEST(LikeNative, WithPragmaOnce)
{
    const std::string once = "#pragma once\n" + kCount + kernel("N");
    const std::string source = "#include <a.h>\n#include <d/../a.h>\n#include <b.h>\n" + kernel("last");
    EXPECT_TRUE(expect_like_native(with_files(source, {{"a.h", once}, {"d/x", ""}, {"b.h", "#include <a.h>\n"}})));
    EXPECT_TRUE(expect_like_native(with_files(source, {{"a.h", once}, {"d/x", ""}, {"b.h", once}})));
}

TEST(LikeNative, WithItsOwnName)
{
    const std::string test = "constexpr bool same(const char *a, const char *b)\n"
                             "{ return *a == *b && (*a == 0 || same(a + 1, b + 1)); }\n";
    (void)expect_like_native(with_files(
        "#include <f.h>\n" + kernel("k"),
        {{"f.h", is_cuda() ? test + "__device__ char f[sizeof(__FILE__)];\n" : "__constant char f[] = __FILE__;\n"}}));
    (void)expect_like_native(with_files(
        "#include <d/f.h>\n", {{"d/f.h", "#if __LINE__ == 1\n" + kernel("one") + "#line 7\n#if __LINE__ == 7\n" +
                                             kernel("seven") + "#endif\n#endif\n"}}));
}

TEST(LikeNative, WithTheDepthOfIncludes)
{
    const std::string level = "#if __INCLUDE_LEVEL__ == 1\n" + kernel("one") + "#else\n" + kernel("other") + "#endif\n";
    EXPECT_FALSE(expect_like_native(with_files("#include <l.h>\n", {{"l.h", level}})));
}

TEST(LikeNative, WithHasInclude)
{
    const std::string source = "#if __has_include(<x.h>)\n#include <x.h>\n#else\n" + kernel("without") + "#endif\n";
    (void)expect_like_native(with_files(source, {{"x.h", kernel("with")}}));
    (void)expect_like_native(with_files(source, {}));
}

TEST(LikeNative, WithOtherDirectives)
{
    const std::string next = "#ifdef D\n" + kernel("inner") + "#else\n#define D\n#include_next <x.h>\n#endif\n";
    EXPECT_FALSE(expect_like_native({"#include <x.h>\n", "-Id1 -Id2", {{"d1/x.h", next}, {"d2/x.h", kernel("next")}}}));
    EXPECT_FALSE(expect_like_native(with_files("#import <x.h>\n#import <x.h>\n", {{"x.h", kernel("imported")}})));
    (void)expect_like_native(with_files("int a[] = {\n#embed <x.h>\n};\n" + kernel("k"), {{"x.h", "1"}}));
    (void)expect_like_native(with_files(
        "#if 0\n#embed <x.h>\n#import <y.h>\n#include_next <z.h>\n#endif\n" + kernel("untaken"), {{"x.h", "1"}}));
}

TEST(LikeNative, WithSelfInclusion)
{
    (void)expect_like_native(
        with_files("#include <s.h>\n", {{"s.h", "#ifndef S1\n#define S1\n#include <s.h>\n" + kernel("outer") +
                                                    "#elif !defined(S2)\n#define S2\n#include <s.h>\n" +
                                                    kernel("middle") + "#else\n" + kernel("inner") + "#endif\n"}}));
}

TEST(LikeNative, WithOddEndsOfFiles)
{
    const auto without_end = [](const std::string &name) { return kernel(name).substr(0, kernel(name).size() - 1); };
    Files files{
        {"empty.h", ""},
        {"c.h", "#ifndef C\r\n#define C\r\n#define BODY \\\r\n  1\r\n" + without_end("crlf") + "\r\n#endif\r\n"}};
    for (const char *end : {"", " // comment", " /* comment */", "\n#define LAST"}) {
        const std::string number = std::to_string(files.size());
        files.emplace_back(number + ".h", without_end("head" + number) + end);
    }
    std::string source;
    for (const auto &[name, content] : files)
        source += "#include <" + name + ">\n";
    EXPECT_TRUE(expect_like_native(with_files(source + kernel("last"), files)));
    /* NVRTC rejects a byte order mark. */
    const std::string head = without_end("head"), last = "#include <e.h>\n" + kernel("last");
    EXPECT_TRUE(is_cacheable_or_rejected(with_files(last, {{"e.h", "\xef\xbb\xbf" + head}})));
    const std::string marked = "\xef\xbb\xbf#include <e.h>\r\n" + kernel("last");
    EXPECT_TRUE(is_cacheable_or_rejected(with_files(marked, {{"e.h", head}})));
    EXPECT_TRUE(is_cacheable_or_rejected(with_files(marked, {{"e.h", "\xef\xbb\xbf" + head}})));
}

/* A file with an open comment, an open line or an unbalanced conditional is broken, or compilers read it differently.
 * Ingot then passes the program to the compiler unchanged, so that the messages are the compiler's own. */
TEST(LikeNative, WithFilesThatDoNotEnd)
{
    for (const std::string &content : {std::string("/* open\n"), std::string("#if 1\n"), std::string("int a; \\"),
                                       std::string("#endif\n"), std::string("#else\n")}) {
        SCOPED_TRACE(content);
        EXPECT_FALSE(expect_like_native(with_files("#include <o.h>\n" + kernel("last"), {{"o.h", content}})));
        EXPECT_FALSE(
            expect_like_native(with_files("#if 1\n#include <o.h>\n#endif\n" + kernel("last"), {{"o.h", content}})));
    }
}

TEST(LikeNative, WithNonAsciiBlanks)
{
    for (const std::string blank : {"\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x83"})
        (void)expect_like_native(
            with_files(blank + "#include <x.h>\n" + kernel("last"), {{"x.h", kernel("included")}}));
}

/* Warnings inside a system header are silent, even after a header that it includes. */
TEST(LikeNative, WithSystemHeaders)
{
    EXPECT_TRUE(expect_like_native(with_files(
        "#include <s.h>\n" + kernel("last"),
        {{"s.h", "#pragma GCC system_header\n#warning silent\n#include <t.h>\n#warning silent too\n" + kernel("s")},
         {"t.h", kernel("t")}})));
}

/* Headers that only code for the host includes do not make a program uncacheable. */
TEST(LikeNative, WithHeadersOfTheHostBehindAGuard)
{
    const std::string guard = is_cuda() ? "#ifndef __CUDACC_RTC__\n" : "#ifndef __OPENCL_VERSION__\n";
    const std::string guarded = guard + "#include <stdint.h>\n#include <stdlib.h>\n#endif\n";
    EXPECT_TRUE(expect_like_native(with_files(guarded + kernel("direct"), {})));
    EXPECT_TRUE(expect_like_native(with_files("#include <types.h>\n" + kernel("by_header"), {{"types.h", guarded}})));
    EXPECT_TRUE(expect_like_native(with_files(guard + "#include \"host.h\"\n#endif\n" + kernel("by_host"),
                                              {{"host.h", "#include <nowhere/host.h>\n"}})));
}

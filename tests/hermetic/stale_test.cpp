/*
 * stale_test.cpp - tests, with real compilers, that a second process does not get a program from a folder of blobs that
 * its compiler would not make: what the program reads changes in between, and its texts and options do not name that.
 *
 * Each case is built by three processes: through Ingot, in the first state; through Ingot, in the second state; and by
 * the compiler alone, in the second state. The last two must have the same result. The test starts itself with --make.
 */
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "support/child_process.h"
#include "support/scratch_directory.h"

namespace
{

using namespace hermetic;
namespace fs = std::filesystem;

bool is_cuda = false;

std::unique_ptr<Compiler> make_compiler()
{
    return is_cuda ? make_nvrtc_compiler() : make_opencl_compiler("");
}

void write(const fs::path &path, const std::string &text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

std::string read(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/* A kernel from whose code or work-group size V can be seen. */
std::string kernel_with(const std::string &value)
{
    if (is_cuda)
        return "extern \"C\" __global__ void k(int *p) { *p = " + value + "; }\n";
    return "kernel __attribute__((reqd_work_group_size(" + value + ", 1, 1))) void k(global int *p) { *p = 1; }\n";
}

/* ---- the child ---- */

/* Arguments: a folder of blobs, or "" for the compiler alone; a file with the source; the options; the result's path;
 * perhaps an environment variable NAME=VALUE to set after another program was built. */
int make_as_child(int count, char **words)
{
    const std::unique_ptr<Compiler> compiler = make_compiler();
    const Program program{read(words[1]), words[2]};
    /* only the code shows a constant in CUDA C++, or what an assembler read */
    const bool has_code = is_cuda || program.source.find("jmp") != std::string::npos || count > 4;
    const Want want = has_code ? Want::code : Want::kernels;
    if (count > 4) {
        if (!compiler->build_with_ingot({kernel_with("7"), ""}, want).build.is_built)
            return 1;
        putenv(words[4]);
    }
    IngotBuild made;
    if (words[0][0] != '\0')
        made = compiler->build_with_folder(program, words[0], want);
    else
        made.build = compiler->build(program, want);
    const Build &build = made.build;
    write(words[3], build.is_built ? "built\n" + build.kernels + build.code : "failed");
    write(std::string(words[3]) + ".reason", made.reason);
    return 0;
}

/* ---- the parent ---- */

struct Made {
    std::string result;
    std::string reason; /* why it is native, or "" */
};

class Stale : public testing::Test
{
protected:
    void SetUp() override
    {
        fs::create_directories(blobs());
        fs::current_path(scratch_.path());
    }
    void TearDown() override { fs::current_path("/"); }

    std::string blobs() const { return (scratch_.path() / "blobs").string(); }

    Made make(const std::string &folder, const std::string &source, const std::string &options,
              const std::string &variable = "")
    {
        const std::string base = (scratch_.path() / ("made" + std::to_string(count_++))).string();
        write(base + ".source", source);
        std::vector<std::string> words = {"/proc/self/exe", "--make", folder, base + ".source", options, base};
        if (!variable.empty())
            words.push_back(variable);
        fs::create_directory(base + ".cache"); /* PoCL's own cache, without which its programs have no blobs */
        child_process::Child child(words, base + ".out",
                                   {{"POCL_KERNEL_CACHE", "1"}, {"POCL_CACHE_DIR", base + ".cache"}});
        EXPECT_EQ(0, child.wait()) << read(base + ".out");
        return {read(base), read(base + ".reason")};
    }

    /* Builds in two states. `change` makes the second one. */
    void expect_fresh(const std::string &source, const std::string &options, const std::function<void()> &change,
                      const std::string &other_options)
    {
        SCOPED_TRACE(source + " with " + options);
        const Made first = make(blobs(), source, options);
        const Made bare = make("", source, options);
        EXPECT_TRUE(bare.result != "failed") << "the case tests nothing";
        EXPECT_TRUE(first.result == bare.result) << "differs in the first process";
        change();
        const Made fresh = make("", source, other_options);
        const Made second = make(blobs(), source, other_options);
        EXPECT_TRUE(fresh.result != bare.result) << "the case tests nothing";
        EXPECT_TRUE(second.result == fresh.result) << "stale: " << second.reason;
    }

    const ScratchDirectory scratch_;
    int count_ = 0;
};

TEST_F(Stale, ComposedQuestionsForFilesAreAskedAgain)
{
    const std::string tail = "(\"there.h\")\n#define V 1\n#else\n#define V 2\n#endif\n" + kernel_with("V");
    const std::string paste = "#define CAT(a, b) a##b\n";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {paste + "#if CAT(__has_, include)" + tail, "-Iinc"},
        {"#define CAT(a, b) a%:%:b\n#if CAT(__has_, include)" + tail, "-Iinc"},
        {"#define CAT(a, b) a#\\\n#b\n#if CAT(__h\\\nas_, include)" + tail, "-Iinc"},
        {"#if CAT(__has_, include)" + tail, "-Iinc -DCAT(a,b)=a##b"},
        {paste + "#define HAS(x) CAT(x, include)\n#if HAS(START)" + tail, "-Iinc -DSTART=__has_"},
        {"#if HAS" + tail, "-Iinc -DHAS=__has_##include"},
        {"#if HAS" + tail, "-Iinc -DHAS=__has_include"},
    };
    for (const auto &[source, options] : cases) {
        fs::remove("inc/there.h");
        fs::create_directories("inc");
        expect_fresh(
            source, options, [] { write("inc/there.h", "\n"); }, options);
    }
}

TEST_F(Stale, ComposedFileNamesCount)
{
    write("a/named.h", "#define NAME CAT(__FI, LE__)\n#define SIZE sizeof(NAME)\n" + kernel_with("SIZE"));
    write("longer/named.h", read("a/named.h"));
    for (const char *paste : {"#define CAT(a, b) a##b\n", "#define CAT(a, b) a%:%:b\n"})
        expect_fresh(
            std::string(paste) + "#include <named.h>\n", "-Ia", [] {}, "-Ilonger");
    expect_fresh(
        "#include <named.h>\n", "-Ia -DCAT(a,b)=a##b", [] {}, "-Ilonger -DCAT(a,b)=a##b");
}

/* Such a pragma makes the compiler include a header once, and would have no effect in a text without includes. */
TEST_F(Stale, PragmaOperatorsIncludeOnce)
{
    const std::string body = "#ifdef FIRST\n#define SECOND\n#endif\n#define FIRST\n";
    const std::string source = "#include <once.h>\n#include <once.h>\n#ifdef SECOND\n#define V 2\n#else\n#define V 1\n"
                               "#endif\n" +
                               kernel_with("V");
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"_Pragma(\"once\")\n", "-Iinc"},
        {"#define S(x) #x\n#define P(x) _Pragma(S(x))\nP(once)\n", "-Iinc"},
        {"#define S_(x) #x\n#define S(x) S_(x)\n#define CAT(a, b) a##b\n_Pragma(S(CAT(on, ce)))\n", "-Iinc"},
        {"#define S_(x) #x\n#define S(x) S_(x)\n_Pragma(S(WORD))\n", "-Iinc -DWORD=once"},
        {"#define CAT(a, b) a##b\nCAT(_Pra, gma)(\"once\")\n", "-Iinc"},
        {"OPERATOR(\"once\")\n", "-Iinc -DOPERATOR=_Pragma"},
    };
    for (const auto &[pragma, options] : cases) {
        write("inc/once.h", pragma + body);
        SCOPED_TRACE(pragma + options);
        const Made bare = make("", source, options);
        EXPECT_TRUE(bare.result != "failed");
        EXPECT_TRUE(bare.result == make(blobs(), source, options).result);
        EXPECT_TRUE(bare.result == make(blobs(), source, options).result) << "in the second process";
    }
}

/* PoCL's assembler reads files, and Intel's and CUDA's do not. */
TEST_F(Stale, AssemblersFilesAreReadAgain)
{
    if (is_cuda || make_opencl_compiler("")->name() != "Portable Computing Language")
        return;
    const std::string file = (scratch_.path() / "data").string();
    const std::string tail = " \\\"" + file + "\\\"\\n1:\"); *p = 1; }\n";
    const std::string head = "(\"jmp 1f\\n";
    const std::string kernel = "kernel void k(global int *p) { ";
    const std::string string = "#define S_(x) #x\n#define S(x) S_(x)\n";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"__asm__" + head + ".\\151ncbin" + tail, ""},
        {"__a\\\nsm" + head + ".inc\\\nbin" + tail, ""},
        {"\n#define CAT(a, b) a##b\nCAT(__as, m__)" + head + ".\\x69ncbin" + tail, ""},
        {"Q" + head + ".\\151ncbin" + tail, "-DQ=__asm__"},
        {"\n" + string + "__asm__" + head + ".\" S(I) \"" + tail, "-DI=incbin"},
    };
    for (const auto &[source, options] : cases) {
        write(file, "one");
        expect_fresh(
            kernel + source, options, [&] { write(file, "another one"); }, options);
    }
}

/* The first process changes a variable with the compiler's options after it has built another program. */
TEST_F(Stale, WhatAChangedVariableMadeIsNotStored)
{
    const std::string source = "#ifndef V\n#define V 2\n#endif\n" + kernel_with("V");
    const char *variable = is_cuda ? "NVRTC_APPEND_FLAGS=-DV=3" : "POCL_EXTRA_BUILD_FLAGS=-DV=3";
    if (!is_cuda && make_opencl_compiler("")->name() != "Portable Computing Language")
        return; /* the compiler has no such variable */
    const Made first = make(blobs(), source, "", variable);
    const Made fresh = make("", source, "");
    EXPECT_TRUE(fresh.result == make(blobs(), source, "").result) << "stale";
    EXPECT_TRUE(is_cuda || fresh.result != first.result) << "the case tests nothing";
    EXPECT_NE(std::string::npos, first.reason.find("has changed since the context read it")) << first.reason;
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    is_cuda = STALE_IS_CUDA;
    if (argc > 5 && std::strcmp(argv[1], "--make") == 0) {
        const int status = make_as_child(argc - 2, argv + 2);
        (void)std::fflush(nullptr);
        _exit(status); /* drivers may crash in their own exit handlers */
    }
    return RUN_ALL_TESTS();
}

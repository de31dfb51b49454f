/*
 * stale_test.cpp - tests, with real compilers, that a second process does not get a program from a folder of blobs that
 * its compiler would not make: what the program reads changes in between, and its texts and options do not name that.
 *
 * Two processes build each case, alone and through Ingot: the first one in a first state, and the second one after a
 * change. In each, both results must be the same. The test starts itself with --make.
 */
#include <cstring>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "support/child_process.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

using namespace hermetic;
namespace fs = std::filesystem;

bool is_cuda = false;

std::unique_ptr<Compiler> make_compiler()
{
    return is_cuda ? make_nvrtc_compiler() : make_opencl_compiler("");
}

using whole_file::read;
using whole_file::write;

/* A kernel from whose code or work-group size V can be seen. */
std::string kernel_with(const std::string &value)
{
    if (is_cuda)
        return "extern \"C\" __global__ void k(int *p) { *p = " + value + "; }\n";
    return "kernel __attribute__((reqd_work_group_size(" + value + ", 1, 1))) void k(global int *p) { *p = 1; }\n";
}

/* ---- the child ---- */

/* Builds the case in the current directory in a state, "1" or "2". */
void make_case(Compiler *compiler, const std::string &blobs, const std::string &state)
{
    const Program program{read("source"), read("options" + state)};
    /* only the code shows a constant in CUDA C++, or what an assembler read */
    const Want want = is_cuda || program.source.find("jmp") != std::string::npos ? Want::code : Want::kernels;
    write(fs::current_path() / ("bare" + state), result_of(compiler->build(program, want)));
    const IngotBuild made = compiler->build_with_folder(program, blobs, want);
    write(fs::current_path() / ("made" + state), result_of(made.build));
    write(fs::current_path() / ("reason" + state), made.reason);
}

/* Arguments: the folder of blobs; the state; perhaps an environment variable NAME=VALUE to set after another program
 * was built; then "--" and the directories of the cases. */
int make_as_child(int count, char **words)
{
    const std::unique_ptr<Compiler> compiler = make_compiler();
    int at = 2;
    if (std::strcmp(words[at], "--") != 0) {
        if (!compiler->build_with_ingot({kernel_with("7"), ""}, Want::kernels).build.is_built)
            return 1;
        putenv(words[at++]);
    }
    for (++at; at < count; ++at) {
        fs::current_path(words[at]);
        make_case(compiler.get(), words[0], words[1]);
    }
    return 0;
}

/* ---- the parent ---- */

struct Case {
    std::string source;
    std::string options;
    std::string options_after_change; /* "": the same */
};

class Stale : public testing::Test
{
protected:
    void SetUp() override { fs::create_directories(scratch_.path() / "blobs"); }

    fs::path folder(size_t number) const { return scratch_.path() / ("case" + std::to_string(number)); }

    void prepare(const std::vector<Case> &cases)
    {
        count_ = cases.size();
        for (size_t i = 0; i < count_; ++i) {
            const Case &wanted = cases[i];
            write(folder(i) / "source", wanted.source);
            write(folder(i) / "options1", wanted.options);
            write(folder(i) / "options2",
                  wanted.options_after_change.empty() ? wanted.options : wanted.options_after_change);
            fs::create_directories(folder(i) / "inc");
        }
    }

    void make(const std::string &state, const std::string &variable = "")
    {
        const std::string cache = (scratch_.path() / ("cache" + state)).string();
        const std::string out = (scratch_.path() / ("out" + state)).string();
        std::vector<std::string> words = {"/proc/self/exe", "--make", (scratch_.path() / "blobs").string(), state};
        if (!variable.empty())
            words.push_back(variable);
        words.push_back("--");
        for (size_t i = 0; i < count_; ++i)
            words.push_back(folder(i).string());
        fs::create_directory(cache); /* PoCL's own cache, without which its programs have no blobs */
        child_process::Child child(words, out, {{"POCL_KERNEL_CACHE", "1"}, {"POCL_CACHE_DIR", cache}});
        EXPECT_EQ(0, child.wait()) << read(out);
    }

    void expect_equal(const std::string &state)
    {
        for (size_t i = 0; i < count_; ++i) {
            EXPECT_TRUE(read(folder(i) / ("bare" + state)) != "failed") << "the case tests nothing";
            EXPECT_TRUE(read(folder(i) / ("bare" + state)) == read(folder(i) / ("made" + state)))
                << "in state " << state << ": " << read(folder(i) / "source") << read(folder(i) / "options1");
        }
    }

    void expect_fresh(const std::vector<Case> &cases, const std::function<void(const fs::path &)> &first,
                      const std::function<void(const fs::path &)> &change)
    {
        prepare(cases);
        for (size_t i = 0; i < count_; ++i)
            first(folder(i));
        make("1");
        expect_equal("1");
        for (size_t i = 0; i < count_; ++i)
            change(folder(i));
        make("2");
        expect_equal("2");
        for (size_t i = 0; i < count_; ++i)
            EXPECT_TRUE(read(folder(i) / "bare1") != read(folder(i) / "bare2")) << "the case tests nothing";
    }

    const ScratchDirectory scratch_;
    size_t count_ = 0;
};

TEST_F(Stale, ComposedQuestionsForFilesAreAskedAgain)
{
    const std::string tail = "(\"there.h\")\n#define V 1\n#else\n#define V 2\n#endif\n" + kernel_with("V");
    const std::string paste = "#define CAT(a, b) a##b\n";
    expect_fresh(
        {{paste + "#if CAT(__has_, include)" + tail, "-Iinc", ""},
         {"#define CAT(a, b) a%:%:b\n#if CAT(__has_, include)" + tail, "-Iinc", ""},
         {"#define CAT(a, b) a#\\\n#b\n#if CAT(__h\\\nas_, include)" + tail, "-Iinc", ""},
         {"#if CAT(__has_, include)" + tail, "-Iinc -DCAT(a,b)=a##b", ""},
         {paste + "#define C(a, b) CAT(a, b)\n#if C(START, include)" + tail, "-Iinc -DSTART=__has_", ""},
         {"#if HAS" + tail, "-Iinc -DHAS=__has_##include", ""},
         {"#if HAS" + tail, "-Iinc -DHAS=__has_include", ""}},
        [](const fs::path &) {}, [](const fs::path &folder) { write(folder / "inc/there.h", "\n"); });
}

TEST_F(Stale, ComposedFileNamesCount)
{
    const std::string text = "#define NAME CAT(__FI, LE__)\n#define SIZE sizeof(NAME)\n" + kernel_with("SIZE");
    expect_fresh(
        {{"#define CAT(a, b) a##b\n#include <named.h>\n", "-Ia", "-Ilonger"},
         {"#define CAT(a, b) a%:%:b\n#include <named.h>\n", "-Ia", "-Ilonger"},
         {"#include <named.h>\n", "-Ia -DCAT(a,b)=a##b", "-Ilonger -DCAT(a,b)=a##b"}},
        [&](const fs::path &folder) {
            write(folder / "a/named.h", text);
            write(folder / "longer/named.h", text);
        },
        [](const fs::path &) {});
}

/* Such a pragma makes the compiler include a header once, and would have no effect in a text without includes. */
TEST_F(Stale, PragmaOperatorsIncludeOnce)
{
    const std::string body = "#ifdef FIRST\n#define SECOND\n#endif\n#define FIRST\n";
    const std::string source = "#include <once.h>\n#include <once.h>\n#ifdef SECOND\n#define V 2\n#else\n#define V 1\n"
                               "#endif\n" +
                               kernel_with("V");
    const std::string string = "#define S_(x) #x\n#define S(x) S_(x)\n";
    const std::vector<std::pair<std::string, std::string>> headers = {
        {"_Pragma(\"once\")\n", ""},
        {string + "#define P(x) _Pragma(S(x))\nP(once)\n", ""},
        {string + "#define CAT(a, b) a##b\n_Pragma(S(CAT(on, ce)))\n", ""},
        {string + "_Pragma(S(WORD))\n", " -DWORD=once"},
        {"#define CAT(a, b) a##b\nCAT(_Pra, gma)(\"once\")\n", ""},
        {"OPERATOR(\"once\")\n", " -DOPERATOR=_Pragma"},
    };
    std::vector<Case> cases;
    for (const auto &header : headers)
        cases.push_back({source, "-Iinc" + header.second, ""});
    prepare(cases);
    for (size_t i = 0; i < headers.size(); ++i)
        write(folder(i) / "inc/once.h", headers[i].first + body);
    for (const char *state : {"1", "2"}) {
        make(state);
        expect_equal(state);
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
    expect_fresh(
        {{kernel + "__asm__" + head + ".\\151ncbin" + tail, "", ""},
         {kernel + "__a\\\nsm" + head + ".inc\\\nbin" + tail, "", ""},
         {"#define CAT(a, b) a##b\n" + kernel + "CAT(__as, m__)" + head + ".\\x69ncbin" + tail, "", ""},
         {kernel + "Q" + head + ".\\151ncbin" + tail, "-DQ=__asm__", ""},
         {string + kernel + "__asm__" + head + ".\" S(I) \"" + tail, "-DI=incbin", ""},
         {"#define NOW(x) __asm__(x)\n" + kernel + "NOW" + head + ".\\151ncbin" + tail, "", ""},
         {"#define PART \\\n __asm\n#define A PART\n" + kernel + "A" + head + ".\\151ncbin" + tail, "", ""},
         {"#define D(x) defined x##m\n#if !D(as)\n" + kernel + "__asm__" + head + ".\\151ncbin" + tail + "#endif\n", "",
          ""}},
        [&](const fs::path &) { write(file, "one"); }, [&](const fs::path &) { write(file, "another one"); });
    const std::string reached = "the compiler reached asm, whose assembler may read files; ";
    EXPECT_EQ(reached + "the source line 1 has it", read(folder(0) / "reason1"));
    EXPECT_EQ(reached + "macros compose it", read(folder(2) / "reason1"));
    EXPECT_EQ(reached + "the source line 2 has it", read(folder(6) / "reason1"));
}

/* Random123 has asm in macros for other compilers. What asks for the keyword, or shows it as text, stays the same. */
TEST_F(Stale, AsmThatNothingReachesChangesNothing)
{
    const std::string macro =
        "#define MUL(x) asm(\"mul\" : : \"r\"(x))\n#define NESTED MUL(1) MUL(2)\n#define S(x) #x\n";
    prepare({{macro + "#if 0\nMUL(1)\n#endif\n" + kernel_with("3"), "", ""},
             {macro + "#define F(a, b) a\n" + kernel_with("sizeof(S(asm)) + F(1, MUL(2))"), "", ""},
             {macro + "#define CAT(a, b) a##b\n#define asm_3 3\n" + kernel_with("CAT(asm, _3)"), "", ""}});
    for (const char *state : {"1", "2"}) {
        make(state);
        expect_equal(state);
        for (size_t i = 0; i < 3; ++i)
            EXPECT_EQ("", read(folder(i) / ("reason" + std::string(state)))) << i;
    }
}

/* The first process changes a variable with the compiler's options after it has built another program. */
TEST_F(Stale, WhatAChangedVariableMadeIsNotStored)
{
    if (!is_cuda && make_opencl_compiler("")->name() != "Portable Computing Language")
        return; /* the compiler has no such variable */
    prepare({{"#ifndef V\n#define V 2\n#endif\n" + kernel_with("V"), "", ""}});
    make("1", is_cuda ? "NVRTC_APPEND_FLAGS=-DV=3" : "POCL_EXTRA_BUILD_FLAGS=-DV=3");
    make("2");
    expect_equal("1");
    expect_equal("2");
    /* NVRTC 13.0 does not read the variable */
    EXPECT_TRUE(is_cuda || read(folder(0) / "bare1") != read(folder(0) / "bare2")) << "the case tests nothing";
    const std::string reason = read(folder(0) / "reason1");
    EXPECT_NE(std::string::npos, reason.find("has changed since the context read it")) << reason;
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    is_cuda = STALE_IS_CUDA;
    if (argc > 4 && std::strcmp(argv[1], "--make") == 0) {
        const int status = make_as_child(argc - 2, argv + 2);
        (void)std::fflush(nullptr);
        _exit(status); /* drivers may crash in their own exit handlers */
    }
    return RUN_ALL_TESTS();
}

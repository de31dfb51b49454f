/*
 * places_test.cpp - tests that in a hermetic text, in which Ingot has replaced each include by its text, the compiler
 * sees the same lines and names of files as in the native build.
 */
#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "hermetic/project.h"
#include "support/scratch_directory.h"

namespace
{

using namespace hermetic;

/* A kernel whose required size of work groups is its line number, so that a build shows the line. */
const char kKernel[] =
    "kernel __attribute__((reqd_work_group_size(__LINE__, 1, 1))) void k(global int *x) { *x = 1; }\n";

class HermeticPlaces : public testing::Test
{
protected:
    void SetUp() override { std::filesystem::current_path(scratch_.path()); }
    void TearDown() override { std::filesystem::current_path("/"); }

    void write(const std::map<std::string, std::string> &files)
    {
        Project project{"", files, "", ""};
        write_project(&project, scratch_.path().string());
    }

    IngotBuild expect_equal(const std::string &source)
    {
        const Program program{source, "-I inc"};
        const Build native = compiler_->build(program, Want::kernels);
        const IngotBuild other = compiler_->build_with_ingot(program, Want::kernels);
        EXPECT_TRUE(native.is_built) << native.log;
        EXPECT_EQ(native.is_built, other.build.is_built) << other.build.log;
        EXPECT_EQ(native.kernels, other.build.kernels) << source;
        return other;
    }

    void expect_hermetic(const std::string &source) { EXPECT_EQ("", expect_equal(source).reason) << source; }

    ScratchDirectory scratch_;
    std::unique_ptr<Compiler> compiler_ = make_opencl_compiler("");
};

} // namespace

TEST_F(HermeticPlaces, LinesAreTheSameBehindABranchThatIsNotTaken)
{
    write({{"x.h", "/* nothing\n */\n"}});
    const std::string include = "#include \"x.h\"\n";
    expect_hermetic("#if 0\n" + include + include + "#endif\n" + kKernel);
    expect_hermetic("#if 1\n#else\n" + include + "#endif /* over\ntwo lines */\n" + kKernel);
    expect_hermetic("#if 0\n" + include + "#else\n" + kKernel + "#endif\n");
    expect_hermetic("#if 0\n" + include + "#elif 1\n" + kKernel + "#endif\n");
    expect_hermetic("#if 0\n#if 1\n" + include + "#endif\n#endif\n" + kKernel);
    expect_hermetic("#if 0\n#include \"not_there.h\"\n#endif\r\n" + std::string(kKernel));
    expect_hermetic("#if 0\n" + include + "#elif __has_include(\"x.h\")\n" + kKernel + "#endif\n");
}

TEST_F(HermeticPlaces, LinesAreTheSameInAHeaderBehindABranchThatIsNotTaken)
{
    write({{"inc/x.h", std::string("#ifndef X\n#define X\n#if 0\n#include <y.h>\n#endif\n") + kKernel + "#endif\n"},
           {"inc/y.h", "\n\n"}});
    expect_hermetic("#include <x.h>\n");
}

TEST_F(HermeticPlaces, BranchesWithIncludesAndALineDirectiveAreNative)
{
    write({{"x.h", "\n"}});
    for (const char *source :
         {"#if 0\n#include \"x.h\"\n#line 100\n#endif\n", "#if 1\n#include \"x.h\"\n#line 100\n#endif\n",
          "#line 100\n#if 0\n#include \"x.h\"\n#endif\n"}) {
        const IngotBuild built = expect_equal(std::string(source) + kKernel);
        EXPECT_NE(std::string::npos, built.reason.find("#line")) << source << built.reason;
    }
    expect_hermetic(std::string("#include \"x.h\"\n#line 50\n#if 1\n#endif\n") + kKernel);
}

TEST_F(HermeticPlaces, MessagesSayWhereAFileIsIncludedFrom)
{
    write({{"x.h", "\n#include \"inc/y.h\"\n"}, {"inc/y.h", "#pragma once\n#warning in y\n"}});
    for (const char *source :
         {"\n#include \"x.h\"\n", "\n# /* over\ntwo lines */ \\\n include \"x.h\"\n",
          "#define X \"x.h\"\n\n#include X\n", "#if 0\n#include \"x.h\"\n#endif\n#include <x.h>\n"}) {
        const Program program{std::string(source) + kKernel, ""};
        const Build native = compiler_->build(program, Want::kernels);
        const IngotBuild other = compiler_->build_with_ingot(program, Want::kernels);
        EXPECT_NE(std::string::npos, native.log.find("in y")) << native.log;
        EXPECT_EQ("", other.reason);
        EXPECT_EQ(log_without_names(native.log), log_without_names(other.build.log)) << source;
    }
}

/* If clang finds a file by two names, it uses the last of these names for the file. */
TEST_F(HermeticPlaces, FilesWithTwoNamesAreNativeWhereNamesMatter)
{
    const std::string twice = "#include \"inc/x.h\"\n#include \"inc/../inc/x.h\"\n";
    write({{"inc/x.h", "#ifndef X\n#define X\n#define SIZE 4\n#endif\n"}});
    expect_hermetic(twice + kKernel);
    write({{"inc/x.h", "#ifndef X\n#define X\n#define SIZE sizeof(__FILE__)\n#endif\n"}});
    const IngotBuild built = expect_equal(twice + kKernel);
    EXPECT_NE(std::string::npos, built.reason.find("two names")) << built.reason;
    /* Here the file has one name, but its directory has two: "inc" of -I, and "./inc". */
    const IngotBuild beside = expect_equal("#include \"inc/x.h\"\n" + std::string(kKernel));
    EXPECT_NE(std::string::npos, beside.reason.find("two names")) << beside.reason;
}

/* PoCL's assembler reads files, and Intel's does not. */
TEST_F(HermeticPlaces, OfAnAssemblerAreInTheReason)
{
    if (compiler_->name() != "Portable Computing Language")
        return;
    const std::string reached = "the compiler reached asm, whose assembler may read files; ";
    const std::string kernel = "kernel void k(global int *p) { ";
    EXPECT_EQ(reached + "the source line 1 has it", expect_equal(kernel + "__asm__(\"\"); *p = 1; }\n").reason);
    EXPECT_EQ(reached + "macros compose it",
              expect_equal("#define CAT(a, b) a##b\n" + kernel + "CAT(__as, m__)(\"\"); *p = 1; }\n").reason);
    EXPECT_EQ(reached + "the source line 2 has it",
              expect_equal("#define PART \\\n __asm\n#define A PART\n" + kernel + "A(\"\"); *p = 1; }\n").reason);
}

/* Random123 has asm in macros for other compilers. What shows the keyword only as text, or skips it, has no asm. */
TEST_F(HermeticPlaces, OfAsmThatNothingReachesMakeNoProgramNative)
{
    const std::string macros =
        "#define MUL(x) asm(\"mul\" : : \"r\"(x))\n#define NESTED MUL(1) MUL(2)\n#define S(x) #x\n";
    const std::string kernel =
        "kernel __attribute__((reqd_work_group_size(V, 1, 1))) void k(global int *x) { *x = 1; }\n";
    for (const char *use :
         {"#if 0\nMUL(1)\n#endif\n#define V 3\n", "#define F(a, b) a\n#define V sizeof(S(asm)) + F(1, MUL(2))\n",
          "#define CAT(a, b) a##b\n#define asm_3 3\n#define V CAT(asm, _3)\n"})
        expect_hermetic(macros + use + kernel);
}

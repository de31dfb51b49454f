/*
 * stale_cuda_test.cpp - tests constructs for which a simple model of how NVRTC finds files and reads options is wrong.
 * Each test uses two processes and one store, and the second process must not get the first one's program.
 */
#include <gtest/gtest.h>

#include "conformance/program_setup.h"

using namespace conformance;

const std::string kKernel = "extern \"C\" __global__ void NAME(int *x) { x[0] = 1; }\n";

TEST(Stale, ByAnEqualsSignBeforeADirectory)
{
    const ProgramSetup setup{"#include <k.h>\n" + kKernel, "", {{"o1/k.h", named("one")}, {"o2/k.h", named("two")}}};
    expect_told_apart(setup, "-I=o1 -Io2", "-Io2");
}

TEST(Stale, ByAnEmptyDirectory)
{
    const ProgramSetup setup{"#ifdef X\n#define NAME x\n#else\n#define NAME none\n#endif\n" + kKernel};
    expect_told_apart(setup, "-I \"\" -DX=1", "-DX=1");
}

/* NVRTC prefers an embedded header to a file of the same name in the directory of the including file. */
TEST(Stale, ByAnEmbeddedHeaderBesideAFile)
{
    ProgramSetup setup{"#include <a.h>\n" + kKernel, "-Id -Ic", {{"d/a.h", "#include \"b.h\"\n"}}};
    setup.headers = {{"b.h", "#include <c.h>\n"}};
    (void)expect_seen(setup, "c/c.h");
    setup.files.emplace_back("d/b.h", named("file"));
    (void)expect_seen(setup, "c/c.h");
}

TEST(Stale, ByAnEmbeddedHeaderOfAnotherName)
{
    for (const char *name : {"d/b.h", "./b.h"}) {
        ProgramSetup setup{"#include <a.h>\n" + kKernel, "-Id -Ic", {{"d/a.h", "#include \"b.h\"\n"}}};
        setup.headers = {{name, named("embedded")}};
        (void)expect_seen(setup, "d/b.h");
        (void)expect_seen(setup, "c/b.h");
    }
}

/* Text may precede a directive. */
TEST(Stale, ByWhatStandsBeforeAnInclude)
{
    /* The number of includes that the compiler sees depends on its version. */
    size_t seen = 0;
    for (const char *lines :
         {"int a; /* \n */ #include <k.h>\n", "/**/#include <k.h>\n", "int a; /**/ #include <k.h>\n",
          "#define A 1 \\ \n\\\n#include <k.h>\n", "#define A 1 \\ \n#include <k.h>\n", "\\\n#include <k.h>\n",
          "\\ \n#include <k.h>\n", "int a; \\\n\n#include <k.h>\n", "#define B \\\n\\ \n#include <k.h>\n"}) {
        SCOPED_TRACE(lines);
        ProgramSetup setup{"#define NAME none\n" + std::string(lines) + "\n" + kKernel, "-Ic"};
        ProgramSetup second = setup;
        setup.files = {{"c/k.h", named("before")}};
        second.files = {{"c/k.h", named("after")}};
        const Workplace workplace;
        const BuildResult first_native = workplace.build_natively(setup);
        const BuildResult first = workplace.build(setup);
        const BuildResult second_native = workplace.build_natively(second);
        const BuildResult built = workplace.build(second);
        seen += first_native.kernels != second_native.kernels;
        if (first.is_cacheable()) {
            EXPECT_EQ(first_native.kernels, first.kernels) << first.log;
        }
        if (built.is_cacheable()) {
            EXPECT_EQ(second_native.kernels, built.kernels) << built.log;
        }
    }
    EXPECT_LE(3u, seen);
}

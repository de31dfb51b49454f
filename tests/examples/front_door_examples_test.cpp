/*
 * front_door_examples_test.cpp - runs each example of the front door twice: first with an empty store, then in another
 * process with what the first run stored. The second process compiles nothing.
 */
#include "support/child_process.h"
#include "support/test_device.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace
{

using child_process::Child;

/* Runs a program that writes its trace to a file. Returns its output. */
std::string run(const std::vector<std::string> &command, const std::string &name, Child::Environment environment = {})
{
    const char *options = std::getenv("ASAN_OPTIONS");
    environment["INGOT_TRACE"] = name + ".trace";
    /* the examples leave their OpenCL objects to the end of the process */
    environment["ASAN_OPTIONS"] = std::string(options != nullptr ? options : "") + ":detect_leaks=0";
    Child child(command, name + ".log", environment);
    EXPECT_EQ(0, child.wait()) << child.output();
    return child.output();
}

/* Returns how many programs a run compiled. */
long count_builds(const std::string &name)
{
    std::ifstream trace(name + ".trace");
    std::string line;
    long count = 0;
    while (std::getline(trace, line))
        count += line.rfind("{\"ingot\":\"build\"", 0) == 0;
    return count;
}

void expect_contains(const std::string &text, const std::string &part)
{
    EXPECT_NE(std::string::npos, text.find(part)) << "\"" << part << "\" is not in:\n" << text;
}

[[maybe_unused]] void expect_loads(std::vector<std::string> command)
{
    expect_contains(run(command, "cold"), "origin: build\n");
    EXPECT_EQ(1, count_builds("cold"));
    const std::string warm = run(command, "warm");
    expect_contains(warm, "origin: storage\n");
    EXPECT_EQ(0, count_builds("warm"));
}

#ifdef QUICKSTART_PROGRAM
TEST(FrontDoorExample, QuickstartLoadsInTheSecondProcess)
{
    expect_loads({QUICKSTART_PROGRAM, "quickstart-store"});
    if (test_device::wanted() != "intel") /* which computes nothing */
        expect_contains(run({QUICKSTART_PROGRAM, "quickstart-store"}, "results"), "10 20 30 40\n");
}

TEST(FrontDoorExample, QuickstartInCppLoadsWhatTheOneInCHasStored)
{
    run({QUICKSTART_PROGRAM, "shared-store"}, "c");
    const std::string output = run({QUICKSTART_CPP_PROGRAM, "shared-store"}, "cpp");
    expect_contains(output, "origin: storage\nkernel: scale\n");
    EXPECT_EQ(0, count_builds("cpp"));
}

/* The third kernel is asked for in the 41st frame. */
TEST(FrontDoorExample, RendersWhileKernelsAreCompiledAndThenLoadsThem)
{
    std::vector<std::string> command = {RENDER_PROGRAM, "render-store", "--frames", "45", "--csv", "frames.csv"};
    command.push_back("--blocking");
    expect_contains(run(command, "render-cold"), "; 2 specialised kernels\n");
    EXPECT_EQ(3, count_builds("render-cold"));
    command.pop_back();
    expect_contains(run(command, "render-warm"), "; 2 specialised kernels\n");
    EXPECT_EQ(0, count_builds("render-warm"));
    std::ifstream csv("frames.csv");
    EXPECT_EQ(2 + 45, std::count(std::istreambuf_iterator<char>(csv), {}, '\n'));
}

TEST(FrontDoorExample, BuildsAsWithoutIngotAndThenLoads)
{
    const std::string folder = INGOT_SOURCE_DIR "/tests/support/kernels/";
    const std::vector<std::string> files = {folder + "two_kernels.cl", folder + "many_kernels.cl"};
    const std::string plain = run({BUILD_PROGRAMS_PROGRAM, files[0], files[1]}, "plain");
    const Child::Environment environment = {{"INGOT_PERSIST_DIR", "build-programs-store"}};
    EXPECT_EQ(plain, run({BUILD_PROGRAMS_CACHED_PROGRAM, files[0], files[1]}, "cached-cold", environment));
    EXPECT_EQ(2, count_builds("cached-cold"));
    EXPECT_EQ(plain, run({BUILD_PROGRAMS_CACHED_PROGRAM, files[0], files[1]}, "cached-warm", environment));
    EXPECT_EQ(0, count_builds("cached-warm"));
}

TEST(FrontDoorExample, PrintsTheBuildLogAsWithoutIngot)
{
    std::ofstream("wrong.cl") << "kernel void f() { nonsense; }\n";
    Child plain({BUILD_PROGRAMS_PROGRAM, "wrong.cl"}, "wrong-plain.log");
    EXPECT_EQ(1, plain.wait());
    Child cached({BUILD_PROGRAMS_CACHED_PROGRAM, "wrong.cl"}, "wrong-cached.log",
                 {{"INGOT_PERSIST_DIR", "wrong-store"}});
    EXPECT_EQ(1, cached.wait());
    expect_contains(plain.output(), "nonsense");
    expect_contains(cached.output(), "nonsense");
}

/* Returns the lines of a file without its first comment. */
std::vector<std::string> lines_of(const std::string &path)
{
    std::ifstream file(path);
    std::vector<std::string> lines;
    std::string line;
    bool is_in_code = false;
    while (std::getline(file, line)) {
        if (is_in_code)
            lines.push_back(line);
        is_in_code = is_in_code || line == " */";
    }
    return lines;
}

TEST(FrontDoorExample, AddsAndRemovesAtMostTenLines)
{
    const std::vector<std::string> before = lines_of(INGOT_SOURCE_DIR "/examples/build_programs.c");
    const std::vector<std::string> after = lines_of(INGOT_SOURCE_DIR "/examples/build_programs_cached.c");
    std::vector<std::vector<size_t>> common(before.size() + 1, std::vector<size_t>(after.size() + 1));
    for (size_t i = 0; i < before.size(); ++i)
        for (size_t j = 0; j < after.size(); ++j)
            common[i + 1][j + 1] =
                before[i] == after[j] ? common[i][j] + 1 : std::max(common[i][j + 1], common[i + 1][j]);
    EXPECT_GE(before.size(), 85u);
    EXPECT_LE(before.size() + after.size() - 2 * common[before.size()][after.size()], 10u);
}
#endif

#ifdef LEVEL_ZERO_QUICKSTART_PROGRAM
TEST(FrontDoorExample, LevelZeroQuickstartLoadsInTheSecondProcess)
{
    expect_loads({LEVEL_ZERO_QUICKSTART_PROGRAM, "level-zero-store", SPIRV_DIR "/two_kernels.spv"});
}
#endif

#ifdef CUDA_QUICKSTART_PROGRAM
TEST(FrontDoorExample, CudaQuickstartLoadsInTheSecondProcess)
{
    expect_loads({CUDA_QUICKSTART_PROGRAM, "cuda-store"});
}
#endif

#ifdef HIP_QUICKSTART_PROGRAM
TEST(FrontDoorExample, HipQuickstartLoadsInTheSecondProcess)
{
    expect_loads({HIP_QUICKSTART_PROGRAM, "hip-store"});
}
#endif

} // namespace

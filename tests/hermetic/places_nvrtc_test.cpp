/*
 * places_nvrtc_test.cpp - line markers that cause problems with NVRTC.
 */
#include <filesystem>

#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "hermetic/project.h"
#include "support/scratch_directory.h"

using namespace hermetic;

/* NVRTC 13.0 ends the process over a message below 30 nested markers, and does not below 180 nested files. */
TEST(HermeticNvrtc, DeeplyNestedHeadersMayHaveWarnings)
{
    constexpr int depth = 100;
    const ScratchDirectory scratch;
    Project project;
    for (int i = 0; i < depth; ++i)
        project.files["f" + std::to_string(i) + ".h"] =
            i + 1 < depth ? "#include \"f" + std::to_string(i + 1) + ".h\"\n" : "#warning one\n#warning two\n";
    write_project(&project, scratch.path().string());
    std::filesystem::current_path(scratch.path());
    const Program program{"#include \"f0.h\"\nextern \"C\" __global__ void k(int *x) { *x = __LINE__; }\n", ""};
    const std::unique_ptr<Compiler> compiler = make_nvrtc_compiler();
    const Build native = compiler->build(program, Want::code);
    const IngotBuild other = compiler->build_with_ingot(program, Want::code);
    std::filesystem::current_path("/");
    ASSERT_TRUE(native.is_built) << native.log;
    EXPECT_EQ("", other.reason);
    EXPECT_TRUE(native.code == other.build.code);
    EXPECT_EQ(native.log, other.build.log);
}

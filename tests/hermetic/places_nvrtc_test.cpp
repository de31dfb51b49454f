/*
 * places_nvrtc_test.cpp - tests a hermetic text (a source with each include replaced by its text) with deeply nested
 * headers, whose line markers can crash NVRTC.
 */
#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "hermetic/project.h"
#include "support/scratch_directory.h"

using namespace hermetic;

/* NVRTC 13.0 crashes if it prints a message inside 30 nested line markers. Inside 180 nested files it does not
 * crash. */
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

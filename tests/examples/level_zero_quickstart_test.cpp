/*
 * level_zero_quickstart_test.cpp - runs the example level_zero_quickstart with an empty store, then in another process
 * with the filled store.
 */
#include <gtest/gtest.h>

#include "support/child_process.h"

namespace
{

std::string run(const std::string &name)
{
    child_process::Child child({LEVEL_ZERO_QUICKSTART_PROGRAM, "store", SPIRV_DIR "/two_kernels.spv"}, name + ".log",
                               {{"CreateMultipleRootDevices", "2"}});
    EXPECT_EQ(0, child.wait()) << child.output();
    return child.output();
}

} // namespace

TEST(LevelZeroQuickstartExample, LoadsInTheSecondProcess)
{
    const std::string kernels = "kernel: square, 1 arguments\nkernel: twice, 1 arguments\n";
    EXPECT_EQ("devices: 2\norigin: build\n" + kernels, run("cold"));
    EXPECT_EQ("devices: 2\norigin: storage\n" + kernels, run("warm"));
}

/*
 * setuid_child.h - runs one test of this program again in a setuid process. Root starts a copy of the program that
 * belongs to another user, so the copy runs as that user.
 */
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/child_process.h"
#include "support/scratch_directory.h"

namespace setuid_child
{

/* True in the setuid process. */
inline bool is_this()
{
    return std::getenv("INGOT_TEST_SETUID") != nullptr;
}

/* Ends the setuid process with the test's result. Does not run the leak checker, because that needs ptrace, which this
 * process is not allowed. */
[[noreturn]] inline void end()
{
    EXPECT_NE(getuid(), geteuid()) << "the volume knows no setuid";
    (void)std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
}

/* Runs the current test in a setuid process with these environment variables, and expects that it passes there. Lets
 * others write in the scratch directory. Returns a reason to skip the test, or NULL. */
inline const char *run(const ScratchDirectory &scratch, child_process::Child::Environment variables)
{
    if (getuid() != 0)
        return "only root can give a file to another user";
    if (std::getenv("TEST_EMULATOR") != nullptr)
        return "an emulator starts the program without its setuid bit";
    const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string(test->test_suite_name()) + "." + test->name();
    const std::string copy = (scratch.path() / "copy").string();
    EXPECT_EQ(0, chmod(scratch.path().c_str(), 0777));
    std::filesystem::copy_file("/proc/self/exe", copy);
    EXPECT_EQ(0, chown(copy.c_str(), 65534, 65534));
    EXPECT_EQ(0, chmod(copy.c_str(), 04755));
    variables["INGOT_TEST_SETUID"] = "1";
    child_process::Child child({copy, "--gtest_filter=" + name}, copy + ".log", variables);
    const int ended = child.wait();
    if (child.output().find("the volume knows no setuid") != std::string::npos)
        return "the volume knows no setuid";
    EXPECT_EQ(0, ended) << child.output();
    return nullptr;
}

} // namespace setuid_child

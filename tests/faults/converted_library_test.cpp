/*
 * converted_library_test.cpp - tests that a process still stores what it compiled, and reports what it could not store,
 * if it never flushes its store and never releases its objects.
 */
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "support/child_process.h"
#include "support/scratch_directory.h"

namespace
{

/* Times to store programs at exit, in milliseconds. kTime is enough for a driver under a sanitizer on a busy machine. A
 * run ends as soon as everything is stored. kNoTime is INGOT_NONE. */
const char kTime[] = "120000";
const char kNoTime[] = "18446744073709551614";

bool is_pocl()
{
    const char *device = std::getenv("INGOT_TEST_DEVICE");
    return device != nullptr && std::string(device) == "pocl";
}

/* Runs converted_child with an empty driver cache. Returns its output. */
std::string run(const ScratchDirectory &scratch, const std::string &name, const std::string &exit_time,
                int program_count = 6)
{
    const std::filesystem::path driver_cache = scratch.path() / ("driver-" + name);
    std::filesystem::create_directory(driver_cache);
    child_process::Child child(
        {CONVERTED_CHILD, (scratch.path() / "store").string(), exit_time, std::to_string(program_count)},
        (scratch.path() / name).string(), {{"POCL_CACHE_DIR", driver_cache.string()}, {"INGOT_TRACE", "1"}});
    EXPECT_EQ(0, child.wait()) << child.output();
    return child.output();
}

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST(ConvertedLibrary, CompilesNothingFromTheSecondRunOn)
{
    const ScratchDirectory scratch;
    const std::string first = run(scratch, "first", kTime);
    EXPECT_TRUE(contains(first, "builds 6 loads 0\n")) << first;
    EXPECT_FALSE(contains(first, "were not stored")) << first;
    for (const char *name : {"second", "third"}) {
        const std::string output = run(scratch, name, kTime);
        EXPECT_TRUE(contains(output, "builds 0 loads 6\n")) << name << ":\n" << output;
    }
}

TEST(ConvertedLibrary, SaysWhatItLost)
{
    const ScratchDirectory scratch;
    const std::string lost = "ingot,storage_degraded,INGOT_BUSY";
    const std::string first = run(scratch, "first", kNoTime);
    EXPECT_EQ(is_pocl(), contains(first, lost)) << first;
    EXPECT_EQ(is_pocl(), contains(first, "6 programs were not stored before the process ended")) << first;
    const std::string second = run(scratch, "second", kTime);
    EXPECT_TRUE(contains(second, is_pocl() ? "builds 6 loads 0\n" : "builds 0 loads 6\n")) << second;
}

/* How many programs are stored within the default time depends on the machine, so the test only prints how many. Those
 * that are not stored must be reported. */
TEST(ConvertedLibrary, HasStoredOrReportedEveryProgramWithTheDefaultTime)
{
    const ScratchDirectory scratch;
    const std::string first = run(scratch, "first", "0");
    const auto ended_ns = std::chrono::steady_clock::now().time_since_epoch().count();
    EXPECT_TRUE(contains(first, "builds 6 loads 0\n")) << first;
    const std::string second = run(scratch, "second", kTime);
    int builds = 0;
    int loads = 0;
    const size_t counts = second.find("builds ");
    ASSERT_NE(std::string::npos, counts) << second;
    ASSERT_EQ(2, std::sscanf(second.c_str() + counts, "builds %d loads %d", &builds, &loads)) << second;
    EXPECT_EQ(6, builds + loads);
    if (!is_pocl()) {
        EXPECT_EQ(0, builds);
    }
    EXPECT_EQ(builds != 0, contains(first, "not stored before the process ended")) << first;
    if (builds > 1) {
        EXPECT_TRUE(contains(first, std::to_string(builds) + " programs were not stored")) << first;
    }
    long long returned_ns = 0;
    const size_t returned = first.find("main returned at ");
    ASSERT_NE(std::string::npos, returned) << first;
    ASSERT_EQ(1, std::sscanf(first.c_str() + returned, "main returned at %lld", &returned_ns)) << first;
    std::printf("from the return of main, the process took %lld ms to store %d of 6 programs and end; 5,000 ms is the "
                "default limit\n",
                (static_cast<long long>(ended_ns) - returned_ns) / 1000000, loads);
}

/* PoCL creates static objects at the first launch, here after the last build. So exit() destroys them before it calls
 * handlers that were registered at the build. */
TEST(ConvertedLibrary, StoresAProgramThatWasLaunchedAfterTheLastBuild)
{
    const ScratchDirectory scratch;
    const std::string first = run(scratch, "first", kTime, 1);
    EXPECT_TRUE(contains(first, "builds 1 loads 0\n")) << first;
    const std::string second = run(scratch, "second", kTime, 1);
    EXPECT_TRUE(contains(second, "builds 0 loads 1\n")) << second;
}

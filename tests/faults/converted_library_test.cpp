/*
 * converted_library_test.cpp - tests that a process stores what it compiled, although it never flushes its store and
 * never releases its objects.
 */
#include <gtest/gtest.h>

#include "support/child_process.h"
#include "support/scratch_directory.h"

namespace
{

/* Runs converted_child with an empty driver cache. Returns its output. */
std::string run(const ScratchDirectory &scratch, const std::string &name, int program_count = 6)
{
    const std::filesystem::path driver_cache = scratch.path() / ("driver-" + name);
    std::filesystem::create_directory(driver_cache);
    child_process::Child child({CONVERTED_CHILD, (scratch.path() / "store").string(), std::to_string(program_count)},
                               (scratch.path() / name).string(),
                               {{"POCL_CACHE_DIR", driver_cache.string()}, {"INGOT_TRACE", "1"}});
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
    const std::string first = run(scratch, "first");
    EXPECT_TRUE(contains(first, "builds 6 loads 0\n")) << first;
    for (const char *name : {"second", "third"}) {
        const std::string output = run(scratch, name);
        EXPECT_TRUE(contains(output, "builds 0 loads 6\n")) << name << ":\n" << output;
    }
}

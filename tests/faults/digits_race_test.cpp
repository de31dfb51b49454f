/*
 * digits_race_test.cpp - tests processes that start the digits example at the same time on an empty store: eight, or
 * four if the device computes, which takes longest.
 */
#include "examples/digits_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

namespace
{

using digits::DigitsProcess;

/* Returns the paths of everything in a store, relative to its root. */
std::vector<std::string> list_store(const std::string &root)
{
    std::vector<std::string> paths;
    for (const auto &item : std::filesystem::recursive_directory_iterator(root))
        paths.push_back(std::filesystem::relative(item.path(), root).string());
    return paths;
}

void expect_whole_entries_only(const std::string &root, size_t entries)
{
    const std::regex known("CACHEDIR\\.TAG|size\\.txt|lock|tmp|[0-9a-f]{2}(/[0-9a-f]{30}(/(key|kernel)\\.bin)?)?");
    size_t keys = 0, blobs = 0;
    for (const std::string &path : list_store(root)) {
        EXPECT_TRUE(std::regex_match(path, known)) << path << " was left over";
        const std::string file = std::filesystem::path(path).filename().string();
        keys += file == "key.bin";
        blobs += file == "kernel.bin";
    }
    EXPECT_EQ(entries, keys);
    EXPECT_EQ(entries, blobs);
}

TEST(DigitsRace, ProcessesOnAnEmptyStoreAllRun)
{
    std::vector<std::unique_ptr<DigitsProcess>> runs;
    for (int i = 0; i < (digits::computes() ? 4 : 8); ++i)
        runs.push_back(std::make_unique<DigitsProcess>("racer-" + std::to_string(i),
                                                       std::vector<std::string>{"--store", "store"}));
    for (const auto &run : runs) {
        ASSERT_EQ(0, run->wait()) << run->output();
        EXPECT_EQ("0", run->value("differences"));
        EXPECT_EQ(runs[0]->value("accuracy"), run->value("accuracy"));
        EXPECT_EQ(digits::program_count, run->count_origin("build") + run->count_origin("storage"));
    }
    expect_whole_entries_only("store", digits::program_count);

    DigitsProcess after("after", {"--store", "store"});
    ASSERT_EQ(0, after.wait()) << after.output();
    EXPECT_EQ(digits::program_count, after.count_origin("storage"));
    EXPECT_EQ("0", after.value("compilations"));
}

} // namespace

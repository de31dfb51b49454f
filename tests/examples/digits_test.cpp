/*
 * digits_test.cpp - runs the digits example with an empty store, then in another process with the filled store, and
 * checks what each run compiled.
 */
#include "examples/digits_process.h"

#include <gtest/gtest.h>

namespace
{

namespace fs = std::filesystem;
using digits::DigitsProcess;

void expect_right_answers(const DigitsProcess &run)
{
    if (!digits::computes()) {
        EXPECT_EQ("0", run.value("images"));
        return;
    }
    EXPECT_EQ("500", run.value("images"));
    EXPECT_EQ("0", run.value("differences"));
    EXPECT_GE(std::stod(run.value("accuracy")), 0.97);
}

void expect_all_built(DigitsProcess &run)
{
    ASSERT_EQ(0, run.wait()) << run.output();
    EXPECT_EQ("8", run.value("compilations"));
    EXPECT_EQ(digits::program_count, run.count_origin("build"));
    expect_right_answers(run);
}

void expect_all_loaded(DigitsProcess &run)
{
    ASSERT_EQ(0, run.wait()) << run.output();
    EXPECT_EQ("0", run.value("compilations"));
    EXPECT_EQ("8", run.value("loads"));
    EXPECT_EQ(digits::program_count, run.count_origin("storage"));
    expect_right_answers(run);
}

TEST(DigitsExample, CompilesNothingInTheSecondProcess)
{
    DigitsProcess cold("cold", {"--store", "store"});
    expect_all_built(cold);
    DigitsProcess warm("warm", {"--store", "store"});
    expect_all_loaded(warm);
    EXPECT_EQ(cold.value("accuracy"), warm.value("accuracy"));
}

TEST(DigitsExample, CompilesAllWithoutAStore)
{
    DigitsProcess run("bare", {});
    expect_all_built(run);
}

TEST(DigitsExample, ComesFromStorageWhicheverWayItWasStored)
{
    for (const std::string mode : {"now", "flush"}) {
        const std::vector<std::string> options = {"--store", "store-" + mode, "--store-mode", mode};
        DigitsProcess cold("cold-" + mode, options);
        expect_all_built(cold);
        DigitsProcess warm("warm-" + mode, options);
        expect_all_loaded(warm);
    }
}

/* Returns the directory of the first entry of a store. */
fs::path first_entry_of(const fs::path &root)
{
    for (const auto &item : fs::recursive_directory_iterator(root))
        if (item.path().filename() == "key.bin")
            return item.path().parent_path();
    return {};
}

/* The test puts a file where the store expects the shard in which it prepares the entry. Permissions would not be
 * enough, because root may write to every directory. */
TEST(DigitsExample, RunsWhenTheStoreCannotBeUsedForWriting)
{
    const fs::path store = "store-read-only";
    DigitsProcess cold("before", {"--store", store});
    expect_all_built(cold);
    const fs::path entry = first_entry_of(store);
    ASSERT_NE("", entry);
    fs::remove_all(entry.parent_path());
    std::ofstream(entry.parent_path()) << "a file\n";
    for (const std::string name : {"after", "again"}) {
        DigitsProcess run(name, {"--store", store});
        ASSERT_EQ(0, run.wait()) << run.output();
        EXPECT_EQ("1", run.value("compilations"));
        EXPECT_EQ("7", run.value("loads"));
        expect_right_answers(run);
        EXPECT_FALSE(fs::exists(entry));
    }
}

TEST(DigitsExample, SaysWhatIsWrongWithItsArguments)
{
    DigitsProcess unknown("unknown", {"--frobnicate", "yes"});
    EXPECT_EQ(2, unknown.wait());
    EXPECT_NE(std::string::npos, unknown.output().find("usage:"));
    DigitsProcess nowhere("nowhere", {"--platform", "no such platform"});
    EXPECT_EQ(1, nowhere.wait());
    EXPECT_NE(std::string::npos, nowhere.output().find("no OpenCL platform"));
}

} // namespace

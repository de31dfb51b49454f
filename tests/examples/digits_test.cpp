/*
 * digits_test.cpp - runs the digits example cold, then warm in another process, and checks what each run compiled.
 */
#include "examples/digits_process.h"

#include <gtest/gtest.h>

namespace
{

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

TEST(DigitsExample, RunsWhenTheStoreCannotBeUsedForWriting)
{
    DigitsProcess cold("before", {"--store", "store-read-only"});
    expect_all_built(cold);
    ASSERT_EQ(0, chmod("store-read-only", 0500));
    DigitsProcess warm("after", {"--store", "store-read-only"});
    expect_all_loaded(warm);
    ASSERT_EQ(0, chmod("store-read-only", 0700));
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

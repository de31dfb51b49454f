/*
 * Tests the Level Zero layer with an application that does not know it: everything that the application can see is the
 * same as without the layer, and a second process compiles nothing.
 */
#include <gtest/gtest.h>

#include "support/child_process.h"
#include "support/scratch_directory.h"

namespace
{

using Environment = child_process::Child::Environment;
using Counts = std::map<std::string, uint64_t>;
using Words = std::vector<std::string>;

/* How often a test is repeated. INGOT_TEST_TRIALS asks for another number. */
int trials(int usual)
{
    const char *wanted = std::getenv("INGOT_TEST_TRIALS");
    return wanted != nullptr ? std::atoi(wanted) : usual;
}

class LevelZeroLayer : public testing::Test
{
protected:
    std::string path(const std::string &name) const { return (scratch_.path() / name).string(); }

    Environment environment(const Environment &more = {}) const
    {
        Environment all = more;
        all.insert({{"ZE_ENABLE_ALT_DRIVERS", LAYER},
                    {"INGOT_PERSIST_DIR", path("store")},
                    {"INGOT_PERSIST_LOCK_TIMEOUT", "60s"},
                    {"INGOT_LAYER_STATS", path("stats")}});
        return all;
    }

    std::string run(const std::vector<std::string> &arguments, const Environment &variables, int expected = 0)
    {
        std::vector<std::string> command = {CLIENT};
        command.insert(command.end(), arguments.begin(), arguments.end());
        child_process::Child child(command, path("output"), variables);
        EXPECT_EQ(expected, child.wait()) << child.output();
        return child.output();
    }

    /* Runs a shell command as `ingot run` does. */
    std::string run_with_tool(const std::string &script, Environment variables)
    {
        variables.insert({{"INGOT_PERSIST_DIR", path("store")}, {"INGOT_LAYER_STATS", path("stats")}});
        child_process::Child child({CLI_PROGRAM, "run", "--", "/bin/sh", "-c", script}, path("output"), variables);
        EXPECT_EQ(0, child.wait()) << child.output();
        return child.output();
    }

    /* Returns the sums of the counts that layers have written since the last call. */
    Counts counts()
    {
        Counts sums;
        std::ifstream stats(path("stats"));
        for (std::string line; std::getline(stats, line);) {
            const size_t equals = line.find('=');
            sums[line.substr(0, equals)] += std::stoull(line.substr(equals + 1));
        }
        stats.close();
        std::filesystem::remove(path("stats"));
        return sums;
    }

    ScratchDirectory scratch_;
};

} // namespace

TEST_F(LevelZeroLayer, ChangesNothingThatAnApplicationSees)
{
    for (const Words &sequences : {Words{"1", "15"}, {"1", "4", "1", std::to_string(trials(5))}}) {
        const std::string bare = run(sequences, {});
        EXPECT_NE(std::string::npos, bare.find("kernels 0 "));
        EXPECT_EQ(bare, run(sequences, environment())) << "cold, seed " << sequences[0];
        const Counts cold = counts();
        EXPECT_EQ(bare, run(sequences, environment())) << "warm, seed " << sequences[0];
        Counts warm = counts();
        EXPECT_EQ(0u, warm["builds"]);
        EXPECT_LT(0u, warm["passed"]); /* and these are not also counted as builds */
        EXPECT_LT(0u, warm["hits"]);
        EXPECT_LE(cold.count("builds"), cold.at("stored"));
    }
}

TEST_F(LevelZeroLayer, IsSeenToBeWrongByTheTestAbove)
{
    EXPECT_NE(run({"1", "15"}, {}), run({"1", "15"}, environment({{"LEVEL_ZERO_CLIENT_LIE", "1"}})));
}

TEST_F(LevelZeroLayer, ServesSixteenThreads)
{
    const std::string bare = run({"7", "4", "16"}, {});
    EXPECT_EQ(bare, run({"7", "4", "16"}, environment()));
    EXPECT_LT(0u, counts()["builds"]);
    EXPECT_EQ(bare, run({"7", "4", "16"}, environment()));
    EXPECT_EQ(0u, counts()["builds"]);
}

/* The client prints results and logs. The modules that it makes from native binaries are not compiled. */
TEST_F(LevelZeroLayer, RefusesToCompileWithAReasonIfAMissMustFail)
{
    const std::string bare = run({"4", "10"}, environment());
    counts();
    const std::string reported =
        run({"4", "10"}, environment({{"INGOT_ON_MISS", "report"}, {"INGOT_PERSIST_READ_ONLY", "1"}}));
    EXPECT_EQ(0u, reported.find("ingot: miss: ")); /* modules that do not compile are never in a store */
    EXPECT_EQ(bare, reported.substr(reported.find("\nsequence ") + 1));
    EXPECT_EQ(0u, counts()["builds"]);
    const std::string refused =
        run({"1", "15"}, environment({{"INGOT_ON_MISS", "fail"}, {"INGOT_PERSIST_DIR", path("empty")}}));
    EXPECT_NE(std::string::npos, refused.find(": 70000004 log 0,")) << refused;
    EXPECT_NE(std::string::npos, refused.find("\"miss: no entry to compare with")) << refused;
    EXPECT_EQ(std::string::npos, refused.find("kernels 0 ")) << refused;
    Counts of_refused = counts();
    EXPECT_EQ(0u, of_refused["builds"] + of_refused["passed"]);
    EXPECT_FALSE(std::filesystem::exists(path("empty/0")));
    const std::string without =
        run({"1", "15"}, environment({{"INGOT_ON_MISS", "fail"}, {"INGOT_PERSIST_DIR", "/proc/none"}}));
    EXPECT_NE(std::string::npos, without.find("\"miss: the cache has no storage\"")) << without;
}

TEST_F(LevelZeroLayer, WorksWithoutAStore)
{
    const std::string bare = run({"4", "10"}, {});
    std::ofstream(path("file")) << "not a directory";
    EXPECT_EQ(bare, run({"4", "10"}, environment({{"INGOT_PERSIST_DIR", path("file")}})));
    EXPECT_EQ(bare,
              run({"4", "10"}, environment({{"INGOT_PERSIST_DIR", "/proc/none"}, {"INGOT_TRACE", path("trace")}})));
    std::ifstream trace(path("trace"));
    const std::string text{std::istreambuf_iterator<char>(trace), {}};
    EXPECT_NE(std::string::npos, text.find("the Level Zero layer caches nothing")) << text;
    EXPECT_EQ(bare, run({"4", "10"}, environment({{"INGOT_PERSIST", "0"}})));
    EXPECT_EQ(bare, run({"4", "10"}, environment({{"INGOT_LAYER_DISABLE", "1"}})));
    EXPECT_FALSE(std::filesystem::exists(path("store")));
}

/* An application without a driver ends in the same way without the layer. */
TEST_F(LevelZeroLayer, SaysThatThereIsNoDriver)
{
    run({"1", "1"}, {{"ZE_ENABLE_ALT_DRIVERS", "libno_such_driver.so"}}, 2);
    const std::string output = run({"1", "1"}, environment({{"INGOT_LEVEL_ZERO_DRIVER", "libno_such_driver.so"}}), 2);
    EXPECT_NE(std::string::npos, output.find("INGOT_LEVEL_ZERO_DRIVER: libno_such_driver.so")) << output;
}

TEST_F(LevelZeroLayer, DoesNotCallItself)
{
    run({"1", "1"}, environment({{"INGOT_LEVEL_ZERO_DRIVER", LAYER}}), 2);
}

/* Logs and links are left out: with two drivers, the loader 1.8 returns logs of failed builds without its wrapper, and
 * crashes when modules are linked without a log. */
TEST_F(LevelZeroLayer, MayBeNamedTwice)
{
    const Environment bare = {{"ZE_ENABLE_ALT_DRIVERS", "libze_intel_gpu.so.1,libze_intel_gpu.so.1"},
                              {"LEVEL_ZERO_CLIENT_NO_LOG", "1"}};
    const std::string twice = std::string(LAYER) + "," + LAYER;
    EXPECT_EQ(run({"4", "10"}, bare),
              run({"4", "10"}, environment({{"ZE_ENABLE_ALT_DRIVERS", twice}, {"LEVEL_ZERO_CLIENT_NO_LOG", "1"}})));
}

TEST_F(LevelZeroLayer, RepairsADamagedEntry)
{
    const std::string bare = run({"4", "10"}, environment());
    for (const auto &file : std::filesystem::recursive_directory_iterator(path("store"))) {
        if (file.path().filename() == "kernel.bin")
            std::fstream(file.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(200) << "damaged";
    }
    counts();
    EXPECT_EQ(bare, run({"4", "10"}, environment()));
    EXPECT_LT(0u, counts()["builds"]);
    EXPECT_EQ(bare, run({"4", "10"}, environment()));
    EXPECT_EQ(0u, counts()["builds"]);
}

TEST_F(LevelZeroLayer, IsUsedUnderIngotRunButNotByAChildWithoutItsVariables)
{
    const std::string client = CLIENT " 4 10";
    const std::string bare = run({"4", "10"}, {});
    EXPECT_EQ(bare, run_with_tool(client, {}));
    EXPECT_LT(0u, counts()["builds"]);
    EXPECT_EQ(bare, run_with_tool(client, {}));
    EXPECT_EQ(0u, counts()["builds"]);
    for (const char *without : {"env -u ZE_ENABLE_ALT_DRIVERS ", "INGOT_LAYER_DISABLE=1 "}) {
        EXPECT_EQ(bare, run_with_tool(without + client, {}));
        EXPECT_EQ(0u, counts()["programs"]) << without;
    }
    EXPECT_EQ(bare, run_with_tool(client, {{"ZE_ENABLE_ALT_DRIVERS", "libze_intel_gpu.so.1"}}));
    EXPECT_EQ(0u, counts()["programs"]) << "the user's own list of drivers is left alone";
}

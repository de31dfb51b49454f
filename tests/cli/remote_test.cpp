/*
 * remote_test.cpp - the command that checks servers.
 */
#include "cli/tool.h"
#include "support/server_process.h"

namespace
{

using CliRemote = CliTest;

TEST_F(CliRemote, ChecksAServer)
{
    const server_process::Redis redis;
    const Result result = run({"remote", "check", redis.url()});
    EXPECT_EQ(0, result.code) << result.output;
    for (const char *text : {"connecting", "round trip", "storing", "loading", "the server works"})
        EXPECT_NE(std::string::npos, result.output.find(text)) << result.output;
    EXPECT_EQ("0\n", redis.ask({"DBSIZE"}));
    EXPECT_EQ("INGOT_SUCCESS done True",
              json("remote check " + redis.url(), "j[\"status\"], j[\"step\"], j[\"round_trip_ns\"] > 0, sep=' '"));
    EXPECT_EQ(0, run_command({CLI_PROGRAM, "remote", "check"}, {{"INGOT_PERSIST_REMOTE", redis.url()}}).code);
    const Result reading = run({"remote", "check", "--read-only", redis.url()});
    EXPECT_EQ(0, reading.code) << reading.output;
    EXPECT_EQ(std::string::npos, reading.output.find("storing")) << reading.output;
}

TEST_F(CliRemote, TellsWhatIsWrong)
{
    const std::string url = "redis://127.0.0.1:" + std::to_string(server_process::free_port());
    const Result refused = run({"remote", "check", url});
    EXPECT_EQ(1, refused.code);
    EXPECT_NE(std::string::npos, refused.output.find("connecting failed")) << refused.output;
    const server_process::Redis locked({"--requirepass", "hunter2"});
    const Result rejected = run({"remote", "check", locked.url()});
    EXPECT_EQ(1, rejected.code);
    EXPECT_NE(std::string::npos, rejected.output.find("NOAUTH")) << rejected.output;
}

TEST_F(CliRemote, KnowsWrongUsage)
{
    EXPECT_EQ(2, run({"remote"}).code);
    EXPECT_EQ(2, run({"remote", "melt"}).code);
    EXPECT_EQ(2, run({"remote", "check", "ftp://host"}).code);
    EXPECT_EQ(2, run({"remote", "check", "redis://a", "redis://b"}).code);
    EXPECT_EQ(2, run_command({CLI_PROGRAM, "remote", "check"}, {{"INGOT_PERSIST_REMOTE", ""}}).code);
    EXPECT_EQ(2, run_command({CLI_PROGRAM, "remote", "check"},
                             {{"INGOT_PERSIST_REMOTE", "redis://a"}, {"INGOT_PERSIST_REMOTE_MODE", "x"}})
                     .code);
}

} // namespace

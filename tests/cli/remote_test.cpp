/*
 * remote_test.cpp - tests the commands that check servers, fill them, and load from them.
 */
#include "cli/tool.h"
#include "support/server_process.h"

namespace
{

using CliRemote = CliTest;

TEST_F(CliRemote, ChecksAServer)
{
    const server_process::Redis redis;
    const Result result = run({"push", "--check", redis.url()});
    EXPECT_TRUE(result.is(0));
    for (const char *text : {"connecting", "storing", "loading", "the server works"})
        EXPECT_TRUE(result.says(text));
    EXPECT_EQ("0\n", redis.ask({"DBSIZE"}));
    EXPECT_EQ("INGOT_SUCCESS done True",
              json("push --check " + redis.url(), "j[\"status\"], j[\"step\"], j[\"connect_ns\"] > 0, sep=' '"));
    EXPECT_EQ(0, tool({"push", "--check"}, {{"INGOT_PERSIST_REMOTE", redis.url()}}).code);
    const Result reading = run({"push", "--check", "--read-only", redis.url()});
    EXPECT_TRUE(reading.is(0));
    EXPECT_EQ(std::string::npos, reading.output.find("storing")) << reading.output;
}

TEST_F(CliRemote, TellsWhatIsWrong)
{
    const std::string url = server_process::closed_url();
    EXPECT_TRUE(run({"push", "--check", url}).is(1, "connecting failed"));
    const server_process::Redis locked({"--requirepass", "hunter2"});
    EXPECT_TRUE(run({"push", "--check", locked.url()}).is(1, "NOAUTH"));
}

TEST_F(CliRemote, KnowsWrongUsage)
{
    EXPECT_EQ(2, run({"push", "--check", "ftp://host"}).code);
    EXPECT_EQ(2, run({"push", "--check", "redis://a", "redis://b"}).code);
    EXPECT_TRUE(run({"push", "--read-only", "redis://a"}).is(2, "ingot push: --read-only is for --check\n"));
    EXPECT_TRUE(run({"push", "--check", "--kind", "artifact", "redis://a"}).is(2, "pushes nothing\n"));
    EXPECT_TRUE(tool({"push", "--check"}, {{"INGOT_PERSIST_REMOTE", ""}})
                    .is(2, "ingot: INGOT_PERSIST_REMOTE is not set; name a URL\n"));
    EXPECT_EQ(
        2, tool({"push", "--check"}, {{"INGOT_PERSIST_REMOTE", "redis://a"}, {"INGOT_PERSIST_REMOTE_MODE", "x"}}).code);
}

/* A store with programs, and a server. */
class CliPush : public CliTest
{
protected:
    static constexpr int kPrograms = 20;

    CliPush()
    {
        ReferenceDevice device;
        const Context context = device.make();
        const store_fixture::Store store = open_store();
        for (int i = 0; i < kPrograms; ++i) {
            ProgramText text;
            text.sources = {"kernel n" + std::to_string(i) + " x\n"};
            EXPECT_EQ(INGOT_SUCCESS, request_through(text.make(context), store.get()));
        }
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    }
    std::string push_counts() const
    {
        return json("push " + redis_.url(), "j[\"pushed\"], j[\"present\"], j[\"left_out\"], j[\"failed\"], sep=' '");
    }

    const server_process::Redis redis_;
};

TEST_F(CliPush, StoresWhatTheServerLacks)
{
    EXPECT_EQ("20 0 0 0", push_counts());
    EXPECT_EQ("20\n", redis_.ask({"DBSIZE"}));
    add_plain(3);
    EXPECT_EQ("3 20 0 0", push_counts());
    const Result again = run({"push", redis_.url()});
    EXPECT_EQ(0, again.code);
    EXPECT_EQ("pushed 0 entries (0 B sent); the server already had 23; 0 left out, 0 failed\n", again.output);
}

TEST_F(CliPush, PushesOneKind)
{
    const auto pushed = [&](const std::string &kind) {
        return json("push --kind " + kind + " " + redis_.url(), "j[\"pushed\"], j[\"present\"], sep=' '");
    };
    EXPECT_EQ("0 0", pushed("triton"));
    EXPECT_EQ("20 0", pushed("program"));
}

TEST_F(CliPush, WaitsForUploadsThatTheTierCouldDrop)
{
    fs::remove_all(root());
    add_plain(400, 1000);
    EXPECT_EQ("400 0 0 0", push_counts());
    EXPECT_EQ("400\n", redis_.ask({"DBSIZE"}));
}

TEST_F(CliPush, LeavesOutBadEntries)
{
    damage(root() / names()[0] / "kernel.bin");
    EXPECT_TRUE(run({"push", redis_.url()}).is(1, "1 left out"));
    EXPECT_EQ("19\n", redis_.ask({"DBSIZE"}));
}

TEST_F(CliPush, IsPulledIntoAnotherStore)
{
    const std::string counts = "j[\"entries\"], j[\"present\"], j[\"failed\"], sep=' '";
    add_plain(1100, 10); /* more than one part of the server's list */
    EXPECT_EQ("1120 0 0 0", push_counts());
    ASSERT_EQ("OK\n", redis_.ask({"SET", "ingot:1:default:" + std::string(64, 'g'), "no key"}));
    ASSERT_EQ("OK\n", redis_.ask({"SET", "ingot:1:default:" + std::string(64, 'a'), "no object"}));
    ASSERT_EQ("OK\n", redis_.ask({"SET", "ingot:1:other:" + std::string(64, 'b'), "another namespace"}));
    fs::remove_all(root());
    EXPECT_EQ("1120 0 1", json("pull " + redis_.url(), counts));
    EXPECT_EQ(0, run({"verify"}).code);
    EXPECT_EQ(1120u, names().size());
    ASSERT_EQ("1\n", redis_.ask({"DEL", "ingot:1:default:" + std::string(64, 'a')}));
    EXPECT_EQ("0 1120 0", json("pull " + redis_.url(), counts));
    damage(root() / names()[0] / "kernel.bin");
    EXPECT_EQ("1 1119 0", json("pull " + redis_.url(), counts)) << "a damaged entry is none";
    EXPECT_EQ(0, run({"verify"}).code);
    const Result other =
        tool({"pull", "--dir", (scratch() / "other").string(), redis_.url()}, {{"INGOT_PERSIST_NAMESPACE", "team"}});
    EXPECT_EQ("0 entries pulled; the store already had 0\n", other.output);
}

/* What another namespace of the store has is of no use where applications look. */
TEST_F(CliPush, IsPulledIntoEachNamespace)
{
    const std::string other = (scratch() / "other").string();
    EXPECT_EQ("20 0 0 0", push_counts());
    for (const auto &options : std::vector<std::vector<std::string>>{{"--namespace", "part"}, {}}) {
        std::vector<std::string> pull{"pull", "--dir", other, redis_.url()};
        pull.insert(pull.end(), options.begin(), options.end());
        EXPECT_EQ("20 entries pulled; the store already had 0\n", tool(pull).output);
        EXPECT_EQ("0 entries pulled; the store already had 20\n", tool(pull).output);
    }
}

/* A stranger, who has no key, has put programs on the server. */
TEST_F(CliPush, MovesOnlySealedProgramsIfSealsAreRequired)
{
    const std::string key = (scratch() / "key").string();
    EXPECT_EQ(0, run({"key", "--pair", key}).code);
    std::map<std::string, std::string> strict = {{"INGOT_PERSIST_TRUST", "require"},
                                                 {"INGOT_PERSIST_KEYS", key + ".pub"},
                                                 {"INGOT_PERSIST_DIR", (scratch() / "other").string()}};
    const auto expect_pull = [&](const std::string &expected) {
        EXPECT_TRUE(tool({"pull", redis_.url()}, strict).says(expected));
    };
    EXPECT_EQ("20 0 0 0", push_counts());
    expect_pull("0 entries pulled; the store already had 0, 20 failed");
    EXPECT_EQ("OK\n", redis_.ask({"FLUSHALL"}));

    std::map<std::string, std::string> producer = strict;
    producer["INGOT_PERSIST_DIR"] = root().string();
    EXPECT_TRUE(tool({"push", redis_.url()}, producer).is(1, "20 left out"));
    EXPECT_EQ("0\n", redis_.ask({"DBSIZE"}));
    EXPECT_EQ(0, run({"sign", "--keys", key}).code);
    EXPECT_EQ(0, tool({"push", redis_.url()}, producer).code);
    expect_pull("20 entries pulled; the store already had 0\n");
}

TEST_F(CliPush, FailsIfTheServerDoes)
{
    const std::string url = server_process::closed_url();
    EXPECT_TRUE(run({"push", url}).is(4, "asking the server failed"));
    const server_process::Redis reader({"--user", "default", "on", "nopass", "~*", "+get", "+exists"});
    add_plain(3);
    EXPECT_TRUE(run({"push", reader.url()}).is(4, "NOPERM"));
}

TEST_F(CliPush, KnowsWrongUsage)
{
    EXPECT_EQ(2, run({"push", "ftp://host"}).code);
    EXPECT_EQ(2, run({"push", "redis://a", "redis://b"}).code);
    EXPECT_EQ(2, run({"pull", "http://127.0.0.1:1"}).code) << "it cannot list";
    EXPECT_EQ(2, run({"pull", "--for", (scratch() / "none").string(), "ftp://a"}).code);
    EXPECT_EQ(3, run({"pull", "--for", (scratch() / "none").string(), "redis://a"}).code);
    EXPECT_EQ(3, tool({"push", "--dir", (scratch() / "none").string(), redis_.url()}).code);
}

} // namespace

/*
 * remote_test.cpp - tests the commands that check servers, fill them, and load from them.
 */
#include <ingot/prewarm.h>

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
    const std::string url = "redis://127.0.0.1:" + std::to_string(server_process::closed_port());
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

/* What `ingot run --adopt` stores is on the server when the tool has ended, and another machine gets it. */
TEST_F(CliRemote, GetsAdoptedFiles)
{
    const server_process::Redis redis;
    const std::string key = (scratch() / "key").string();
    const fs::path layer = scratch() / "layer.so";
    const fs::path python = scratch() / "bin" / "python3";
    ASSERT_EQ(0, run_command({CLI_PROGRAM, "key", "create", "--pair", key}).code);
    fs::create_directory(python.parent_path());
    store_fixture::write_file(layer, store_fixture::bytes_of("a layer"));
    store_fixture::write_file(python, store_fixture::bytes_of("#!/bin/sh\nprintf 'tool 1.0'\n"));
    fs::permissions(python, fs::perms::owner_all);
    const auto adopt = [&](const std::string &name, const std::string &command) {
        const std::string directory = (scratch() / name).string();
        return run_command({CLI_PROGRAM, "run", "--adopt", "tilelang=" + directory, "--", "/bin/sh", "-ec", command},
                           {{"D", directory},
                            {"INGOT_LAYER_PATH", layer.string()},
                            {"INGOT_PERSIST_DIR", directory + ".store"},
                            {"INGOT_PERSIST_KEYS", key},
                            {"INGOT_PERSIST_REMOTE", redis.url()},
                            {"INGOT_PERSIST_TRUST", "require"},
                            {"OPENCL_LAYERS", ""},
                            {"PATH", python.parent_path().string() + ":" + getenv("PATH")}});
    };
    EXPECT_EQ("", adopt("first", "mkdir $D/one; for i in $(seq 40); do echo $i >$D/one/$i; done").output);
    EXPECT_EQ("41\n", redis.ask({"DBSIZE"})) << "the files and the list";
    EXPECT_EQ("40\n", adopt("second", "cat $D/one/40").output);
}

/* A store with programs, the manifest of the run that compiled them, and a server. */
class CliPush : public CliTest
{
protected:
    static constexpr int kPrograms = 20;

    CliPush()
    {
        ReferenceDevice device;
        const Context context = device.make();
        const store_fixture::Store store = open_store();
        ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
        info.path = manifest_.c_str();
        EXPECT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &info));
        for (int i = 0; i < kPrograms; ++i) {
            ProgramText text;
            text.sources = {"kernel n" + std::to_string(i) + " x\n"};
            const Desc desc = text.make(context);
            ingot_program_t program = nullptr;
            EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), store.get(), nullptr));
            ingot_program_release(program);
        }
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    }
    std::string push_counts() const
    {
        return json("push " + redis_.url(), "j[\"pushed\"], j[\"present\"], j[\"left_out\"], j[\"failed\"], sep=' '");
    }
    std::string pull_counts() const
    {
        return json("pull --manifest " + manifest_ + " " + redis_.url(),
                    "j[\"pulled\"], j[\"present\"], j[\"missing\"], j[\"failed\"], sep=' '");
    }

    const server_process::Redis redis_;
    const std::string manifest_ = (scratch() / "manifest").string();
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

TEST_F(CliPush, PushesAndPullsOneKind)
{
    const auto pushed = [&](const std::string &kind) {
        return json("push --kind " + kind + " " + redis_.url(), "j[\"pushed\"], j[\"present\"], sep=' '");
    };
    EXPECT_EQ("0 0", pushed("triton"));
    EXPECT_EQ("20 0", pushed("program"));
    EXPECT_EQ("0", json("pull --kind triton --manifest " + manifest_ + " " + redis_.url(), "j[\"programs\"]"));
    EXPECT_EQ("20", json("pull --kind program --manifest " + manifest_ + " " + redis_.url(), "j[\"programs\"]"));
}

/* With a URL, too, the variables apply: applications look for their programs in that namespace. */
TEST_F(CliPush, UsesTheNamespaceOfTheEnvironment)
{
    const std::map<std::string, std::string> team = {{"INGOT_PERSIST_NAMESPACE", "team"}};
    const std::string other = (scratch() / "other").string();
    const auto pull = [&](const std::vector<std::string> &options) {
        std::vector<std::string> command = {CLI_PROGRAM, "pull", "--manifest", manifest_, "--dir", other};
        command.insert(command.end(), options.begin(), options.end());
        command.push_back(redis_.url());
        return command;
    };
    EXPECT_EQ(0, run_command({CLI_PROGRAM, "push", "--dir", root().string(), redis_.url()}, team).code);
    EXPECT_EQ(1, run_command(pull({})).code) << "nothing is in the namespace default";
    EXPECT_EQ(0, run_command(pull({}), team).code);
    EXPECT_TRUE(fs::exists(fs::path(other) / "team")) << "applications look for their programs there";
    const Result wrong = run_command({CLI_PROGRAM, "push", "--dir", root().string(), redis_.url()},
                                     {{"INGOT_PERSIST_REMOTE_MODE", "write"}});
    EXPECT_EQ(2, wrong.code);
    EXPECT_EQ("ingot: INGOT_PERSIST_REMOTE_MODE: \"write\" is not read or read-write\n", wrong.output);
}

/* A layer keeps each application's programs in a namespace of the store, and asks the server without one. */
TEST_F(CliPush, NamesAPartOfTheStoreAlone)
{
    const std::string app = (scratch() / "app").string();
    ASSERT_EQ(0, run_command({CLI_PROGRAM, "push", "--dir", root().string(), redis_.url()}).code);
    ASSERT_EQ(
        0, run_command({CLI_PROGRAM, "pull", "--manifest", manifest_, "--dir", app, "--namespace", "app", redis_.url()})
               .code);
    EXPECT_TRUE(fs::exists(fs::path(app) / "app"));
    ASSERT_EQ("OK\n", redis_.ask({"FLUSHALL"}));
    EXPECT_EQ(0, run_command({CLI_PROGRAM, "push", "--dir", app, "--namespace", "app", redis_.url()}).code);
    EXPECT_EQ("20\n", redis_.ask({"DBSIZE"}));
    const std::string other = (scratch() / "other").string();
    EXPECT_EQ(0, run_command({CLI_PROGRAM, "pull", "--manifest", manifest_, "--dir", other, redis_.url()}).code);
}

/* A pull says why a program that the server has does not get into the store, and nothing about the others. */
TEST_F(CliPush, TellsWhyAProgramIsNotStored)
{
    EXPECT_EQ("20 0 0 0", push_counts());
    fs::remove_all(root());
    const Result whole = run({"pull", "--manifest", manifest_, redis_.url()});
    EXPECT_EQ(0u, whole.output.find("pulled 20 of 20 programs")) << whole.output;
    EXPECT_EQ(1, std::count(whole.output.begin(), whole.output.end(), '\n')) << whole.output;
    const Result result =
        run_command({CLI_PROGRAM, "pull", "--manifest", manifest_, redis_.url()},
                    {{"INGOT_PERSIST_DIR", (scratch() / "small").string()}, {"INGOT_PERSIST_MAX_BLOB", "1"}});
    EXPECT_EQ(4, result.code);
    EXPECT_NE(std::string::npos, result.output.find("was not promoted")) << result.output;
}

/* A stranger, who has no key, has put programs on the server. */
TEST_F(CliPush, MovesOnlySealedProgramsIfSealsAreRequired)
{
    const std::string key = (scratch() / "key").string();
    EXPECT_EQ(0, run({"key", "create", "--pair", key}).code);
    const std::map<std::string, std::string> strict = {{"INGOT_PERSIST_TRUST", "require"},
                                                       {"INGOT_PERSIST_KEYS", key + ".pub"},
                                                       {"INGOT_PERSIST_DIR", (scratch() / "other").string()}};
    const auto expect_pull = [&](const char *command, const std::string &expected) {
        std::vector<std::string> words = {CLI_PROGRAM, command};
        if (std::string(command) == "pull")
            words.emplace_back("--manifest");
        words.insert(words.end(), {manifest_, redis_.url()});
        const Result result = run_command(words, strict);
        EXPECT_NE(std::string::npos, result.output.find(expected)) << result.output;
    };
    EXPECT_EQ("20 0 0 0", push_counts());
    expect_pull("pull", "pulled 0 of 20");
    expect_pull("warm", "0 of 20 programs are in the store");
    EXPECT_EQ("OK\n", redis_.ask({"FLUSHALL"}));

    std::map<std::string, std::string> producer = strict;
    producer["INGOT_PERSIST_DIR"] = root().string();
    const Result refused = run_command({CLI_PROGRAM, "push", redis_.url()}, producer);
    EXPECT_EQ(1, refused.code);
    EXPECT_NE(std::string::npos, refused.output.find("20 left out")) << refused.output;
    EXPECT_EQ("0\n", redis_.ask({"DBSIZE"}));
    EXPECT_EQ(0, run({"sign", "--keys", key}).code);
    EXPECT_EQ(0, run_command({CLI_PROGRAM, "push", redis_.url()}, producer).code);
    expect_pull("pull", "pulled 20 of 20");
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
    const Result result = run({"push", redis_.url()});
    EXPECT_EQ(1, result.code) << result.output;
    EXPECT_NE(std::string::npos, result.output.find("1 left out")) << result.output;
    EXPECT_EQ("19\n", redis_.ask({"DBSIZE"}));
}

TEST_F(CliPush, IsPulledIntoAnotherStore)
{
    EXPECT_EQ("20 0 0 0", push_counts());
    fs::remove_all(root());
    EXPECT_EQ("20 0 0 0", pull_counts());
    EXPECT_EQ(20u, names().size());
    EXPECT_EQ("0 20 0 0", pull_counts());
    EXPECT_EQ(0, run({"verify"}).code);

    fs::remove_all(root());
    EXPECT_EQ("OK\n", redis_.ask({"FLUSHALL"}));
    EXPECT_EQ(1, run({"pull", "--manifest", manifest_, redis_.url()}).code);
    EXPECT_EQ(0u, names().size());
}

TEST_F(CliPush, FailsIfTheServerDoes)
{
    const std::string url = "redis://127.0.0.1:" + std::to_string(server_process::closed_port());
    const Result pushed = run({"push", url});
    EXPECT_EQ(4, pushed.code) << pushed.output;
    EXPECT_NE(std::string::npos, pushed.output.find("asking the server failed")) << pushed.output;
    fs::remove_all(root());
    const Result pulled = run({"pull", "--manifest", manifest_, url});
    EXPECT_EQ(4, pulled.code) << pulled.output;
    const server_process::Redis reader({"--user", "default", "on", "nopass", "~*", "+get", "+exists"});
    add_plain(3);
    const Result refused = run({"push", reader.url()});
    EXPECT_EQ(4, refused.code) << refused.output;
    EXPECT_NE(std::string::npos, refused.output.find("NOPERM")) << refused.output;
}

TEST_F(CliPush, WarmsAStoreAndListsWhatItLacks)
{
    const std::string counts =
        "j[\"pulled\"], j[\"present\"], j[\"missing\"], j[\"failed\"], len(j[\"lacking\"]), sep=' '";
    EXPECT_EQ("0 20 0 0 0", json("warm " + manifest_, counts)) << "no server is asked";
    EXPECT_EQ(0, run({"warm", manifest_}).code);
    EXPECT_EQ("20 0 0 0", push_counts());
    fs::remove_all(root());
    EXPECT_EQ(3, run({"warm", manifest_}).code);
    EXPECT_FALSE(fs::exists(root())) << "without a server, nothing can be stored";
    add_plain(1);
    const Result lacking = run({"warm", manifest_});
    EXPECT_EQ(1, lacking.code);
    EXPECT_EQ(0u,
              lacking.output.find("0 of 20 programs are in the store (0 of them from the server, 0 B loaded); 20 are "
                                  "missing; 0 failed\nMISSING "))
        << lacking.output;
    EXPECT_EQ(22, std::count(lacking.output.begin(), lacking.output.end(), '\n')) << lacking.output;
    EXPECT_EQ("20 0 0 0 0", json("warm " + manifest_ + " " + redis_.url(), counts));
    EXPECT_EQ(0, run({"verify"}).code);

    /* A damaged program is loaded again. If the server has lost it, it is missing. */
    damage(root() / names()[0] / "kernel.bin");
    EXPECT_EQ("1 19 0 0 0", json("warm " + manifest_ + " " + redis_.url(), counts)) << "it is loaded again";
    damage(root() / names()[0] / "kernel.bin");
    EXPECT_EQ("OK\n", redis_.ask({"FLUSHALL"}));
    EXPECT_EQ("0 19 1 0 1", json("warm " + manifest_ + " " + redis_.url(), counts));
    EXPECT_EQ("reference True",
              json("warm " + manifest_ + " " + redis_.url(),
                   "j[\"lacking\"][0][\"backend\"], len(j[\"lacking\"][0][\"source\"]) > 12, sep=' '"));

    const std::string down = "redis://127.0.0.1:" + std::to_string(server_process::closed_port());
    const Result failed = run({"warm", manifest_, down});
    EXPECT_EQ(4, failed.code) << failed.output;
    EXPECT_NE(std::string::npos, failed.output.find("19 of 20 programs")) << failed.output;
}

TEST_F(CliPush, WarmsAStoreThatIsTooSmall)
{
    EXPECT_EQ("20 0 0 0", push_counts());
    const std::string path = (scratch() / "small").string();
    const std::map<std::string, std::string> environment = {{"INGOT_PERSIST_DIR", path},
                                                            {"INGOT_PERSIST_MAX_SIZE", "6K"}};
    const Result small = run_command({CLI_PROGRAM, "warm", manifest_, redis_.url()}, environment);
    EXPECT_EQ(1, small.code) << small.output;
    const Result now = run_command({CLI_PROGRAM, "warm", manifest_}, environment);
    EXPECT_EQ(1, now.code) << now.output;
    const std::string first_line = now.output.substr(0, now.output.find(" programs are in the store"));
    EXPECT_EQ(0u, first_line.find_first_of("123456789")) << now.output;
    EXPECT_NE(std::string::npos, small.output.find(first_line + " programs are in the store")) << small.output;
    EXPECT_NE(std::string::npos, small.output.find("evicted")) << small.output;
}

TEST_F(CliPush, ListsDamagedProgramsWithoutAServer)
{
    damage(root() / names()[0] / "kernel.bin");
    const Result result = run({"warm", manifest_});
    EXPECT_EQ(1, result.code) << result.output;
    EXPECT_EQ(0u, result.output.find("19 of 20 programs are in the store")) << result.output;
}

TEST_F(CliPush, KnowsWrongUsage)
{
    EXPECT_EQ(2, run({"warm"}).code);
    EXPECT_EQ(2, run({"warm", manifest_, "redis://a", "redis://b"}).code);
    EXPECT_EQ(3, run({"warm", (scratch() / "none").string()}).code);
    EXPECT_EQ(2, run({"warm", manifest_, "ftp://a"}).code);
    EXPECT_EQ(2, run({"push", "ftp://host"}).code);
    EXPECT_EQ(2, run({"push", "redis://a", "redis://b"}).code);
    EXPECT_EQ(2, run({"pull", "redis://a"}).code);
    EXPECT_EQ(2, run({"pull", "--manifest", manifest_, "redis://a", "redis://b"}).code);
    EXPECT_EQ(3, run({"pull", "--manifest", (scratch() / "none").string(), "redis://a"}).code);
    EXPECT_EQ(3, run_command({CLI_PROGRAM, "push", "--dir", (scratch() / "none").string(), redis_.url()}).code);
}

} // namespace

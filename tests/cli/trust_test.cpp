/*
 * trust_test.cpp - tests `ingot key`, `ingot sign` and `ingot verify --require`.
 */
#include "tool.h"

extern "C" {
#include "persist/storage/kinds.h"
#include "persist/storage/storage.h"
}

namespace
{

class CliTrust : public CliTest
{
protected:
    std::string path(const char *name) const { return scratch() / name; }
    void make_keys() const
    {
        ASSERT_EQ(0, tool({"key", "--pair", path("ci")}).code);
        ASSERT_EQ(0, tool({"key", "--secret", path("fleet")}).code);
    }
};

} // namespace

TEST_F(CliTrust, CreatesAndShowsKeysWithoutTheirSecrets)
{
    EXPECT_TRUE(tool({"key", "--pair", path("ci")}).is(0));
    struct stat found = {};
    ASSERT_EQ(0, stat(path("ci").c_str(), &found));
    EXPECT_EQ(0600u, found.st_mode & 07777u);
    const auto text = store_fixture::read_file(path("ci"));
    const std::string secret = std::string(text.begin(), text.end()).substr(text.size() - 65, 64);
    const Result shown = tool({"show", path("ci"), path("ci.pub")});
    EXPECT_TRUE(shown.is(0, "ed25519 secret, id "));
    EXPECT_TRUE(shown.says("ed25519 public, id "));
    EXPECT_EQ(std::string::npos, shown.output.find(secret));
    EXPECT_EQ("True ed25519 public",
              json("show " + path("ci") + " " + path("ci.pub"), "j[0]['id'] == j[1]['id'], j[1]['kind']"));
    EXPECT_EQ(4, tool({"key", "--secret", path("ci")}).code) << "it exists";
    EXPECT_EQ(text, store_fixture::read_file(path("ci")));
    ASSERT_EQ(0, chmod(path("ci").c_str(), 0644));
    const Result refused = tool({"show", path("ci")});
    EXPECT_TRUE(refused.is(1, "nor a key: "));
    EXPECT_EQ(std::string::npos, refused.output.find(secret));
    for (const std::vector<std::string> &wrong : {std::vector<std::string>{"key"},
                                                  {"key", "make"},
                                                  {"key", path("x")},
                                                  {"key", "--secret", path("x"), "--pair", path("y")}}) {
        EXPECT_EQ(2, tool(wrong).code) << wrong.back();
    }
}

TEST_F(CliTrust, SignsAStoreAndRequiresSeals)
{
    make_keys();
    add_plain(3);
    add_program("alpha", "1", ProgramText(), "app");
    EXPECT_EQ(0, run({"verify", "--keys", path("ci.pub")}).code);
    EXPECT_EQ(1, run({"verify", "--require", "--keys", path("ci.pub")}).code);
    EXPECT_EQ("4 4", json("verify --require --keys " + path("ci.pub"), "j['left_alone'], len(j['problems'])"));
    EXPECT_EQ(4, run({"sign", "--keys", path("ci.pub")}).code) << "a public key cannot seal";
    EXPECT_EQ(1, run({"verify", "--require", "--keys", path("ci.pub")}).code);
    const Result sealed = run({"sign", "--keys", path("ci")});
    EXPECT_TRUE(sealed.is(0, "4 entries sealed"));
    EXPECT_EQ(4u, names().size());
    EXPECT_EQ("0 4", json("sign --keys " + path("ci") + ":" + path("fleet"), "j['sealed'], j['unchanged']"))
        << "with its time of creation";
    EXPECT_EQ(0, run({"verify", "--require", "--keys", path("ci.pub")}).code);
    EXPECT_EQ(0, run({"verify"}).code) << "the checksums are those of the sealed blobs";
    EXPECT_EQ(1, run({"verify", "--keys", path("fleet")}).code) << "another key";

    EXPECT_EQ(1, run({"sign", "--keys", path("fleet")}).code) << "seals of an unknown key stay";
    EXPECT_EQ(0, run({"verify", "--require", "--keys", path("ci.pub")}).code);
    EXPECT_EQ("4 0", json("sign --keys " + path("fleet") + ":" + path("ci"), "j['sealed'], j['refused']"));
    EXPECT_EQ(0, run({"verify", "--require", "--keys", path("fleet")}).code);
    EXPECT_EQ(1, run({"verify", "--require", "--keys", path("ci.pub")}).code);
}

TEST_F(CliTrust, BundlesKeepSeals)
{
    make_keys();
    add_plain(2);
    ASSERT_EQ(0, run({"sign", "--keys", path("ci")}).code);
    ASSERT_EQ(0, run({"bundle", path("bundle")}).code);
    ASSERT_EQ(0, run({"evict", "--all"}).code);
    ASSERT_EQ(0, run({"pull", "--from", path("bundle")}).code);
    EXPECT_EQ(0, run({"verify", "--require", "--keys", path("ci.pub")}).code);
}

TEST_F(CliTrust, PullingSealsNothing)
{
    make_keys();
    add_plain(2);
    ASSERT_EQ(0, run({"bundle", path("bundle")}).code);
    const std::map<std::string, std::string> environment = {
        {"INGOT_PERSIST_DIR", path("other")}, {"INGOT_PERSIST_TRUST", "require"}, {"INGOT_PERSIST_KEYS", path("ci")}};
    const Result result = tool({"pull", "--from", path("bundle")}, environment);
    EXPECT_TRUE(result.is(4, "0 entries pulled"));
    EXPECT_TRUE(result.says("without a seal"));
    EXPECT_TRUE(store_fixture::entries_of(path("other")).empty());
}

TEST_F(CliTrust, VariablesHoldWithAndWithoutADirectory)
{
    make_keys();
    add_plain(1);
    using Variables = std::map<std::string, std::string>;
    const std::string dir = root().string();
    const Variables keys = {{"INGOT_PERSIST_KEYS", path("ci.pub")}};
    Variables required = {{"INGOT_PERSIST_KEYS", path("ci.pub")}, {"INGOT_PERSIST_TRUST", "require"}};
    const auto with_dir = [&](Variables variables) {
        variables["INGOT_PERSIST_DIR"] = dir;
        return variables;
    };
    const auto verify = [&](const std::vector<std::string> &more, const Variables &variables) {
        std::vector<std::string> command{CLI_PROGRAM, "verify"};
        command.insert(command.end(), more.begin(), more.end());
        return run_command(command, variables).code;
    };
    EXPECT_EQ(1, verify({"--require", "--dir", dir}, keys)) << "not sealed";
    EXPECT_EQ(1, verify({"--require"}, with_dir(keys)));
    for (const char *weaker : {"none", "verify"})
        EXPECT_EQ(1, verify({"--require"},
                            with_dir({{"INGOT_PERSIST_KEYS", path("ci.pub")}, {"INGOT_PERSIST_TRUST", weaker}})))
            << "a variable does not make --require less strict";
    EXPECT_EQ(1, verify({"--dir", dir}, required)) << "a build step that sets both must not pass";
    EXPECT_EQ(1, verify({}, with_dir(required)));
    EXPECT_EQ(1, verify({"--keys", path("ci.pub"), "--dir", dir}, {{"INGOT_PERSIST_TRUST", "require"}}))
        << "--keys does not make it less strict";
    EXPECT_EQ(2, verify({"--dir", dir}, keys)) << "keys that nothing uses look like protection";
    EXPECT_EQ(2, verify({"--dir", dir}, {{"INGOT_PERSIST_TRUST", "always"}}));
    EXPECT_EQ(0, tool({"sign"}, with_dir({{"INGOT_PERSIST_KEYS", path("ci")}})).code);
    EXPECT_EQ(0, verify({"--require", "--dir", dir}, keys));
    EXPECT_EQ(0, verify({"--require"}, with_dir(keys)));
    EXPECT_EQ(0, verify({"--dir", dir}, required));
    required["INGOT_PERSIST_KEYS"] = path("fleet");
    EXPECT_EQ(1, verify({"--dir", dir}, required));
    EXPECT_EQ(0, tool({"sign", "--dir", dir},
                      {{"INGOT_PERSIST_KEYS", path("fleet") + ":" + path("ci")}, {"INGOT_PERSIST_TRUST", "require"}})
                     .code);
    EXPECT_EQ(0, verify({"--dir", dir}, required));
}

TEST_F(CliTrust, NamesTheKeyFileThatIsRefused)
{
    make_keys();
    add_plain(1);
    ASSERT_EQ(0, chmod(path("fleet").c_str(), 0640));
    EXPECT_TRUE(run({"verify", "--keys", path("fleet")}).is(3, path("fleet")));
    EXPECT_EQ(2, run({"verify", "--require"}).code) << "no key";
}

TEST_F(CliTrust, ReadsAStoreOfAnotherUserIfEveryBlobMustBeSealed)
{
    make_keys();
    add_plain(1);
    ASSERT_EQ(0, run({"sign", "--keys", path("ci")}).code);
    ASSERT_EQ(0, chmod(root().c_str(), 0777));
    EXPECT_EQ(3, run({"verify"}).code);
    EXPECT_EQ(3, run({"verify", "--keys", path("ci.pub")}).code);
    EXPECT_EQ(0, run({"verify", "--require", "--keys", path("ci.pub")}).code);
}

/* Probes are entries like others, except that no command seals them or copies them to another place. */
TEST_F(CliTrust, LeavesProbesWhereTheyAre)
{
    ProgramText text;
    text.sources = {"kernel twice x 2 *\n"};
    add_program("alpha", "1.0", text);
    {
        const store_fixture::Store store = open_store();
        const std::string golden = INGOT_SOURCE_DIR "/tests/golden/probes/all-answers";
        const auto id = store_fixture::read_file(golden + ".id");
        const auto content = store_fixture::read_file(golden + ".content");
        ASSERT_EQ(INGOT_SUCCESS, storage_ops(store.get())
                                     ->store(storage_self(store.get(), STORAGE_DIRECTORY), id.size(), id.data(),
                                             content.size(), content.data()));
    }
    make_keys();
    EXPECT_EQ("2", json("ls", "len(j)"));
    EXPECT_EQ("['probes']", json("ls --kind probes", "[e['kind'] for e in j]"));
    EXPECT_EQ("1", json("ls --kind program", "len(j)"));
    EXPECT_TRUE(run({"show", json("ls --kind probes", "j[0]['entry']")}).says("no file      inc/x.h\n"));
    EXPECT_EQ("1 0", json("sign --keys " + path("ci"), "j['sealed'], j['unchanged']"));
    EXPECT_EQ(0, run({"verify", "--require", "--keys", path("ci.pub")}).code);
    EXPECT_EQ(0, run({"bundle", path("bundle")}).code);
    EXPECT_EQ("1", json_without_store("ls " + path("bundle"), "len(j)"));
    EXPECT_TRUE(tool({"pull", "--from", root().string(), "--dir", path("other")}).is(0, "1 entries pulled"));
    EXPECT_EQ("1", json_without_store("ls " + path("other"), "len(j)"));
    EXPECT_EQ(0, run({"evict", "--all"}).code);
    EXPECT_EQ("0", json("ls", "len(j)"));
}

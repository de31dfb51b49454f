/*
 * keep_test.cpp - tests the commands that maintain a store (verify, evict and bundle), their failures, and Ctrl-C at
 * any moment.
 */
#include <cstring>

#include "cli/tool.h"
#include "support/traced_child.h"

namespace
{

class CliKeep : public CliTest
{
protected:
    /* Returns what the word at an index may become, one candidate per line. */
    std::string complete(const std::string &words, int at) const
    {
        return run_shell("source " INGOT_SOURCE_DIR "/src/cli/ingot.bash; COMP_WORDS=($INGOT " + words +
                         "); COMP_CWORD=" + std::to_string(at) +
                         "; _ingot $INGOT \"${COMP_WORDS[COMP_CWORD]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"")
            .output;
    }
};

TEST_F(CliKeep, VerifiesACleanStore)
{
    add_plain(3);
    EXPECT_TRUE(run({"verify"}).begins(0, "3 of 3 entries verified, "));
    EXPECT_EQ("[3, 3, 0, False, []]",
              json("verify", "[j[k] for k in (\"entries\", \"verified\", \"bad\", \"interrupted\", \"problems\")]"));
}

TEST_F(CliKeep, FindsAndRepairsDamage)
{
    add_plain(3);
    const std::string corrupt = names()[0];
    const std::string cut = names()[1];
    damage(root() / corrupt / "kernel.bin");
    fs::resize_file(root() / cut / "kernel.bin", 10);
    const Result result = run({"verify"});
    EXPECT_TRUE(result.is(1, corrupt + ": INGOT_BLOB_CORRUPT: "));
    EXPECT_TRUE(result.says(cut + ": INGOT_BLOB_TRUNCATED: "));
    EXPECT_EQ("[2, 0]", json("verify", "[j[\"bad\"], j[\"removed\"]]"));
    EXPECT_EQ("[2, 2]", json("verify --repair", "[j[\"bad\"], j[\"removed\"]]"));
    EXPECT_EQ(0, run({"verify"}).code);
    EXPECT_EQ(1u, names().size());
    EXPECT_EQ("True", json("stats", "j[\"recorded_bytes\"] == j[\"bytes\"]"));
    EXPECT_FALSE(run({"stats"}).says("earlier format"));
    fs::create_directories(root() / "12690367438471926571/0");
    store_fixture::write_file(root() / "12345", store_fixture::bytes_of("a file"));
    EXPECT_TRUE(run({"stats"}).says("old        directories of an earlier format, which nothing reads and you may "
                                    "remove: 1\n"));
}

TEST_F(CliKeep, TellsOfWhatOthersMayWriteAndRepairsIt)
{
    add_plain(2);
    const fs::path entry = root() / names()[0];
    fs::permissions(entry / "kernel.bin", fs::perms::others_write, fs::perm_options::add);
    EXPECT_TRUE(run({"verify"}).is(1, "INGOT_UNTRUSTED"));
    EXPECT_EQ(2u, names().size());
    EXPECT_EQ(1, run({"verify", "--repair"}).code);
    EXPECT_EQ("[0, 0]", json("verify", "[j[\"bad\"], j[\"left_alone\"]]"));
    EXPECT_EQ(1u, names().size());
}

TEST_F(CliKeep, EvictsToLimits)
{
    add_plain(10, 1000);
    EXPECT_EQ("[4, 'INGOT_SUCCESS']", json("evict --max-entries 6", "[j[\"removed_entries\"], j[\"status\"]]"));
    EXPECT_EQ(6u, names().size());
    EXPECT_EQ(0, run({"evict", "--max-size", "20K"}).code);
    EXPECT_EQ(2u, names().size());
    EXPECT_EQ(0, run({"evict", "--max-age", "1h", "--order", "lru"}).code);
    EXPECT_EQ(2u, names().size());
    EXPECT_EQ(2, run({"evict"}).code);
    EXPECT_EQ(2, run({"evict", "--all", "--max-entries", "1"}).code);
    EXPECT_EQ(2, run({"evict", "--max-entries", "-1"}).code);
    EXPECT_EQ(2, run({"evict", "--max-size", "1", "--order", "best"}).code);
    EXPECT_EQ(2u, names().size());
}

TEST_F(CliKeep, EvictsAllOrANamespace)
{
    add_plain(2);
    add_program("alpha", "1", ProgramText(), "games");
    EXPECT_EQ("1", json("evict --all --namespace games", "j[\"removed_entries\"]"));
    EXPECT_EQ(2u, names().size());
    EXPECT_TRUE(run({"evict", "--all"}).begins(0, "2 entries removed, "));
    EXPECT_TRUE(names().empty());
    EXPECT_EQ(0, run({"evict", "--all"}).code);
}

/* Commands that only read leave a wrong total as it is. */
TEST_F(CliKeep, CorrectsAWrongTotal)
{
    add_plain(2);
    const std::string is_right = "j[\"recorded_bytes\"] == j[\"bytes\"]";
    for (const char *command : {"verify --repair", "evict --max-entries 2"}) {
        store_fixture::write_file(root() / "size.txt", store_fixture::bytes_of(store_fixture::size_text(12345, 2)));
        EXPECT_EQ(0, run({"verify"}).code);
        EXPECT_EQ("12345", json("stats", "j[\"recorded_bytes\"]"));
        EXPECT_EQ(0, run_shell(std::string("$INGOT ") + command + " --dir $STORE").code);
        EXPECT_EQ("True", json("stats", is_right)) << command;
    }
}

TEST_F(CliKeep, BundlesAStoreAndTakesTheBundleApart)
{
    add_plain(3);
    const std::string bundle = (scratch() / "bundle").string();
    const std::string other = (scratch() / "other").string();
    damage(root() / names()[0] / "kernel.bin");
    EXPECT_EQ("2", json("bundle " + bundle, "j[\"entries\"]")); /* undamaged entries only */
    EXPECT_EQ("2", json_without_store("ls " + bundle, "len(j)"));
    EXPECT_EQ(0u, tool({"ls", bundle}).output.find("ENTRY"));
    const Result result = tool({"pull", "--from", bundle, "--dir", other});
    EXPECT_TRUE(result.is(0));
    EXPECT_EQ("2 entries pulled; the store already had 0\n", result.output);
    EXPECT_EQ(0, tool({"verify", "--dir", other}).code);
    EXPECT_EQ(2u, store_fixture::entries_of(other).size());

    const std::string third = (scratch() / "third").string();
    EXPECT_TRUE(tool({"pull", "--from", other, "--dir", third}).is(0, "2 entries pulled"))
        << "a store is like a bundle";
    EXPECT_EQ(3, tool({"ls", bundle + "none"}).code);
    EXPECT_TRUE(tool({"ls", bundle, "--namespace", "one"}).is(2, "is a bundle, whose entries have no namespace\n"));
    EXPECT_EQ(3, run({"pull", "--from", bundle + "none"}).code);
    const fs::path foreign = scratch() / "foreign";
    fs::create_directories(foreign / "lost+found"); /* as in a new volume */
    EXPECT_TRUE(tool({"pull", "--from", bundle, "--dir", foreign.string()}).is(0, "2 entries pulled"));
    fs::create_directories(scratch() / "home" / "letters");
    EXPECT_TRUE(tool({"pull", "--from", bundle, "--dir", (scratch() / "home").string()}).is(3, "is not a store"));
    EXPECT_FALSE(fs::exists(scratch() / "home" / "CACHEDIR.TAG"));
    EXPECT_EQ(2, run({"bundle"}).code);
    EXPECT_EQ(4, run({"bundle", bundle + "/below"}).code);
    damage(bundle);
    EXPECT_NE(0, tool({"pull", "--from", bundle, "--dir", other}).code);
    EXPECT_EQ(2u, store_fixture::entries_of(other).size());
}

/* An artifact may have another blob under the same id. */
TEST_F(CliKeep, PullsNoEntryThatTheStoreHas)
{
    add_plain(2);
    const std::string bundle = (scratch() / "bundle").string();
    ASSERT_EQ(0, run({"bundle", bundle}).code);
    const store_fixture::Bytes id = store_fixture::bytes_of("plain 0");
    const store_fixture::Bytes newer = random_bytes(77, 100);
    ASSERT_EQ(INGOT_SUCCESS, open_store().put(id, newer));
    damage(root() / store_fixture::place_of(store_fixture::bytes_of("plain 1")) / "kernel.bin");
    const Result result = run({"pull", "--from", bundle});
    EXPECT_EQ(0, result.code);
    EXPECT_EQ("1 entries pulled; the store already had 1\n", result.output);
    store_fixture::Bytes found;
    EXPECT_EQ(INGOT_SUCCESS, open_store().load(id, &found));
    EXPECT_EQ(newer, found);
    EXPECT_EQ(0, run({"verify"}).code);
}

TEST_F(CliKeep, PullsWhatFollowsADamagedEntry)
{
    add_plain(3);
    const fs::path bundle = scratch() / "bundle";
    const std::string other = (scratch() / "other").string();
    ASSERT_EQ(0, run({"bundle", bundle.string()}).code);
    auto bytes = store_fixture::read_file(bundle);
    const auto number_at = [&](size_t offset) {
        uint64_t number = 0;
        /* the number is little-endian, and so are all machines on which this test runs */
        std::memcpy(&number, bytes.data() + offset, sizeof(number));
        return number;
    };
    const uint64_t index = number_at(32);
    bytes[number_at(index + 24)] ^= 1; /* the first entry's blob */
    store_fixture::write_file(bundle, bytes);
    EXPECT_TRUE(tool({"pull", "--from", bundle.string(), "--dir", other})
                    .is(4, "2 entries pulled; the store already had 0, 1 failed\n"));
    EXPECT_EQ(2u, store_fixture::entries_of(other).size());
}

/* For applications, the default limit is 1 GiB. If the tool had this limit, it would evict most of this store. */
TEST_F(CliKeep, PullsIntoAStoreThatIsLargerThanTheDefaultLimit)
{
    add_plain(1);
    const std::string bundle = (scratch() / "bundle").string();
    const fs::path other = scratch() / "other";
    ASSERT_EQ(0, run({"bundle", bundle}).code);
    const fs::path large = other / "ab" / std::string(30, '0');
    fs::create_directories(large);
    for (const fs::path &path : {other, large.parent_path(), large})
        fs::permissions(path, fs::perms::owner_all);
    for (const char *name : {"key.bin", "kernel.bin"})
        fs::copy(root() / names()[0] / name, large / name);
    fs::copy(root() / "CACHEDIR.TAG", other / "CACHEDIR.TAG");
    const int file = open((large / "kernel.bin").c_str(), O_WRONLY | O_CLOEXEC);
    const int allocated = posix_fallocate(file, 0, (off_t{1} << 30) + 4096);
    close(file);
    if (allocated != 0)
        GTEST_SKIP() << "this volume has no gibibyte that is free";
    EXPECT_EQ(0, tool({"pull", "--from", bundle, "--dir", other.string()}).code);
    EXPECT_EQ(2u, store_fixture::entries_of(other).size());
}

TEST_F(CliKeep, TakesAStoreThatWasNeverStoredTo)
{
    (void)open_directory(root());
    EXPECT_EQ(0, run({"evict", "--all"}).code);
    EXPECT_EQ(0, run({"verify", "--repair"}).code);
}

TEST_F(CliKeep, SaysThatThereIsNoStore)
{
    for (const std::vector<std::string> &command : std::vector<std::vector<std::string>>{
             {"ls"}, {"stats"}, {"verify"}, {"verify", "--repair"}, {"evict", "--all"}}) {
        const Result result = run(command);
        EXPECT_EQ(3, result.code) << command[0];
        EXPECT_TRUE(result.says("no store at "));
    }
    EXPECT_FALSE(fs::exists(root()));
}

TEST_F(CliKeep, TakesAnEmptyDirectoryForAnEmptyStoreAndMakesItNone)
{
    fs::create_directory(root());
    fs::permissions(root(), fs::perms::owner_all);
    EXPECT_EQ(0, run({"ls"}).code);
    EXPECT_EQ("", run({"ls"}).output);
    EXPECT_EQ("[]", json("ls", "j"));
    EXPECT_EQ("0", json("stats", "j[\"entries\"]"));
    EXPECT_EQ(0, run({"verify"}).code);
    EXPECT_EQ(3, run({"evict", "--all"}).code);
    EXPECT_EQ(3, run({"verify", "--repair"}).code);
    EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(CliKeep, RefusesADirectoryThatOthersMayWrite)
{
    add_plain(1);
    fs::permissions(root(), fs::perms::all);
    EXPECT_EQ(3, run({"ls"}).code);
    EXPECT_EQ(3, run({"evict", "--all"}).code);
    EXPECT_EQ(1u, names().size());
}

TEST_F(CliKeep, FailsWhereTheStoreIsReadOnly)
{
    add_plain(1);
    EXPECT_TRUE(
        tool({"evict", "--all"}, {{"INGOT_PERSIST_DIR", root().string()}, {"INGOT_PERSIST_READ_ONLY", "1"}}).is(4));
    EXPECT_EQ(1u, names().size());
}

TEST_F(CliKeep, FailsWhereTheOutputCannotBeWritten)
{
    add_plain(1);
    EXPECT_EQ(4, run_shell("$INGOT ls --dir $STORE >/dev/full").code);
    EXPECT_EQ(4, run_shell("$INGOT verify --json --dir $STORE >/dev/full").code);
    EXPECT_EQ(4, run_shell("$INGOT verify --for-this-machine --dir $STORE >/dev/full").code);
    EXPECT_EQ(4, run_shell("$INGOT help ls >/dev/full").code);
}

TEST_F(CliKeep, KnowsWrongUsage)
{
    EXPECT_EQ(2, tool({}).code);
    EXPECT_EQ(2, run({"stats", "--prometheus", "--json"}).code);
    add_plain(1);
    EXPECT_EQ(2, run({"ls", "--namespace", ".."}).code);
}

/* The first line names what is wrong, and what is valid. */
TEST_F(CliKeep, NamesWhatIsWrong)
{
    const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
        {{"evcit"}, "ingot: \"evcit\" is not a command; \"ingot help\" lists the commands\n"},
        {{"help", "shwo"}, "ingot: \"shwo\" is not a command; \"ingot help\" lists the commands\n"},
        {{"ls", "--sotr", "size"}, "ingot ls: unrecognized option '--sotr'\n"},
        {{"ls", "--sort", "beauty"}, "ingot ls: --sort: \"beauty\" is not valid: use created, used or size\n"},
        {{"evict", "--max-size", "lots"},
         "ingot evict: --max-size: \"lots\" is not valid: use a number of bytes with an optional K, M, G or T, "
         "unlimited or none\n"},
        {{"evict", "--max-age", "30"},
         "ingot evict: --max-age: \"30\" is not valid: use a number with ms, s, m, h, d or w, unlimited or none\n"},
        {{"evict", "--max-entries"}, "ingot evict: option '--max-entries' requires an argument\n"},
        {{"stats", "surplus"}, "ingot stats: \"surplus\" is one argument too many\n"},
        {{"show"}, "ingot show: the argument ENTRY is missing\n"}};
    for (const auto &[arguments, told] : mistakes) {
        const Result result = tool(arguments);
        EXPECT_EQ(2, result.code) << told;
        EXPECT_TRUE(result.begins(told));
    }
    EXPECT_EQ(125, tool({"run", "--strcit", "true"}).code);
}

TEST_F(CliKeep, TakesArgumentsInAllTheirForms)
{
    add_plain(3);
    const std::string name = names()[0];
    const std::string store = root().string();
    for (const std::vector<std::string> &arguments :
         std::vector<std::vector<std::string>>{{"show", name, "--dir", store},
                                               {"show", "--dir=" + store, name},
                                               {"show", "-d" + store, "--", name},
                                               {"show", "-jd", store, name},
                                               {"show", "--di", store, "--js", name}}) {
        EXPECT_TRUE(tool(arguments).is(0, name));
    }
    EXPECT_EQ(1, tool({"show", "--dir", store, "--", "--json"}).code) << "an entry of this name";
    for (const char *help : {"-h", "--help"})
        EXPECT_EQ(tool({"help", "ls"}).output, tool({"ls", help}).output);
    EXPECT_EQ(0u, tool({"build", "--help"}).output.find("Usage: ingot build [OPTION...] [REQUESTS"));
}

/* 0 is the default, and a limit that does not limit anything is a word. */
TEST_F(CliKeep, TakesWordsForLimits)
{
    add_plain(3);
    EXPECT_EQ(2, run({"evict", "--max-entries", "0"}).code);
    EXPECT_EQ(0, run({"evict", "--max-entries", "unlimited", "--max-size", "0"}).code);
    EXPECT_EQ(3u, names().size());
    EXPECT_EQ(0, run({"evict", "--max-age", "1ms", "--max-entries", "2"}).code);
    EXPECT_EQ(0, run({"evict", "--max-size", "none"}).code);
    EXPECT_EQ(0u, names().size());
}

/* The completion and the manual have the commands and options of the help. */
TEST_F(CliKeep, TellsTheSameOptionsEverywhere)
{
    EXPECT_EQ(0, tool({"--help"}).code);
    EXPECT_EQ(0u, tool({"--version"}).output.find("ingot "));
    std::vector<std::string> commands = {"ls",    "show",   "explain", "stats", "verify", "evict", "run",
                                         "build", "bundle", "key",     "sign",  "pull",   "help"};
    if (CLI_HAS_REMOTE)
        commands.emplace_back("push");
    EXPECT_EQ(std::to_string(commands.size()) + "\n", run_shell("$INGOT help | grep -c '^  [a-z]'").output);
    for (const std::string &command : commands) {
        EXPECT_NE(std::string::npos, complete(command.substr(0, 2), 1).find(command));
        EXPECT_NE(std::string::npos, complete(command + " --he", 2).find("--help\n"));
#ifdef CLI_MANUAL
        EXPECT_EQ("", run_shell("text=$(sed 's/\\\\-/-/g' " CLI_MANUAL ")\n"
                                "grep -q -e '^Usage: ingot " +
                                command + " ' <<<\"$text\" || echo missing\nfor option in $($INGOT " + command +
                                " --help | grep -o -e '--[a-z-]*'); do\n"
                                "grep -q -e \"$option\" <<<\"$text\" || echo $option; done")
                          .output)
            << command;
#endif
    }
    add_plain(1);
    EXPECT_EQ("--sort\n--source\n", complete("ls --so", 2));
    EXPECT_EQ("\n", complete("bundle --fr", 2)) << "the text mentions an option of another command";
    setenv("INGOT_PERSIST_DIR", root().c_str(), 1);
    EXPECT_EQ(names()[0] + "\n", complete("show ''", 2));
    unsetenv("INGOT_PERSIST_DIR");
}

/* systemd-analyze prints each setting that it would ignore, and nothing about valid units. */
TEST_F(CliKeep, HasUnitsThatSystemdUnderstands)
{
    const Result result = run_shell(
        "set -e; command -v systemd-analyze >/dev/null || { echo none; exit; }\n"
        "work=$(mktemp -d); trap 'rm -rf \"$work\"' EXIT; chmod 700 \"$work\"\n"
        "cp " CLI_UNITS "/*.service " INGOT_SOURCE_DIR "/src/cli/systemd/*.timer \"$work\"\n"
        "sed -i \"s#^ExecStart=[^ ]*#ExecStart=$INGOT#\" \"$work\"/*.service\n"
        "XDG_RUNTIME_DIR=$work systemd-analyze verify --user --man=no \"$work\"/*.service \"$work\"/*.timer\n");
    EXPECT_TRUE(result.is(0));
    EXPECT_TRUE(result.output.empty() || result.output == "none\n") << result.output;
    EXPECT_EQ("", run_shell("grep WantedBy " CLI_UNITS "/ingot-build-stale.service").output) << "its timer starts it";
}

TEST_F(CliKeep, TellsWhatItFoundWhenItIsInterrupted)
{
    add_plain(400, 10);
    for (const std::string &name : names())
        damage(root() / name / "kernel.bin");
    EXPECT_TRUE(
        tool_with_signal({"verify", "--repair", "--dir", root().string()}, SIGINT, ": ", 0).is(130, "\ninterrupted: "));
    EXPECT_LT(0u, names().size());
    EXPECT_GT(400u, names().size());
    EXPECT_EQ("True", json("stats", "j[\"recorded_bytes\"] == j[\"bytes\"]"));
    EXPECT_EQ(0, run({"verify", "--repair"}).code);
    EXPECT_TRUE(names().empty());
}

/* Runs the tool in a traced child. Calls `at_stop` at each of its system calls. */
traced_child::Outcome run_traced(std::vector<const char *> arguments, int output,
                                 const std::function<void(pid_t, unsigned)> &at_stop)
{
    arguments.push_back(nullptr);
    return traced_child::run(
        [&] {
            dup2(output, STDOUT_FILENO);
            std::signal(SIGINT, SIG_DFL);
            setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the leak checker does not work under ptrace */
            return execv(CLI_PROGRAM, const_cast<char *const *>(arguments.data()));
        },
        at_stop);
}

/* Returns at how many stops the tool has not begun its work: those until --version writes. They load its libraries. */
unsigned stops_before_work(const std::string &file)
{
    const int output = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    unsigned count = 0;
    run_traced({"ingot", "--version"}, output,
               [&](pid_t, unsigned stop) { count = fs::file_size(file) == 0 ? stop : count; });
    close(output);
    return count;
}

TEST_F(CliKeep, DoesNoHarmWhereverItIsInterrupted)
{
    add_plain(4);
    const std::string copy = scratch() / "copy";
    const unsigned loading = stops_before_work(scratch() / "version");
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (const auto &command : std::vector<std::vector<const char *>>{
             {"evict", "--all"}, {"evict", "--max-entries=1"}, {"verify", "--repair"}}) {
        unsigned interrupted_count = 0;
        bool was_reached = true;
        for (unsigned stop = loading - 20; was_reached; stop += 29) {
            was_reached = false;
            fs::remove_all(copy);
            fs::copy(root(), copy, fs::copy_options::recursive);
            const auto outcome = run_traced({"ingot", command[0], command[1], "--dir", copy.c_str()}, null,
                                            [&](pid_t child, unsigned at) {
                                                was_reached = was_reached || at == stop;
                                                if (at == stop)
                                                    ptrace(PTRACE_DETACH, child, nullptr, SIGINT);
                                            });
            const auto found = store_fixture::verified(store_fixture::Store{fs::path(copy)});
            ASSERT_EQ(0u, found.bad_count + found.unread_count) << command[1] << ", stop " << stop;
            ASSERT_TRUE(was_reached || outcome.exit_status == 0);
            interrupted_count += outcome.exit_status == 130;
        }
        EXPECT_LT(5u, interrupted_count) << command[1];
    }
    close(null);
}

} // namespace

/*
 * list_test.cpp - tests the commands that only read: ls, show, explain and stats.
 */
#include "cli/tool.h"

#include <ingot/private/persist.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <set>
#include <sstream>

namespace
{

ProgramText program(const std::string &source, const std::string &options = "")
{
    ProgramText text;
    text.sources = {source};
    text.compile_options = options;
    return text;
}

class CliList : public CliTest
{
protected:
    void SetUp() override
    {
        alpha_id = add_program("alpha", "1.0", program("kernel twice x 2 *\nkernel square x x *\n"));
        add_program("alpha", "2.0", program("kernel twice x 2 *\nkernel square x x *\n"));
        add_program("beta", "1.0", program("kernel other x FACTOR *\n", "-DFACTOR=3"), "games");
    }
    /* Returns the path of a file with an id. */
    std::string id_file(const std::vector<uint8_t> &id) const
    {
        store_fixture::write_file(scratch() / "id", id);
        return scratch() / "id";
    }
    std::string id_file() const { return id_file(alpha_id); }
    std::vector<uint8_t> alpha_id;
};

TEST_F(CliList, ListsWhatIsThere)
{
    const Result result = run({"ls"});
    EXPECT_TRUE(result.begins(0, "ENTRY"));
    for (const std::string &name : names())
        EXPECT_TRUE(result.says(name));
    EXPECT_TRUE(result.says("reference"));
    EXPECT_TRUE(result.says("own "));
    EXPECT_EQ("3", json("ls", "len(j)"));
    EXPECT_EQ("['INGOT_SUCCESS', 'INGOT_SUCCESS', 'INGOT_SUCCESS']", json("ls", "[e[\"status\"] for e in j]"));
    EXPECT_EQ(std::to_string(store_fixture::bytes_in(root())), json("ls", "sum(e[\"bytes\"] for e in j)"));
}

TEST_F(CliList, EscapesWhatWouldBreakTheListOrTurnItsText)
{
    add_program("line\nbreak \u202egpj.exe \u2067x\x1b[2J", "9.0", program("kernel twice x 2 *\n"));
    const Result result = run({"ls", "--driver", "9.0"});
    EXPECT_TRUE(result.is(0, "line\\nbreak \\u202egpj.exe \\u2067x\\x1b[2J\n"));
    EXPECT_EQ(2, std::count(result.output.begin(), result.output.end(), '\n')) << result.output;
    EXPECT_EQ(std::string::npos, run({"show", json("ls --driver 9.0", "j[0][\"entry\"]")}).output.find("\u202e"));
}

TEST_F(CliList, Filters)
{
    EXPECT_EQ("2", json("ls --device ALPH", "len(j)"));
    EXPECT_EQ("['beta']", json("ls --device beta", "[e[\"device\"] for e in j]"));
    EXPECT_EQ("['2.0']", json("ls --driver 2", "[e[\"driver\"] for e in j]"));
    EXPECT_EQ("0", json("ls --device beta --driver 2.0", "len(j)"));
    EXPECT_EQ("['games']", json("ls --namespace games", "[e[\"namespace\"] for e in j]"));
    EXPECT_EQ("[]", json("ls --namespace none", "j"));
    const std::string digest = json("ls --device beta", "j[0][\"source\"].split()[1]");
    EXPECT_EQ(12u, digest.size());
    EXPECT_EQ("['beta']", json("ls --source " + digest.substr(0, 6), "[e[\"device\"] for e in j]"));
}

TEST_F(CliList, Sorts)
{
    add_plain(2, 5000);
    EXPECT_EQ("True", json("ls", "[e[\"created\"] for e in j] == sorted([e[\"created\"] for e in j], reverse=True)"));
    EXPECT_EQ("True", json("ls --sort size", "[-e[\"bytes\"] for e in j] == sorted(-e[\"bytes\"] for e in j)"));
    for (const char *key : {"created", "used"})
        EXPECT_EQ("5", json(std::string("ls --sort ") + key, "len(j)"));
    EXPECT_EQ(2, run({"ls", "--sort", "beauty"}).code);
}

/* The layer's programs have no source name. */
TEST_F(CliList, NamesProgramsByTheirFirstKernel)
{
    ProgramText text = program("kernel zeta x 2 *\nkernel eta x 3 *\n");
    text.source_name = "";
    add_program("gamma", "1.0", text);
    EXPECT_EQ("[('eta', '')]", json("ls --device gamma", "[(e[\"name\"], e[\"source_name\"]) for e in j]"));
    EXPECT_NE(std::string::npos, run({"ls", "--device", "gamma"}).output.find("  eta  ")) << run({"ls"}).output;
    EXPECT_EQ("1", json("ls --source eta", "len(j)"));
}

TEST_F(CliList, ShowsTheOptionsThatDifferBetweenRowsOfOneName)
{
    for (const char *options : {"-DFACTOR=1 -DSHARED=1", "-DFACTOR=2 -DSHARED=1", "-DSHARED=1 -DFACTOR=2 -DMORE=1"}) {
        ProgramText text = program("kernel scaled x FACTOR *\n", options);
        text.source_name = "scaled";
        add_program("gamma", "1.0", text);
    }
    const std::string list = run({"ls", "--device", "gamma"}).output;
    for (const char *shown :
         {"  scaled  -DFACTOR=1           ", "  scaled  -DFACTOR=2           ", "  scaled  -DFACTOR=2 -DMORE=1  "})
        EXPECT_NE(std::string::npos, list.find(shown)) << list;
    EXPECT_EQ(std::string::npos, list.find("SHARED")) << list;
    EXPECT_EQ("['-DFACTOR=1 -DSHARED=1']", json("ls --device gamma", "[e[\"options\"] for e in j][-1:]"));
    add_program("delta", "1.0", program("kernel alone x 2 *\n", "-DALONE=1"));
    EXPECT_EQ(std::string::npos, run({"ls", "--device", "delta"}).output.find("ALONE"));
}

TEST_F(CliList, ListsDamagedEntriesWithTheirStatus)
{
    const std::string bad = names()[0];
    damage(root() / bad / "key.bin");
    EXPECT_EQ(0, run({"ls"}).code);
    EXPECT_NE(std::string::npos, run({"ls"}).output.find("INGOT_BLOB_CORRUPT"));
    EXPECT_EQ("['" + bad + "']", json("ls", "[e[\"entry\"] for e in j if e[\"status\"] == \"INGOT_BLOB_CORRUPT\"]"));
}

/* One device's name is a part of another's, and both must be listed. */
TEST_F(CliList, ListsEachDeviceOfAProgramOnce)
{
    ReferenceDevice device;
    device.targets = {"gamma-sxm", "gamma", "GAMMA", "gamma"};
    device.driver_version = "7.0";
    const Context context = device.make();
    const Desc desc = program("kernel twice x 2 *\n").make(context);
    const store_fixture::Store store = open_store();
    ASSERT_EQ(INGOT_SUCCESS, request_through(desc, store.get()));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ("['gamma-sxm, gamma, GAMMA']", json("ls --driver 7.0", "[e[\"device\"] for e in j]"));
    EXPECT_EQ("['7.0']", json("ls --driver 7.0", "[e[\"driver\"] for e in j]"));
}

TEST_F(CliList, ShowsAllOfAnEntry)
{
    const std::string name = json("ls --device beta", "j[0][\"entry\"]");
    const Result result = run({"show", name});
    EXPECT_EQ(0, result.code);
    for (const char *part : {"INGOT_SUCCESS", "compile_options: -DFACTOR=3", "device[0].device_name: beta",
                             "kernel       other", "binary ", "build log"})
        EXPECT_NE(std::string::npos, result.output.find(part)) << part << "\n" << result.output;
    EXPECT_EQ("other", json("show " + name, "j[0][\"blob\"][\"kernels\"][0]"));
    EXPECT_EQ("-DFACTOR=3", json("show " + name, "j[0][\"id\"][\"compile_options\"]"));
    EXPECT_EQ("True", json("show " + name, "j[0][\"blob\"][\"build_time_ns\"] > 0"));
    EXPECT_EQ("True", json("ls", "all(e[\"build_time_ns\"] > 0 for e in j)"));
    EXPECT_EQ("[]", json("show nothing", "j"));
}

/* The application chooses the name of a source, so the name may contain anything. */
TEST_F(CliList, TellsTheSourcesName)
{
    ProgramText text = program("kernel named x\n");
    text.source_name = "ev\nil \u202elc.x";
    const std::vector<uint8_t> id = add_program("gamma", "1.0", text);
    const std::string name = json("ls --device gamma", "j[0][\"entry\"]");
    EXPECT_EQ("True", json("ls --device gamma", "j[0][\"source_name\"] == \"ev\\nil \\u202elc.x\""));
    EXPECT_EQ("['test', 'test', 'test']", json("ls --source TEST", "[e[\"source_name\"] for e in j]"));
    EXPECT_TRUE(run({"ls", "--device", "gamma"}).says("  ev\\nil \\u202elc.x  "));
    EXPECT_TRUE(run({"show", name}).says("  source       ev\n               il \\u202elc.x\n"));

    const std::string bundle = (scratch() / "bundle").string();
    ASSERT_EQ(0, run({"bundle", bundle}).code);
    EXPECT_NE(std::string::npos, tool({"ls", bundle}).output.find("  ev\\nil \\u202elc.x  "));

    /* A single file needs no store. */
    const std::string path = (scratch() / "single").string();
    Bytes blob;
    ASSERT_EQ(INGOT_SUCCESS, open_store().load(id, &blob));
    ASSERT_EQ(INGOT_SUCCESS, open_file(path).put(id, blob));
    const Result single = tool({"show", path, "--dir", "/nonexistent"});
    EXPECT_TRUE(single.begins(0, path + "\n"));
    EXPECT_TRUE(single.says("  source       ev\n               il \\u202elc.x\n"));
    EXPECT_EQ(3, tool({"show", path, name, "--dir", "/nonexistent"}).code);
    damage(path);
    EXPECT_NE(std::string::npos, tool({"show", path}).output.find("not shown"));
}

TEST_F(CliList, ShowsNoFileThatIsNoEntry)
{
    const fs::path path = scratch() / "notes.txt";
    store_fixture::write_file(path, store_fixture::bytes_of("no entry, and no id"));
    const Result result = tool({"show", path.string()});
    EXPECT_TRUE(result.is(1, "neither an entry nor an id"));
    EXPECT_EQ(std::string::npos, result.output.find("INGOT_SUCCESS")) << result.output;
}

TEST_F(CliList, ShowsByTheBeginningOfAName)
{
    const std::string name = names()[0];
    EXPECT_EQ(0, run({"show", name.substr(0, name.size() - 2)}).code);
    EXPECT_EQ(1, run({"show", "nothing"}).code);
    EXPECT_EQ(1, run({"show", ""}).code); /* all names begin with "" */
    EXPECT_EQ(1, run({"show", "nothing", name}).code);
    /* without its namespace, too */
    const std::string of_games = json("ls --device beta", "j[0][\"entry\"]");
    EXPECT_EQ(of_games, json("show " + of_games.substr(6, 10), "j[0][\"entry\"]"));
}

TEST_F(CliList, ShowsByTheNameAndBySourceDigestsThatItLists)
{
    ProgramText text = program("kernel named x\n");
    text.source_name = "named.x";
    add_program("gamma", "1.0", text);
    add_program("gamma", "2.0", text);
    EXPECT_EQ("['gamma', 'gamma']", json("show named.x", "[e[\"id\"][\"device[0].device_name\"] for e in j]"));
    const std::string digest = json("ls --device beta", "j[0][\"source\"].split()[1]");
    EXPECT_EQ("['beta']", json("show " + digest, "[e[\"id\"][\"device[0].device_name\"] for e in j]"));
    EXPECT_EQ(1, run({"show", "named"}).code);
    EXPECT_TRUE(run({"explain", "named.x"}).is(1, "2 entries have the name named.x"));
}

/* A pipe gets whole texts and no colors. */
TEST_F(CliList, FitsATerminal)
{
    ProgramText text = program("kernel named x\n");
    text.source_name = std::string(100, 'n');
    add_program("gamma", "1.0", text);
    damage(root() / json("ls --device beta", "j[0][\"entry\"]") / "key.bin");
    const Result piped = run({"ls"});
    EXPECT_TRUE(piped.says(text.source_name));
    EXPECT_EQ(std::string::npos, piped.output.find('\x1b')) << piped.output;
    const auto on_terminal = [&](const std::string &variables) {
        return run_shell(variables + " python3 -c \"$PARSE\" $INGOT ls --dir $STORE | tr -d '\\r'",
                         "import fcntl, os, pty, struct, sys, termios\n"
                         "child, end = pty.fork()\n"
                         "if child == 0:\n"
                         "    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 25, 120, 0, 0))\n"
                         "    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)\n"
                         "    os.execv(sys.argv[1], sys.argv[1:])\n"
                         "try:\n"
                         "    while True: os.write(1, os.read(end, 4096))\n"
                         "except OSError: os.waitpid(child, 0)\n")
            .output;
    };
    const std::string colored = on_terminal("");
    EXPECT_NE(std::string::npos, colored.find("\x1b[1mENTRY\x1b[0m")) << colored;
    EXPECT_NE(std::string::npos, colored.find("\x1b[31mINGOT_BLOB_CORRUPT\x1b[0m")) << colored;
    const std::string plain = on_terminal("NO_COLOR=1");
    EXPECT_EQ(std::string::npos, plain.find('\x1b')) << plain;
    EXPECT_NE(std::string::npos, plain.find("nn..")) << plain;
    std::istringstream lines(plain);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count)
        EXPECT_GE(120u, line.size()) << line;
    EXPECT_EQ(5u, count) << plain;
}

TEST_F(CliList, ShowsWhyABlobCannotBeShown)
{
    const std::string name = names()[0];
    damage(root() / name / "kernel.bin");
    EXPECT_EQ(0, run({"show", name}).code);
    EXPECT_NE(std::string::npos, run({"show", name}).output.find("not shown"));
    EXPECT_EQ("None True", json("show " + name, "j[0][\"blob\"], len(j[0][\"blob_refusal\"]) > 0"));
}

TEST_F(CliList, ShowsNoLastUseOfAnEntryWithoutABlob)
{
    const std::string name = names()[0];
    EXPECT_NE(std::string::npos, run({"show", name}).output.find("\n  last use     2"));
    fs::remove(root() / name / "kernel.bin");
    const std::string shown = run({"show", name}).output;
    EXPECT_NE(std::string::npos, shown.find("\n  created      2")) << shown;
    EXPECT_EQ(std::string::npos, shown.find("last use")) << shown;
}

TEST_F(CliList, ExplainsAMissByTheNearestId)
{
    const std::string id = id_file();
    Result result = run({"explain", id});
    EXPECT_TRUE(result.begins(0, "hit: stored as "));

    /* The same program, built by driver 2.0, is nearer than another program that the same driver has built. */
    const std::string wanted = json("ls --device alpha --driver 1.0", "j[0][\"entry\"]");
    result = run({"explain", wanted});
    EXPECT_EQ(1, result.code);
    EXPECT_EQ("[('device[0].driver_version', '1.0', '2.0')]",
              json("explain " + wanted, "[(d[\"field\"], d[\"expected\"], d[\"found\"]) for d in j[\"differences\"]]"));
    EXPECT_TRUE(result.says("device[0].driver_version\n  wanted:  1.0\n  stored:  2.0\n"));

    /* The id may come from a key.bin of any store. */
    EXPECT_EQ("hit", json("explain $STORE/" + wanted + "/key.bin", "j[\"verdict\"]"));
}

TEST_F(CliList, ExplainsAMissByTheNamespaceThatHasTheId)
{
    const std::string id = id_file();
    const std::string name = json("ls --device alpha --driver 1.0", "j[0][\"entry\"]");
    const Result result = run({"explain", id, "--namespace", "games"});
    EXPECT_TRUE(result.begins(1, "miss: another namespace has it, " + name + "; nearest is "));
    EXPECT_EQ(name, json("explain " + id + " --namespace games", "j[\"elsewhere\"]"));
}

/* Each entry was made because the store lacked it. It is compared with what the store had at that time. */
TEST_F(CliList, ExplainsTheLastMissesWithoutAnId)
{
    Result result = run({"explain"});
    EXPECT_TRUE(result.is(0));
    const std::string first = json("ls --device alpha --driver 1.0", "j[0][\"entry\"]");
    const std::string second = json("ls --device alpha --driver 2.0", "j[0][\"entry\"]");
    const std::string third = json("ls --device beta", "j[0][\"entry\"]");
    EXPECT_TRUE(result.begins(third + " test, stored "));
    EXPECT_TRUE(
        result.says(" ago: nearest is " + first + "\ndevice[0].driver_version\n  wanted:  2.0\n  stored:  1.0\n"));
    EXPECT_EQ("['" + third + "', '" + second + "', '" + first + "']", json("explain", "[e[\"entry\"] for e in j]"));
    EXPECT_EQ("['new', 'miss', 'new']", json("explain", "[e[\"verdict\"] for e in j]"));
    EXPECT_EQ("['" + third + "']", json("explain --last 1", "[e[\"entry\"] for e in j]"));
    EXPECT_EQ(2, run({"explain", first, "--last", "1"}).code);
    EXPECT_EQ("[]", json("explain --namespace none", "j"));
}

/* Whether it was never there, or was evicted. */
TEST_F(CliList, ExplainsAMissByItsEviction)
{
    const fs::path wanted = root().parent_path() / "wanted.id";
    const fs::path evicted = root() / "evicted";
    const store_fixture::Store store = open_store();
    const auto is_known = [&](unsigned number) {
        const auto id = store_fixture::bytes_of("plain " + std::to_string(number));
        uint64_t time_ns = 0;
        return ingot_persist_find_evicted(store.get(), id.size(), id.data(), &time_ns) == INGOT_SUCCESS;
    };
    store_fixture::write_file(wanted, alpha_id);
    ASSERT_EQ(0, run({"evict", "--all"}).code);
    EXPECT_TRUE(run({"explain", wanted.string()}).is(1, "miss: it was evicted "));
    add_program("alpha", "1.0", program("kernel twice x 2 *\nkernel square x x *\n"));
    add_program("alpha", "3.0", program("kernel twice x 2 *\nkernel square x x *\n"));
    EXPECT_EQ("[False, True]", json("explain", "[e[\"evicted\"] is not None for e in j]"));
    EXPECT_TRUE(run({"explain"}).says("it was there before, and evicted "));
    EXPECT_TRUE(run({"explain", wanted.string()}).begins("hit: "));

    std::vector<uint8_t> slots(65536);
    slots[0] = 4090 & 0xff; /* the next record is one of the last */
    slots[1] = 4090 >> 8;
    store_fixture::write_file(evicted, slots);
    add_plain(10, 1);
    ASSERT_EQ(0, run({"evict", "--all"}).code);
    EXPECT_EQ(65536u, fs::file_size(evicted));
    EXPECT_EQ((4090 + 12) % 4095, store_fixture::read_file(evicted)[0]) << "the first one comes after the last";
    for (unsigned i = 0; i < 10; ++i)
        EXPECT_TRUE(is_known(i)) << i;
    EXPECT_FALSE(is_known(10));
    for (const size_t size : {0, 5, 70000}) { /* anything may be in the file */
        store_fixture::write_file(evicted, random_bytes(7, size));
        EXPECT_FALSE(is_known(10));
        add_plain(1, 1);
        ASSERT_EQ(0, run({"evict", "--all"}).code);
        EXPECT_TRUE(is_known(0));
    }
    fs::remove(evicted);
    fs::create_directory(evicted);
    EXPECT_FALSE(is_known(10));
    add_plain(1, 1);
    EXPECT_EQ(0, run({"evict", "--all"}).code);
}

TEST_F(CliList, ExplainsAPermutedOptionListByItsProgram)
{
    const std::string text = "kernel scaled x FACTOR *\n";
    for (int factor = 10; factor < 20; ++factor)
        add_program("gamma", "1.0", program(text, "-DFACTOR=" + std::to_string(factor) + " -DMORE=1 -DOTHER=2"));
    add_program("gamma", "1.0", program(text, "-DFACTOR=1 -DMORE=2 -DOTHER=3"));
    ReferenceDevice device;
    device.targets = {"gamma"};
    device.driver_version = "1.0";
    const Context context = device.make();
    const std::string id = id_file(id_of(program(text, "-DOTHER=3 -DMORE=2 -DFACTOR=1").make(context)));
    EXPECT_EQ("[('compile_options', '-DFACTOR=1 -DMORE=2 -DOTHER=3')]",
              json("explain " + id, "[(d[\"field\"], d[\"found\"]) for d in j[\"differences\"]]"));
}

TEST_F(CliList, ExplainsThatAStoredBlobIsRefused)
{
    const std::string id = id_file();
    const std::string name = json("ls --device alpha --driver 1.0", "j[0][\"entry\"]");
    damage(root() / name / "kernel.bin");
    EXPECT_TRUE(run({"explain", id}).begins(1, "miss: stored as " + name + ", refused: "));
}

/* Within the store, an entry's name is also the path of its directory. */
TEST_F(CliList, ExplainsAnEntryFromWithinTheStore)
{
    const std::string name = json("ls --device alpha --driver 1.0", "j[0][\"entry\"]");
    EXPECT_TRUE(run_shell("cd $STORE && $INGOT explain --dir . " + name).begins(1, "miss: nearest is "));
}

TEST_F(CliList, ExplainsAnIdFromAPipe)
{
    const std::string id = id_file();
    EXPECT_TRUE(run_shell("$INGOT explain --dir $STORE <(cat " + id + ")").is(0));
}

TEST_F(CliList, ExplainsNothingThatIsNoId)
{
    const fs::path file = scratch() / "file";
    store_fixture::write_file(file, store_fixture::bytes_of("no id"));
    EXPECT_EQ(4, run({"explain", file.string()}).code);
    store_fixture::write_file(file, {});
    EXPECT_EQ(4, run({"explain", file.string()}).code);
    EXPECT_EQ(1, run({"explain", "nothing"}).code);
}

TEST_F(CliList, SumsUp)
{
    const std::string bytes = std::to_string(store_fixture::bytes_in(root()));
    EXPECT_EQ("3 " + bytes + " " + bytes, json("stats", "j[\"entries\"], j[\"bytes\"], j[\"recorded_bytes\"]"));
    EXPECT_EQ("[('1.0', 2), ('2.0', 1)]",
              json("stats", "sorted((s[\"name\"], s[\"entries\"]) for s in j[\"by_driver\"])"));
    EXPECT_EQ("['', 'games']", json("stats", "sorted(s[\"name\"] for s in j[\"by_namespace\"])"));
    EXPECT_TRUE(run({"stats"}).begins(0, "entries    3\n"));
}

TEST_F(CliList, AddsUpWhatProcessesHaveCounted)
{
    const fs::path folder = root().parent_path() / "metrics";
    fs::create_directory(folder);
    const auto write = [&](const std::string &name, int requests, const std::string &seconds, const char *more = "") {
        std::ofstream(folder / (name + ".metrics"))
            << "# HELP ingot_requests_total Requests.\n# TYPE ingot_requests_total counter\n"
            << "ingot_requests_total{origin=\"build\"} " << requests << "\n"
            << "ingot_load_seconds_total{kind=\"program\"} " << seconds << "\nother 1\n"
            << more;
    };
    write("running", 3, "0.250000001"); /* its process has the lock */
    const int lock = open((folder / "running.metrics").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(0, flock(lock, LOCK_EX));
    const std::string built = "ingot_requests_total{origin=\"build\"} ";
    write("over", 2, "0.5",
          (std::string(1023, 'x') + built + "5\n" + built + "nan\n" + built + "-7\n" + built + "1e20\n").c_str());
    write("taken", 100, "100");
    for (const char *name : {"killed.metrics.new", "writing.metrics.new"}) /* a process was killed while it wrote */
        std::ofstream(folder / name) << "ingot_requests_total{origin=\"build\"} 1000\n";
    fs::last_write_time(folder / "killed.metrics.new", fs::file_time_type::clock::now() - std::chrono::minutes(2));
    write("ended", 10, "1", "# from taken.metrics\n"); /* whoever took that file died before it had removed it */
    const auto files = [&] {
        std::set<std::string> names;
        for (const auto &entry : fs::directory_iterator(folder))
            names.insert(entry.path().stem().string());
        return names;
    };
    const std::vector<std::string> command{"stats", "--metrics-dir", folder.string()};
    std::vector<std::string> pruning = command;
    pruning.push_back("--prune");
    const std::string counts = "ingot_load_seconds_total{kind=\"program\"} 1.750000001\n"
                               "# HELP ingot_requests_total Requests.\n# TYPE ingot_requests_total counter\n"
                               "ingot_requests_total{origin=\"build\"} 15\n"
                               "# HELP ingot_store_bytes ";
    EXPECT_TRUE(run(command).begins(counts));
    EXPECT_EQ(6u, files().size());
    for (const auto &each : {pruning, pruning, command})
        EXPECT_TRUE(run(each).begins(counts));
    EXPECT_FALSE(fs::exists(folder / "killed.metrics.new"));
    EXPECT_TRUE(fs::remove(folder / "writing.metrics.new"));
    EXPECT_EQ((std::set<std::string>{"ended", "running"}), files());
    EXPECT_TRUE(run(command).says("# TYPE ingot_store_entries gauge\ningot_store_entries{namespace=\"\"} 2\n"
                                  "ingot_store_entries{namespace=\"games\"} 1\n"));
    (void)close(lock);
    EXPECT_TRUE(run(pruning).begins(counts));
    EXPECT_EQ((std::set<std::string>{"ended"}), files());
    EXPECT_TRUE(tool({"stats", "--dir", "/nonexistent/store", "--metrics-dir", folder.string()}).is(0, "total"));
    fs::create_directory(folder / "stays.metrics"); /* it cannot be removed */
    write("ended", 10, "1", "# from stays.metrics\n");
    for (int i = 0; i < 300; ++i)
        write("many" + std::to_string(i), 1, "0");
    for (const bool is_first : {true, false, false}) { /* each file is open until all are added up */
        struct rlimit limit;
        ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
        const struct rlimit few = {280, limit.rlim_max};
        ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
        EXPECT_TRUE(run(pruning).says("ingot_requests_total{origin=\"build\"} 310\n"));
        ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
        const size_t left = files().size();
        EXPECT_TRUE(is_first ? left > 22 && left < 102 : left == 2) << left;
        std::stringstream ended;
        ended << std::ifstream(folder / "ended.metrics").rdbuf();
        EXPECT_NE(std::string::npos, ended.str().find("# from stays.metrics\n"));
    }
    EXPECT_EQ(2, run({"stats", "--prune"}).code);
    EXPECT_EQ(4, run({"stats", "--metrics-dir", "/nonexistent"}).code);
}

TEST_F(CliList, LeavesAStoreAsItIs)
{
    std::map<std::string, fs::file_time_type> before;
    for (const auto &item : fs::recursive_directory_iterator(root()))
        before[item.path().string()] = item.last_write_time();
    for (const char *command : {"ls", "stats", "verify"})
        EXPECT_EQ(0, run({command}).code);
    std::map<std::string, fs::file_time_type> after;
    for (const auto &item : fs::recursive_directory_iterator(root()))
        after[item.path().string()] = item.last_write_time();
    EXPECT_EQ(before, after);
}

TEST_F(CliList, TakesAStoreFromTheEnvironment)
{
    const std::vector<std::string> command{CLI_PROGRAM, "ls", "--names"};
    EXPECT_EQ(0, run_command(command, {{"INGOT_PERSIST_DIR", root().string()}}).code);
    EXPECT_NE("", run_command(command, {{"INGOT_PERSIST_DIR", root().string()}}).output);
    const std::string store = root().string();
    EXPECT_EQ(2, run_command(command, {{"INGOT_PERSIST_DIR", store}, {"INGOT_PERSIST_MAX_SIZE", "much"}}).code);
    EXPECT_EQ(3, run_command(command, {{"INGOT_PERSIST_DIR", store}, {"INGOT_PERSIST", "0"}}).code);
    EXPECT_EQ(3, run_command(command, {{"INGOT_PERSIST_DIR", "/nonexistent/store"}}).code);
}

} // namespace

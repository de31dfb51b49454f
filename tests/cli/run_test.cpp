/*
 * run_test.cpp - tests `ingot run`: the environment of the command, its exit status, signals, and statistics. The
 * commands do not use OpenCL, so any file can stand in for the layer.
 */
#include "cli/tool.h"

namespace
{

class CliRun : public CliTest
{
protected:
    CliRun() { store_fixture::write_file(layer_, store_fixture::bytes_of("a layer")); }

    Result run_with(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) const
    {
        environment.emplace("INGOT_LAYER_PATH", layer_.string());
        environment.emplace("INGOT_PERSIST_DIR", root().string());
        environment.emplace("OPENCL_LAYERS", "");
        environment.emplace("TMPDIR", scratch().string());
        arguments.insert(arguments.begin(), {CLI_PROGRAM, "run"});
        return run_command(arguments, environment);
    }
    /* Returns the value that an environment variable has in the command, or "unset". */
    std::string variable(const std::string &name, std::vector<std::string> options,
                         const std::map<std::string, std::string> &environment = {}) const
    {
        options.insert(options.end(), {"--", "/bin/sh", "-c", "printf %s \"${" + name + "-unset}\""});
        const Result result = run_with(options, environment);
        EXPECT_TRUE(result.is(0));
        return result.output;
    }
    /* Returns the number of files that --stats left behind. */
    size_t count_files() const
    {
        size_t count = 0;
        for (const auto &item : fs::directory_iterator(scratch()))
            count += item.path().filename().string().find("ingot-run-") == 0;
        return count;
    }

    const fs::path layer_ = scratch() / "layer.so";
};

TEST_F(CliRun, PutsTheLayerInFrontOfOthers)
{
    const std::string layer = layer_.string();
    EXPECT_EQ(layer, variable("OPENCL_LAYERS", {}));
    EXPECT_EQ(layer + ":/a.so:/b.so", variable("OPENCL_LAYERS", {}, {{"OPENCL_LAYERS", "/a.so:/b.so"}}));
    const std::string longer = "/a.so:" + layer + ".so";
    EXPECT_EQ(layer + ":" + longer, variable("OPENCL_LAYERS", {}, {{"OPENCL_LAYERS", longer}}));
    for (const std::string &list : {layer, "/a.so:" + layer, ":" + layer + ":/a.so", "::" + layer})
        EXPECT_EQ(list, variable("OPENCL_LAYERS", {}, {{"OPENCL_LAYERS", list}}));
}

TEST_F(CliRun, AsksForAllPythonFrameworksUnlessTheEnvironmentDoes)
{
    EXPECT_EQ("all", variable("INGOT_PYTHON", {}));
    EXPECT_EQ("jax", variable("INGOT_PYTHON", {}, {{"INGOT_PYTHON", "jax"}}));
    EXPECT_EQ("", variable("INGOT_PYTHON", {}, {{"INGOT_PYTHON", ""}}));
}

TEST_F(CliRun, SetsWhatItsOptionsSay)
{
    EXPECT_EQ(root().string(), variable("INGOT_PERSIST_DIR", {}));
    for (const char *name : {"INGOT_PERSIST_READ_ONLY", "INGOT_PERSIST_NAMESPACE", "INGOT_TRACE", "INGOT_LAYER_STATS"})
        EXPECT_EQ("unset", variable(name, {})) << name;
    const std::string other = (scratch() / "other").string();
    EXPECT_EQ(other, variable("INGOT_PERSIST_DIR", {"--store", other}));
    EXPECT_EQ(other, variable("INGOT_PERSIST_DIR", {"--dir=" + other}));
    EXPECT_TRUE(fs::exists(fs::path(other) / "CACHEDIR.TAG"));
    EXPECT_EQ("unset", variable("INGOT_PERSIST_STORE_MODE", {}));
    EXPECT_EQ("now", variable("INGOT_PERSIST_STORE_MODE", {"--now"}));
    EXPECT_EQ("1", variable("INGOT_PERSIST_READ_ONLY", {"--read-only"}));
    EXPECT_EQ("games", variable("INGOT_PERSIST_NAMESPACE", {"--namespace", "games"}));
    EXPECT_EQ("1", variable("INGOT_TRACE", {"--trace"}));
    EXPECT_EQ("/tmp/trace", variable("INGOT_TRACE", {"--trace=/tmp/trace"}));
    const std::string requests = (scratch() / "requests").string();
    EXPECT_EQ("unset", variable("INGOT_RECORD", {}));
    EXPECT_EQ(requests, variable("INGOT_RECORD", {"--record", requests}));
    EXPECT_TRUE(fs::exists(requests)) << "an empty store, which shows that it can be written";
    EXPECT_EQ(0u, variable("INGOT_LAYER_STATS", {"--stats"}).find(scratch().string() + "/ingot-run-"));
}

/* A tool that was moved finds the layer that was moved with it. */
TEST_F(CliRun, FindsTheLayerBesideTheTool)
{
    const fs::path tool = scratch() / "cli" / "ingot";
    const fs::path layer = scratch() / "layers" / "opencl" / "libIngotOpenCLLayer.so";
    fs::create_directories(tool.parent_path());
    fs::create_directories(layer.parent_path());
    fs::copy_file(CLI_PROGRAM, tool);
    store_fixture::write_file(layer, store_fixture::bytes_of("a layer"));
    const Result result = run_command({tool.string(), "run", "--store", root().string(), "printenv", "OPENCL_LAYERS"},
                                      {{"INGOT_LAYER_PATH", ""}, {"OPENCL_LAYERS", ""}});
    EXPECT_EQ(layer.string() + "\n", result.output);
}

/* Paths must be absolute, because the command may change its directory. */
TEST_F(CliRun, MakesPathsAbsolute)
{
    const fs::path here = fs::current_path();
    const std::string relative = fs::relative(scratch() / "other", here).string();
    EXPECT_EQ((here / relative).string(), variable("INGOT_PERSIST_DIR", {"--store", relative}));
    EXPECT_EQ((here / "trace").string(), variable("INGOT_TRACE", {"--trace=trace"}));
}

TEST_F(CliRun, LeavesTheRestToTheCommand)
{
    EXPECT_EQ("--stats --help -- x\n", run_with({"echo", "--stats", "--help", "--", "x"}).output);
    EXPECT_EQ("--stats\n", run_with({"--", "echo", "--stats"}).output);
}

TEST_F(CliRun, EndsAsTheCommandDoes)
{
    store_fixture::write_file(scratch() / "file", {}); /* not executable */
    for (const std::vector<std::string> &options : {std::vector<std::string>{}, {"--stats"}}) {
        const auto code_of = [&](const std::vector<std::string> &command) {
            std::vector<std::string> arguments = options;
            arguments.push_back("--");
            arguments.insert(arguments.end(), command.begin(), command.end());
            return run_with(arguments).code;
        };
        EXPECT_EQ(0, code_of({"true"}));
        EXPECT_EQ(7, code_of({"/bin/sh", "-c", "exit 7"}));
        EXPECT_EQ(128 + SIGTERM, code_of({"/bin/sh", "-c", "kill -TERM $$"}));
        EXPECT_EQ(128 + SIGKILL, code_of({"/bin/sh", "-c", "kill -KILL $$"}));
        EXPECT_EQ(128 + SIGUSR1, code_of({"/bin/sh", "-c", "kill -USR1 $$"}));
        EXPECT_EQ(127, code_of({"/nonexistent/command"}));
        EXPECT_EQ(127, code_of({"no-such-command-anywhere"}));
        EXPECT_EQ(126, code_of({(scratch() / "file").string()}));
        EXPECT_EQ(0u, count_files());
    }
}

TEST_F(CliRun, KnowsWrongUsage)
{
    EXPECT_EQ(125, run_with({}).code);
    EXPECT_EQ(125, run_with({"--melt", "true"}).code);
    EXPECT_EQ(125, run_with({"--on-miss", "fial", "true"}).code);
    EXPECT_EQ(0, run_with({"--on-miss", "fail", "--", "/bin/sh", "-c", "test $INGOT_ON_MISS = fail"}).code);
    EXPECT_EQ(0, run_with({"--stats", "true"}, {{"TMPDIR", "/nonexistent"}}).code);
}

/* Mount namespaces without /proc, or in which no temporary file can be created. */
TEST_F(CliRun, StartsTheCommandInAnySandbox)
{
    const std::string hide_proc = "mount -t tmpfs none /proc && ";
    if (run_command({"/usr/bin/unshare", "-rm", "/bin/sh", "-c", hide_proc + "true"}).code != 0)
        GTEST_SKIP() << "this machine allows no mount namespaces";
    const std::string tool = "INGOT_LAYER_PATH=" + layer_.string() + " " CLI_PROGRAM " run --store " + root().string();
    EXPECT_TRUE(run_command({"/usr/bin/unshare", "-rm", "/bin/sh", "-c", hide_proc + tool + " -- echo it ran"})
                    .is(0, "it ran\n"));
    std::string read_only;
    for (const char *directory : {"/tmp", "/dev/shm"})
        read_only += "mount --bind " + std::string(directory) + " " + directory + " && mount -o remount,ro,bind " +
                     directory + " && ";
    const Result no_space = run_command({"/usr/bin/unshare", "-rm", "/bin/sh", "-c",
                                         read_only + "TMPDIR=/nonexistent " + tool + " --stats -- echo it ran"});
    EXPECT_TRUE(no_space.is(0, "it ran\n"));
    EXPECT_TRUE(no_space.says("ingot run: nothing is counted: "));
}

/* One line says what is missing. With --strict, the command does not run. */
TEST_F(CliRun, RunsTheCommandWithoutWhatIsMissing)
{
    store_fixture::write_file(scratch() / "file", {});
    fs::create_directory(scratch() / "open");
    fs::permissions(scratch() / "open", fs::perms::all);
    const struct {
        std::vector<std::string> options;
        std::map<std::string, std::string> environment;
        std::string reason;
    } situations[] = {
        {{}, {{"INGOT_LAYER_PATH", "/nonexistent/layer.so"}}, "/nonexistent/layer.so cannot be read"},
        {{}, {{"INGOT_LAYER_PATH", "/a:b"}}, "has a colon in its path"},
        {{"--record", "/nonexistent/requests"}, {}, "nothing is recorded in /nonexistent/requests: "},
        {{"--store", "/nonexistent/store"}, {}, "/nonexistent"},
        {{"--store", (scratch() / "file").string()}, {}, "/file"},
        {{"--store", (scratch() / "open").string()}, {}, "/open"},
        {{"--read-only"}, {{"INGOT_PERSIST_DIR", (scratch() / "none").string()}}, "/none"},
        {{"--namespace", ".."}, {}, "INGOT_PERSIST_NAMESPACE: \"..\""},
        {{}, {{"INGOT_PERSIST", "0"}}, "INGOT_PERSIST is off"},
        {{}, {{"INGOT_PERSIST", "yse"}}, "INGOT_PERSIST: \"yse\""},
        {{}, {{"INGOT_PERSIST_MAX_SIZE", "1GB"}}, "INGOT_PERSIST_MAX_SIZE: \"1GB\""},
        {{}, {{"INGOT_PERSIST_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}}, "HOME"},
        {{}, {{"INGOT_LAYER_DISABLE", "yse"}}, "INGOT_LAYER_DISABLE: \"yse\""},
    };
    for (const auto &situation : situations) {
        std::vector<std::string> arguments = situation.options;
        arguments.insert(arguments.end(), {"--", "/bin/sh", "-c", "echo it ran; exit 7"});
        const Result result = run_with(arguments, situation.environment);
        EXPECT_EQ(7, result.code) << situation.reason;
        EXPECT_TRUE(result.says(situation.reason));
        EXPECT_TRUE(result.says("it ran\n"));
        EXPECT_EQ(2, std::count(result.output.begin(), result.output.end(), '\n')) << result.output;
        arguments.insert(arguments.begin(), "--strict");
        const Result strict = run_with(arguments, situation.environment);
        EXPECT_EQ(125, strict.code) << situation.reason;
        EXPECT_TRUE(strict.says(situation.reason));
        EXPECT_EQ(1, std::count(strict.output.begin(), strict.output.end(), '\n')) << strict.output;
    }
    EXPECT_FALSE(fs::exists(scratch() / "none"));
    EXPECT_EQ("it runs\n", run_with({"--strict", "echo", "it runs"}).output);
}

TEST_F(CliRun, AddsUpWhatAllProcessesDid)
{
    const std::string process =
        "printf 'processes=1\\nprograms=2\\nhits=1\\nbuilds=1\\npassed=3\\nfailed=1\\nleft=2\\nstored=1\\n"
        "refused=5\\n"
        "build_ns=20000000\\nawaited=4\\nwait_timeouts=1\\n' >>$INGOT_LAYER_STATS; ";
    const std::string other =
        "printf 'later=7\\n\\n=\\nprograms\\nhits=1x\\nprograms=40' >>$INGOT_LAYER_STATS; echo done";
    const Result result = run_with({"--stats", "/bin/sh", "-c", process + process + other});
    EXPECT_EQ(0, result.code);
    EXPECT_EQ("done\n"
              "ingot run: 44 programs in 2 processes\n"
              "  loaded          2\n"
              "  compiled        2, which took 40.0 ms\n"
              "  passed through  6, of which 2 failed\n"
              "                  4 were left to the driver's own cache, because their device generates code at launch: "
              "--now stores them, or \"--record DIR\" and then \"ingot build DIR\"\n"
              "  stored          2\n"
              "  refused         10\n"
              "  awaited         8, and 2 times too long\n",
              result.output);
    EXPECT_EQ("ingot run: no process built OpenCL programs through the layer\n", run_with({"--stats", "true"}).output);
    EXPECT_EQ(0u, count_files());
}

/* The shell sleeps in short steps, because it runs a trap only between two commands. */
TEST_F(CliRun, PassesSignalsOn)
{
    const Result result =
        tool_with_signal({"run", "--stats", "--store", root().string(), "--", "/bin/sh", "-c",
                          "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.01; done"},
                         SIGTERM, "ready\n", 0, {{"INGOT_LAYER_PATH", layer_.string()}});
    EXPECT_TRUE(result.is(5, "caught\ningot run: no process "));
}

} // namespace

/*
 * layer_test.cpp - tests the OpenCL layer, which the loader loads into an application that does not know about Ingot
 * (layer_child.cpp).
 */
#include <thread>

#include "support/opencl_platform.h"
#include "support/recorded_requests.h"
#include "support/server_process.h"

namespace
{

namespace fs = std::filesystem;

struct Ending {
    int status;
    std::string output;
    std::map<std::string, size_t> seen;   /* how often the counting layer saw each call */
    std::map<std::string, size_t> counts; /* the counts that INGOT_LAYER_STATS collected */
};

const std::string layer_above = COUNTING_LAYER ":" LAYER; /* Ingot's layer is above the counting one */
const std::string layer_below = LAYER ":" COUNTING_LAYER;

class Layer : public ::testing::Test
{
protected:
    using Environment = child_process::Child::Environment;

    std::string path(const std::string &name) const { return (scratch_.path() / name).string(); }

    /* Returns the environment of a child. The last layer in the list is called first. The leak checker is off: GCC's
     * leak checker sometimes crashes or hangs if a driver's threads end with the process or are missing after a fork,
     * and Intel's driver leaks a program in threads even without the layer. opencl_layer_test looks for leaks of the
     * layer. */
    Environment environment_with(const std::string &layers) const
    {
        return {{"INGOT_RECORD", path("requests")},  {"OPENCL_LAYERS", layers},
                {"INGOT_TEST_COUNTS", path("seen")}, {"INGOT_LAYER_STATS", path("counts")},
                {"INGOT_PERSIST_STORE_MODE", mode_}, {"INGOT_PERSIST_LOCK_TIMEOUT", "60s"},
                {"LSAN_OPTIONS", "detect_leaks=0"}};
    }
    Ending run(const std::vector<std::string> &command, const std::string &layers,
               const std::function<void(const child_process::Child &)> &meanwhile = {}) const
    {
        fs::remove(path("seen"));
        fs::remove(path("counts"));
        child_process::Child child(command, path("output"), environment_with(layers));
        if (meanwhile)
            meanwhile(child);
        Ending ending = {child.wait(), "", {}, {}};
        ending.output = child.output();
        std::ifstream seen(path("seen"));
        for (std::string line; std::getline(seen, line);)
            ++ending.seen[line];
        std::ifstream counts(path("counts"));
        for (std::string line; std::getline(counts, line);)
            ending.counts[line.substr(0, line.find('='))] += std::stoull(line.substr(line.find('=') + 1));
        return ending;
    }
    Ending run_child(const std::string &mode, const std::string &layers = LAYER) const
    {
        return run({LAYER_CHILD, mode, path("store")}, layers);
    }

#if HAS_REMOTE
    /* Runs a child until it has built its programs and the server has all that it uploads: exit() uploads nothing. A
     * lease ends with its upload. */
    Ending run_until_uploaded(const server_process::Redis &redis, const std::string &store) const
    {
        const std::string pipe = store + ".end";
        EXPECT_EQ(0, mkfifo(pipe.c_str(), 0600));
        return run({LAYER_CHILD, "waiting", store}, layer_above, [&](const child_process::Child &child) {
            int end;
            while ((end = open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && child.is_running())
                std::this_thread::yield();
            while (child.is_running() && redis.ask({"KEYS", "*:lease"}).find("lease") != std::string::npos)
                std::this_thread::yield();
            if (end >= 0)
                close(end);
        });
    }
#endif

    static void expect_right(const Ending &ending, const std::string &count)
    {
        EXPECT_EQ(42, ending.status) << ending.output;
        EXPECT_NE(std::string::npos, ending.output.find(count + " right\n")) << ending.output;
        EXPECT_NE(std::string::npos, ending.output.find("with the layer\n")) << ending.output;
    }

    ScratchDirectory scratch_;
    std::string mode_ = "now"; /* PoCL's programs would not be stored otherwise */
};

/* PoCL generates code at launch, too. The store gets it when the program is released, and PoCL's own cache is empty. */
TEST_F(Layer, CompilesNothingInTheSecondProcess)
{
    const Ending cold = run_child("plain", layer_above);
    const std::string empty_cache = "POCL_CACHE_DIR='" + path("pocl") + "' exec \"$0\" plain \"$1\"";
    const Ending warm = run({"/bin/sh", "-c", empty_cache, LAYER_CHILD, path("store")}, layer_above);

    expect_right(cold, "4");
    expect_right(warm, "4");
    EXPECT_LE(4u, cold.seen.at("build"));
    EXPECT_EQ(0u, warm.seen.count("build"));
    EXPECT_EQ(0u, warm.seen.count("compile"));
    EXPECT_LE(4u, warm.seen.at("load"));
    EXPECT_NE(std::string::npos, warm.output.find("\nalone\n")) << warm.output;
    if (OpenclPlatform::get().is_pocl()) { /* it runs a linker, so a process that compiles is not alone */
        EXPECT_EQ(std::string::npos, cold.output.find("\nalone\n")) << cold.output;
    }
}

#if !IS_SANITIZED /* a sanitizer needs more address space */
/* PoCL allocates memory for a binary and does not check whether it got it, so it is not asked for one. */
TEST_F(Layer, EndsAsTheBareDriverIfMemoryIsLimited)
{
    if (!OpenclPlatform::get().is_pocl())
        return;
    for (int kilobytes = 400000; kilobytes <= 850000; kilobytes += 90000) {
        const std::string limit = "ulimit -v " + std::to_string(kilobytes) + "; exec \"$0\" plain \"$1\"";
        const Ending bare = run({"/bin/sh", "-c", limit, LAYER_CHILD, path("none")}, "");
        const Ending layered = run({"/bin/sh", "-c", limit, LAYER_CHILD, path("store")}, LAYER);
        EXPECT_EQ(bare.status, layered.status) << kilobytes << ": " << layered.output;
    }
}
#endif

#if HAS_REMOTE
/* Each machine has its own store. */
TEST_F(Layer, CompilesNothingThatAnotherMachineCompiled)
{
    const server_process::Redis redis;
    const auto run_machine = [&](const char *store) {
        setenv("INGOT_PERSIST_REMOTE", redis.url().c_str(), 1);
        const Ending ending = run_until_uploaded(redis, path(store));
        unsetenv("INGOT_PERSIST_REMOTE");
        return ending;
    };
    const Ending first = run_machine("machine1");
    EXPECT_EQ("4\n", redis.ask({"DBSIZE"}));
    const Ending second = run_machine("machine2");
    expect_right(first, "4");
    expect_right(second, "4");
    EXPECT_LE(4u, first.seen.at("build"));
    EXPECT_EQ(0u, second.seen.count("build"));
}

/* A stranger has put programs on the server. */
TEST_F(Layer, RunsNoUnsealedProgramOfAServerIfSealsAreRequired)
{
    const server_process::Redis redis;
    const std::string key = path("key");
    ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_key_create(key.c_str(), INGOT_PERSIST_KEY_ED25519_SECRET, &info));
    const auto run_machine = [&](const char *store, const std::string &key_file) {
        setenv("INGOT_PERSIST_REMOTE", redis.url().c_str(), 1);
        if (!key_file.empty()) {
            setenv("INGOT_PERSIST_TRUST", "require", 1);
            setenv("INGOT_PERSIST_KEYS", key_file.c_str(), 1);
        }
        const Ending ending = run_until_uploaded(redis, path(store));
        for (const char *name : {"INGOT_PERSIST_REMOTE", "INGOT_PERSIST_TRUST", "INGOT_PERSIST_KEYS"})
            unsetenv(name);
        expect_right(ending, "4");
        return ending;
    };
    (void)run_machine("stranger", "");
    EXPECT_EQ("4\n", redis.ask({"DBSIZE"}));
    EXPECT_LE(4u, run_machine("reader1", key + ".pub").seen.at("build"));
    EXPECT_LE(4u, run_machine("producer", key).seen.at("build"));
    EXPECT_EQ(0u, run_machine("reader2", key + ".pub").seen.count("build")) << "the producer replaced them";
}

TEST_F(Layer, UsesTheStoreAloneIfTheServerIsOfNoUse)
{
    /* An empty file is not a library, so the directory hides the system's libcurl. */
    fs::create_directory(path("without-curl"));
    std::ofstream(path("without-curl/libcurl.so.4")).close();
    const struct {
        std::vector<std::string> variables;
        std::string reason;
    } cases[] = {
        {{"INGOT_PERSIST_REMOTE=nonsense"}, ""},
        {{"INGOT_PERSIST_REMOTE=redis://127.0.0.1:9", "LD_LIBRARY_PATH=" + path("without-curl")}, "libcurl.so.4"},
    };
    for (const auto &given : cases) {
        const std::string store = path("store" + std::to_string(given.variables.size())), trace = path("trace");
        const auto run_process = [&] {
            std::vector<std::string> command = {"/usr/bin/env", "INGOT_TRACE=" + trace};
            command.insert(command.end(), given.variables.begin(), given.variables.end());
            command.insert(command.end(), {LAYER_CHILD, "plain", store});
            fs::remove(trace);
            return run(command, layer_above);
        };
        expect_right(run_process(), "4");
        const Ending warm = run_process();
        expect_right(warm, "4");
        EXPECT_EQ(0u, warm.seen.count("build"));

        std::ifstream file(trace);
        size_t events = 0;
        for (std::string line; std::getline(file, line);)
            if (line.find("the server of INGOT_PERSIST_REMOTE is not used") != std::string::npos) {
                ++events;
                EXPECT_NE(std::string::npos, line.find(given.reason)) << line;
                EXPECT_EQ(std::string::npos, line.find("another version")) << line;
            }
        EXPECT_EQ(1u, events) << given.variables[0];
    }
}
#endif

TEST_F(Layer, RefusesToCompileWithAReasonIfAMissMustFail)
{
    expect_right(run_child("plain"), "4");
    const auto strict = [this](const char *mode, const std::string &store, const char *word = "fail") {
        return run({"/usr/bin/env", std::string("INGOT_ON_MISS=") + word, LAYER_CHILD, mode, store}, layer_above);
    };
    Ending warm = strict("plain", path("store"));
    expect_right(warm, "4");
    EXPECT_EQ(0u, warm.seen.count("build"));
    for (const char *store : {"store", "empty"}) {
        Ending ending =
            strict("refused", path(store), *store == 's' ? "fail" : "strict"); /* a wrong word is the same */
        expect_right(ending, "1");
        EXPECT_EQ(0u, ending.seen.count("build") + ending.seen.count("compile")) << ending.output;
        const std::string reason = *store == 's' ? "miss: nearest is " : "miss: no entry to compare with";
        EXPECT_NE(std::string::npos, ending.output.find("build -11, status -2, log " + reason)) << ending.output;
        EXPECT_NE(std::string::npos, ending.output.find("compile -15")) << ending.output;
    }
    const Ending without = strict("refused", "/proc/none");
    EXPECT_NE(std::string::npos, without.output.find("log miss: there is no store")) << without.output;
}

/* Whatever the layer builds for an answer is counted, too. */
TEST_F(Layer, CountsEachBuildThatReachesTheCompiler)
{
    for (const char *state : {"cold", "warm", "warm again"}) {
        Ending ending = run_child("asks", layer_above);
        expect_right(ending, "1");
        /* PoCL's first blob is taken from a second program, which its cache answers. */
        const auto again = OpenclPlatform::get().is_pocl() ? ending.counts["stored"] : 0;
        EXPECT_EQ(ending.seen["build"], ending.counts["builds"] + ending.counts["passed"] + again) << state << "\n"
                                                                                                   << ending.output;
        EXPECT_EQ(0u, ending.counts["passed"]) << state;
    }
}

TEST_F(Layer, RecordsWhatTheApplicationBuilds)
{
    expect_right(run_child("plain"), "4");
    const size_t count = recorded_requests::count(path("requests"));
    EXPECT_LE(4u, count);
    expect_right(run_child("plain"), "4");
    EXPECT_EQ(count, recorded_requests::count(path("requests"))) << "by a process that loads its programs";
}

/* The steps of doc/shipping.md. */
TEST_F(Layer, CompilesNothingIfItsRequestsWereBuilt)
{
    mode_ = "auto";
    const Ending recorded = run({LAYER_CHILD, "plain", path("recorded")}, LAYER);
    expect_right(recorded, "4");
    if (OpenclPlatform::get().is_pocl()) { /* its own cache serves these programs, unless they are built ahead */
        EXPECT_EQ(4u, recorded.counts.at("left"));
        EXPECT_EQ(recorded.counts.at("passed"), recorded.counts.at("left"));
        EXPECT_EQ(0u, recorded.counts.at("stored"));
        EXPECT_EQ(0u, recorded.counts.count("builds"));
    }
    const Ending built = run({CLI_PROGRAM, "build", path("requests"), "--into", path("store")}, "");
    EXPECT_EQ(0, built.status) << built.output;
    const Ending warm = run_child("plain", layer_above);
    expect_right(warm, "4");
    EXPECT_EQ(0u, warm.seen.count("build"));
    EXPECT_EQ(0u, warm.counts.count("left"));
    EXPECT_LE(4u, warm.seen.at("load"));
}

TEST_F(Layer, SaysOnceThatItCannotCount)
{
    const Ending ending =
        run({"/usr/bin/env", "INGOT_LAYER_STATS=" + path("absent/counts"), LAYER_CHILD, "plain", path("store")}, LAYER);
    expect_right(ending, "4");
    const std::string sentence = "could not be written";
    const size_t first = ending.output.find(sentence);
    ASSERT_NE(std::string::npos, first) << ending.output;
    EXPECT_EQ(std::string::npos, ending.output.find(sentence, first + 1)) << ending.output;
}

/* A file that is as large as files may become, and a FIFO that nobody reads. */
TEST_F(Layer, RunsWithAStatisticsFileThatTakesNothing)
{
    constexpr uintmax_t kLimit = 16 << 20; /* which no other file reaches */
    std::ofstream(path("full")).close();
    fs::resize_file(path("full"), kLimit);
    ASSERT_EQ(0, mkfifo(path("fifo").c_str(), 0600));
    for (const char *file : {"full", "fifo"}) {
        const Ending ending = run({"/usr/bin/prlimit", "--fsize=" + std::to_string(kLimit), "/usr/bin/env",
                                   "INGOT_LAYER_STATS=" + path(file), LAYER_CHILD, "plain", path("store")},
                                  LAYER);
        expect_right(ending, "4");
    }
    EXPECT_EQ(kLimit, fs::file_size(path("full")));
}

/* The application runs as without the layer. */
TEST_F(Layer, SaysOnceInTheTraceWhyItCachesNothing)
{
    fs::create_directory(path("open"));
    fs::permissions(path("open"), fs::perms::all);
    const struct {
        std::vector<std::string> settings;
        std::string store;
        std::string reason;
    } situations[] = {
        {{"INGOT_PERSIST_MAX_SIZE=1GB"}, path("store"), "INGOT_PERSIST_MAX_SIZE: \\u00221GB\\u0022"},
        {{"INGOT_PERSIST_READ_ONLY=yse"}, path("store"), "INGOT_PERSIST_READ_ONLY: \\u0022yse\\u0022"},
        {{"INGOT_LAYER_DISABLE=yse"}, path("store"), "INGOT_LAYER_DISABLE: \\u0022yse\\u0022"},
        {{"INGOT_PERSIST_NAMESPACE=a/b"}, path("store"), "INGOT_PERSIST_NAMESPACE: \\u0022a/b\\u0022"},
        {{}, path("open"), "/open"},
        {{"XDG_CACHE_HOME=", "HOME="}, "", "HOME"},
    };
    for (const auto &situation : situations) {
        std::vector<std::string> command = {"/usr/bin/env", "INGOT_TRACE=" + path("trace")};
        command.insert(command.end(), situation.settings.begin(), situation.settings.end());
        command.insert(command.end(), {LAYER_CHILD, "plain", situation.store});
        fs::remove(path("trace"));
        const Ending ending = run(command, layer_above);
        EXPECT_EQ(42, ending.status) << ending.output;
        EXPECT_NE(std::string::npos, ending.output.find("4 right\n")) << ending.output;
        std::ifstream trace(path("trace"));
        size_t count = 0;
        for (std::string line; std::getline(trace, line);)
            count += line.find("storage_degraded") != std::string::npos &&
                     line.find("the OpenCL layer caches nothing: ") != std::string::npos &&
                     line.find(situation.reason) != std::string::npos;
        EXPECT_EQ(1u, count) << situation.reason;
        EXPECT_EQ(0u, ending.seen.count("load")) << situation.reason;
    }
}

TEST_F(Layer, ShowsAnotherLayerAboveItWhatTheApplicationCalls)
{
    for (int i = 0; i < 2; ++i) {
        const Ending ending = run_child("plain", layer_below);
        expect_right(ending, "4");
        EXPECT_EQ(4u, ending.seen.at("source"));
        EXPECT_EQ(4u, ending.seen.at("build"));
        EXPECT_EQ(2u, ending.seen.size()); /* no other calls */
    }
}

/* Makes processes start together. A process that is ready writes a byte to the pipe ready_, and then waits for a byte
 * from the pipe go_. */
class StartTogether : NotCopied
{
public:
    explicit StartTogether(const std::string &store) : ready_(make(store + ".ready")), go_(make(store + ".go")) {}
    ~StartTogether()
    {
        close(ready_);
        close(go_);
    }
    void start(int count) const
    {
        for (int got = 0; got < count; ++got) {
            pollfd event = {ready_, POLLIN, 0};
            char byte;
            ASSERT_EQ(1, poll(&event, 1, 120000)) << "a process does not get ready";
            ASSERT_EQ(1, read(ready_, &byte, 1));
        }
        ASSERT_EQ(count, write(go_, std::string(static_cast<size_t>(count), 'g').data(), static_cast<size_t>(count)));
    }

private:
    /* Opens both ends of the pipe, so that no process that opens one end must wait for the other end. */
    static int make(const std::string &name)
    {
        EXPECT_EQ(0, mkfifo(name.c_str(), 0600));
        return open(name.c_str(), O_RDWR | O_CLOEXEC);
    }
    int ready_, go_;
};

/* PoCL's programs are shared only if they are stored immediately. */
TEST_F(Layer, HasProcessesThatStartTogetherCompileEachProgramOnce)
{
    std::vector<std::unique_ptr<child_process::Child>> children;
    Environment environment = environment_with(LAYER);
    environment["INGOT_LAYER_STATS"] = path("stats");
    environment["INGOT_PERSIST_STORE_MODE"] = "now";
    environment["INGOT_PERSIST_BUILD_WAIT"] = "240s"; /* longer than any process waits */
    const StartTogether gate(path("store"));
    for (int i = 0; i < 4; ++i) {
        const std::vector<std::string> command = {LAYER_CHILD, "together", path("store")};
        children.push_back(
            std::make_unique<child_process::Child>(command, path("output") + std::to_string(i), environment));
    }
    gate.start(4);
    for (const auto &child : children)
        EXPECT_EQ(42, child->wait()) << child->output();
    std::map<std::string, uint64_t> sums;
    std::ifstream stats(path("stats"));
    for (std::string line; std::getline(stats, line);) {
        const size_t equals = line.find('=');
        sums[line.substr(0, equals)] += std::stoull(line.substr(equals + 1));
    }
    EXPECT_EQ(4u, sums["builds"]);
    EXPECT_EQ(12u, sums["hits"]);
    EXPECT_LT(0u, sums["awaited"]);
    EXPECT_EQ(0u, sums["wait_timeouts"]);
}

TEST_F(Layer, ServesSixteenThreads)
{
    expect_right(run_child("threads"), "100");
    const Ending warm = run_child("threads", layer_above);
    expect_right(warm, "100");
    EXPECT_EQ(0u, warm.seen.count("build"));
}

TEST_F(Layer, OutlivesAFork)
{
    expect_right(run_child("fork"), "4");
/* ASan's allocator stays locked in the child if another thread allocates during the fork. */
#ifndef __SANITIZE_ADDRESS__
    expect_right(run_child("forked"), "4");
#endif
    expect_right(run_child("exec"), "4");
}

TEST_F(Layer, KeepsWhatAnApplicationWithEverythingAliveBuilt)
{
    expect_right(run_child("alive", layer_above), "4");
    const Ending warm = run_child("alive", layer_above);
    expect_right(warm, "4");
    EXPECT_EQ(0u, warm.seen.count("build"));
}

TEST_F(Layer, DoesNothingWhenItIsTurnedOff)
{
    setenv("INGOT_LAYER_DISABLE", "1", 1);
    for (int i = 0; i < 2; ++i) {
        const Ending ending = run_child("plain", layer_above);
        expect_right(ending, "4");
        EXPECT_EQ(4u, ending.seen.at("build"));
        EXPECT_EQ(0u, ending.seen.count("binary"));
    }
    unsetenv("INGOT_LAYER_DISABLE");
    EXPECT_FALSE(fs::exists(path("store")));
}

/* While an application runs, an update may replace its file. */
TEST_F(Layer, NamesTheNamespaceOfAReplacedFileAsThatOfTheFile)
{
    const Ending ending = run({"/bin/bash", "-c",
                               "cp " LAYER_CHILD " $0/app && exec 3<$0/app && rm $0/app && "
                               "exec /proc/self/fd/3 plain $0/store",
                               scratch_.path().string()},
                              LAYER);
    expect_right(ending, "4");
    EXPECT_TRUE(fs::exists(path("store/app")));
    EXPECT_FALSE(fs::exists(path("store/app__deleted_")));
}

/* An application may have a name that has a meaning of its own in a store. */
TEST_F(Layer, AddsAnUnderscoreToANamespaceThatIsTaken)
{
    for (const char *name : {"lock", "12345"}) {
        fs::copy_file(LAYER_CHILD, path(name));
        expect_right(run({path(name), "plain", path("store")}, LAYER), "4");
        EXPECT_TRUE(fs::is_directory(path("store") + "/" + name + "_")) << name;
    }
}

/* One user runs another user's setuid program. The program must use the store of neither user. */
TEST_F(Layer, LeavesSetuidProgramsAlone)
{
    const std::string setpriv = "/usr/bin/setpriv";
    if (geteuid() != 0 || !fs::exists(setpriv) || IS_SANITIZED || test_device::wanted() != "pocl")
        GTEST_SKIP() << "needs root and setpriv, PoCL, and no sanitizer";
    const std::string child = path("child");
    const std::string layer = path("libIngotOpenCLLayer.so");
    fs::copy_file(LAYER_CHILD, child);
    fs::copy_file(LAYER, layer);
    fs::create_directory(path("all"));
    fs::create_directory(path("pocl"));
    ASSERT_EQ(0, chmod(scratch_.path().c_str(), 0711));
    ASSERT_EQ(0, chmod(path("all").c_str(), 01777));
    ASSERT_EQ(0, chmod(path("pocl").c_str(), 0777));
    ASSERT_EQ(0, chown(child.c_str(), 65533, 65533));
    ASSERT_EQ(0, chmod(child.c_str(), 04755));
    setenv("POCL_CACHE_DIR", path("pocl").c_str(), 1);

    const std::vector<std::string> command = {setpriv, "--reuid=65534", "--regid=65534",  "--clear-groups",
                                              child,   "plain",         path("all/store")};
    const Ending without = run(command, ""); /* PoCL's compiler may fail here even without the layer */
    const Ending with = run(command, layer);
    EXPECT_EQ(without.status, with.status) << with.output;
    EXPECT_FALSE(fs::exists(path("all/store")));

    ASSERT_EQ(0, chmod(child.c_str(), 0755)); /* the same program, no longer setuid */
    const Ending plain = run(command, layer);
    EXPECT_EQ(42, plain.status) << plain.output;
    EXPECT_TRUE(fs::exists(path("all/store")));
}

} // namespace

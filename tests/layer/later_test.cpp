/*
 * later_test.cpp - tests that `ingot run` stores what a command could not store, after the command's end.
 *
 * The programs have so many kernels that the layer does not begin to store them in the time that it has. Orphans
 * become children of this process, so that it can wait for the process that stores. That process waits as long as this
 * one locks the store's directory.
 */
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child_process.h"
#include "support/scratch_directory.h"
#include "support/server_process.h"

namespace
{

namespace fs = std::filesystem;

struct Ending {
    int status;
    std::string output;

    bool has(const std::string &text) const { return output.find(text) != std::string::npos; }
};

/* A lock of the store's directory. */
class Lock
{
public:
    explicit Lock(const std::string &directory) : fd_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        EXPECT_EQ(0, flock(fd_, LOCK_EX));
    }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    ~Lock() { close(fd_); }

private:
    int fd_;
};

class Later : public ::testing::Test
{
protected:
    Later()
    {
        EXPECT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L));
        fs::create_directory(path("store"));
        fs::permissions(path("store"), fs::perms::owner_all);
        fs::create_directory(path("temporary"));
    }
    ~Later() override
    {
        (void)wait_for_orphans();
        EXPECT_TRUE(fs::is_empty(path("temporary"))) << "the recipes are still there";
    }

    std::string path(const std::string &name) const { return (scratch_.path() / name).string(); }

    /* The leak checker is off as in layer_test.cpp. */
    Ending run_shell(const std::string &command, const std::string &trace = "trace") const
    {
        child_process::Child::Environment environment = {{"INGOT", CLI_PROGRAM},
                                                         {"CHILD", LAYER_CHILD},
                                                         {"STORE", path(store_)},
                                                         {"INGOT_LAYER_PATH", LAYER},
                                                         {"OPENCL_LAYERS", ""},
                                                         {"INGOT_PERSIST_DIR", path(store_)},
                                                         {"INGOT_PERSIST_LOCK_TIMEOUT", "60s"},
                                                         {"INGOT_TRACE", path(trace)},
                                                         {"LSAN_OPTIONS", "detect_leaks=0"},
                                                         {"TMPDIR", path("temporary")}};
        environment.insert(more_.begin(), more_.end());
        child_process::Child child({"/bin/bash", "-c", command}, path("output"), environment);
        const int status = child.wait();
        return {status, child.output()};
    }
    Ending run(const std::string &options, const std::string &mode = "large", const std::string &trace = "trace") const
    {
        return run_shell("\"$INGOT\" run --stats " + options + " -- \"$CHILD\" " + mode + " \"$STORE\"", trace);
    }
    /* Returns the number of processes that this one has waited for. */
    size_t wait_for_orphans() const
    {
        size_t count = 0;
        hurry_orphans();
        for (std::vector<pid_t> left = orphans(); !left.empty(); left = orphans())
            count += waitpid(left[0], nullptr, 0) > 0;
        return count;
    }
    /* All children of this process but the server. */
    std::vector<pid_t> orphans() const
    {
        std::vector<pid_t> found;
        std::ifstream children("/proc/self/task/" + std::to_string(gettid()) + "/children");
        for (pid_t child = 0; children >> child;)
            if (child != server_)
                found.push_back(child);
        return found;
    }
    /* Gives the processes that store a normal priority, if this process may do that, because they would starve while
     * other tests use all processors. */
    void hurry_orphans() const
    {
        const sched_param normal = {};
        for (const pid_t orphan : orphans()) {
            (void)sched_setscheduler(orphan, SCHED_OTHER, &normal);
            (void)setpriority(PRIO_PROCESS, static_cast<id_t>(orphan), 0);
        }
    }
    /* Returns how many lines of the trace begin with, or contain, a text. */
    size_t count_in_trace(const std::string &kind) const { return count_lines("ingot," + kind + ",INGOT_SUCCESS,"); }
    size_t count_lines(const std::string &text) const
    {
        size_t count = 0;
        std::ifstream trace(path("trace"));
        for (std::string line; std::getline(trace, line);)
            count += line.find(text) != std::string::npos;
        return count;
    }
    void expect_warm() const
    {
        const Ending warm = run("");
        EXPECT_EQ(42, warm.status);
        EXPECT_TRUE(warm.has("loaded          2") && warm.has("compiled        0")) << warm.output;
    }

    std::string store_ = "store";
    pid_t server_ = 0;                       /* a child that is no orphan; 0: none */
    child_process::Child::Environment more_; /* other variables of what run() executes */

private:
    ScratchDirectory scratch_;
};

} // namespace

/* A shell waits for all processes that have the pipe, so this would hang if the process that stores had it. */
TEST_F(Later, StoresAfterTheCommandAndKeepsNothingOpen)
{
    {
        const Lock lock(path("store"));
        const Ending cold =
            run_shell("x=$(\"$INGOT\" run --stats -- \"$CHILD\" large \"$STORE\" 2>&1); echo \"$? $x\"");
        EXPECT_EQ(0u, cold.output.find("42 with the layer\n")) << cold.output;
        EXPECT_TRUE(cold.has("compiled        2")) << cold.output;
        EXPECT_TRUE(cold.has("  stored          0\n  to be stored    2\n")) << cold.output;
        ASSERT_EQ(1u, orphans().size());
        EXPECT_EQ(SCHED_IDLE, sched_getscheduler(orphans()[0]));
        EXPECT_EQ(0u, count_in_trace("storage_store")) << "the lock did not keep the process from storing";
        hurry_orphans();
    }
    EXPECT_EQ(1u, wait_for_orphans());
    expect_warm();
}

/* The program is expected to take 0.8 s to store, which fits into the second that long commands have, but not into a
 * tenth of the time of a command that takes less than 8 s. */
TEST_F(Later, DelaysShortCommandsLittle)
{
    {
        const Lock lock(path("store"));
        const auto began = std::chrono::steady_clock::now();
        const Ending cold = run("", "medium");
        const bool is_short = std::chrono::steady_clock::now() - began < std::chrono::seconds(8);
        EXPECT_TRUE(!is_short || cold.has("  stored          0\n  to be stored    1\n")) << cold.output;
        hurry_orphans();
    }
    EXPECT_EQ(1u, wait_for_orphans());
    const Ending warm = run("", "medium");
    EXPECT_TRUE(warm.has("loaded          1") && warm.has("compiled        0")) << warm.output;
}

TEST_F(Later, TakesTheTimeThatTheUserSets)
{
    more_ = {{"INGOT_PERSIST_EXIT_TIME", "100s"}};
    const Ending cold = run("", "medium");
    EXPECT_TRUE(cold.has("  stored          1\n")) << cold.output;
}

/* The first of two processes stores, and the second finds that it has nothing to do. */
TEST_F(Later, CompilesNothingTwice)
{
    {
        const Lock lock(path("store"));
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(run("").has("compiled        2"));
        hurry_orphans();
    }
    EXPECT_EQ(2u, wait_for_orphans());
    EXPECT_EQ(2u, count_in_trace("take_blob"));
    EXPECT_EQ(6u, count_in_trace("build"));
    expect_warm();
}

TEST_F(Later, WaitsIfAsked)
{
    EXPECT_EQ(42, run("--wait").status);
    EXPECT_EQ(0u, wait_for_orphans());
    EXPECT_EQ(2u, count_in_trace("storage_store"));
    expect_warm();
}

/* The programs are recorded when they are compiled, so they are not lost with the process. */
TEST_F(Later, StoresWhatAKilledCommandHasCompiled)
{
    EXPECT_EQ(128 + SIGKILL, run("--wait", "dying").status);
    expect_warm();
}

TEST_F(Later, LeavesACorrectStoreIfItIsKilled)
{
    const std::string pipe_path = path("pipe");
    ASSERT_EQ(0, mkfifo(pipe_path.c_str(), 0600));
    const int pipe = open(pipe_path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_LE(0, pipe);
    std::string seen;
    char bytes[4096];
    EXPECT_EQ(42, run("", "large", "pipe").status);
    hurry_orphans();
    while (seen.find("ingot,storage_store,INGOT_SUCCESS,") == std::string::npos) {
        const ssize_t size = read(pipe, bytes, sizeof(bytes));
        ASSERT_LT(0, size);
        seen.append(bytes, static_cast<size_t>(size));
    }
    for (const pid_t orphan : orphans())
        (void)kill(orphan, SIGKILL);
    EXPECT_LE(1u, wait_for_orphans()) << "also waits for the workers, which the kernel kills";
    (void)close(pipe);
    const Ending verified = run_shell("\"$INGOT\" verify --dir \"$STORE\"");
    EXPECT_EQ(0, verified.status) << verified.output;
    EXPECT_EQ(42, run("--wait").status);
    expect_warm();
}

#if HAS_REMOTE
/* Without leases, whose scripts on the server store, too, each upload is one SET. */
TEST_F(Later, UploadsOnceWhatTheCommandCouldNotStore)
{
    const server_process::Redis redis;
    server_ = redis.pid();
    more_ = {{"INGOT_PERSIST_REMOTE", redis.url()}, {"INGOT_PERSIST_REMOTE_LEASES", "0"}};
    {
        const Lock lock(path("store"));
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(run("").has("to be stored    2\n"));
        EXPECT_EQ("0\n", redis.ask({"DBSIZE"}));
        hurry_orphans();
    }
    EXPECT_EQ(2u, wait_for_orphans());
    EXPECT_EQ("2\n", redis.ask({"DBSIZE"}));
    const std::string commands = redis.ask({"INFO", "commandstats"});
    EXPECT_NE(std::string::npos, commands.find("cmdstat_set:calls=2,")) << commands;
    store_ = "other machine";
    expect_warm();
}

/* Both machines have compiled the programs before one of them has uploaded any. */
TEST_F(Later, LoadsWhatAnotherMachineHasUploaded)
{
    const server_process::Redis redis;
    server_ = redis.pid();
    more_ = {{"INGOT_PERSIST_REMOTE", redis.url()}, {"INGOT_PERSIST_REMOTE_LEASES", "0"}};
    fs::create_directory(path("other"), path("store"));
    {
        const Lock other_lock(path("other"));
        {
            const Lock lock(path("store"));
            EXPECT_TRUE(run("").has("compiled        2"));
            store_ = "other";
            EXPECT_TRUE(run("").has("compiled        2"));
            hurry_orphans();
        }
        EXPECT_TRUE(server_process::becomes_true([&] { return redis.ask({"DBSIZE"}) == "2\n"; }));
    }
    EXPECT_EQ(2u, wait_for_orphans());
    EXPECT_EQ(2u, count_in_trace("take_blob"));
    more_.clear();
    expect_warm();
}

/* The workers read the same keys as the application. */
TEST_F(Later, SealsWhatItUploads)
{
    const server_process::Redis redis;
    const std::string key = path("key");
    ASSERT_EQ(0, run_shell("\"$INGOT\" key create --pair \"" + key + "\"").status);
    more_ = {{"INGOT_PERSIST_REMOTE", redis.url()},
             {"INGOT_PERSIST_REMOTE_LEASES", "0"},
             {"INGOT_PERSIST_TRUST", "require"},
             {"INGOT_PERSIST_KEYS", key}};
    EXPECT_EQ(42, run("--wait").status);
    EXPECT_EQ("2\n", redis.ask({"DBSIZE"}));
    more_["INGOT_PERSIST_KEYS"] = key + ".pub";
    store_ = "other machine";
    expect_warm();
}

/* Nothing listens on the first port, the second server accepts connections and never answers, and the third URL is
 * wrong. The layer and the tool say so in the trace. */
TEST_F(Later, StoresHereIfTheServerDoesNotWork)
{
    server_process::Redis silent;
    server_ = silent.pid();
    silent.pause();
    const std::string free_port = std::to_string(server_process::closed_port());
    for (const std::string &url : {"redis://127.0.0.1:" + free_port, silent.url(), std::string("nonsense")}) {
        const size_t stored_before = count_in_trace("storage_store");
        const size_t told_before = count_lines("ingot,storage_degraded,INGOT_");
        store_ = "store for " + url.substr(url.rfind('/') + 1);
        more_ = {{"INGOT_PERSIST_REMOTE", url}};
        const Ending cold = run("--wait");
        EXPECT_EQ(42, cold.status);
        EXPECT_FALSE(cold.has("is not stored")) << cold.output;
        EXPECT_EQ(stored_before + 2, count_in_trace("storage_store")) << url;
        EXPECT_LE(told_before + 2, count_lines("ingot,storage_degraded,INGOT_")) << url;
        expect_warm();
    }
    EXPECT_LE(3u, count_lines("is not used")) << "in two commands and a worker";
}
#endif

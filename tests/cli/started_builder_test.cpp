/*
 * started_builder_test.cpp - builders that the library starts (INGOT_BUILDERS), as processes: when they are started,
 * what they inherit, and that they end.
 */
#include <sched.h>
#include <sys/resource.h>

#include <cstring>
#include <sstream>
#include <thread>

#include <ingot/opencl.hpp>

#include "cli/tool.h"
#include "support/begun_opencl.h"
#include "support/setuid_child.h"

namespace
{

using namespace begun_opencl;

/* Returns nothing of a process that ends meanwhile. */
std::string text_of(const fs::path &file)
{
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

class CliStartedBuilder : public CliTest
{
protected:
    CliStartedBuilder() : native_(std::vector<cl_device_id>{OpenclPlatform::get().devices()[0]})
    {
        use_path(fs::path(CLI_PROGRAM).parent_path());
    }

    ~CliStartedBuilder() override { setenv("PATH", path_.c_str(), 1); }

    void use_path(const fs::path &folder) const { setenv("PATH", (folder.string() + ":/usr/bin:/bin").c_str(), 1); }

    ingot::cache open(uint32_t flags = 0, const char *name_space = nullptr)
    {
        const std::string path = root().string();
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = path.c_str();
        info.name_space = name_space;
        info.flags = flags;
        info.builders = 2;
        info.on_event = [](const ingot_event_t *event, void *user) {
            if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
                static_cast<CliStartedBuilder *>(user)->told_.push_back(event->reason);
        };
        info.on_event_user = this;
        return ingot::cache(info);
    }

    ingot_pending_t begin(const ingot::cache &cache, int number) const
    {
        return begun_opencl::begin(cache.get(), native_.native(), source_of(number));
    }

    /* Returns the processes that were started for the store, and their parents. */
    std::map<std::string, std::string> processes() const
    {
        std::map<std::string, std::string> found;
        for (const auto &each : fs::directory_iterator("/proc")) {
            const std::string arguments = text_of(each.path() / "cmdline");
            const std::string status = text_of(each.path() / "status");
            const size_t parent = status.find("\nPPid:\t");
            if (arguments.find(std::string("--while-used")) != std::string::npos &&
                arguments.find(root().string()) != std::string::npos && parent != std::string::npos)
                found[each.path().filename().string()] =
                    status.substr(parent + 7, status.find('\n', parent + 7) - parent - 7);
        }
        return found;
    }

    /* Returns those of them that no other of them has started. */
    std::vector<std::string> builders() const
    {
        const std::map<std::string, std::string> all = processes();
        std::vector<std::string> found;
        for (const auto &each : all)
            if (all.count(each.second) == 0)
                found.push_back(each.first);
        return found;
    }

    template <typename Condition> static void wait_until(Condition condition)
    {
        while (!condition())
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }

    /* An application that begins programs, and then ends or waits to be killed. */
    std::unique_ptr<child_process::Child> application(const char *how, int number, const char *programs) const
    {
        return std::make_unique<child_process::Child>(
            std::vector<std::string>{CACHE_CHILD, root().string(), "1", programs, "/", how},
            (scratch() / std::to_string(number)).string(), child_process::Child::Environment{{"INGOT_BUILDERS", "2"}});
    }

    /* Puts a tool on PATH that writes down how it was called, and fails. */
    fs::path put_failing_tool() const
    {
        const fs::path folder = scratch() / "bin";
        const fs::path calls = scratch() / "calls";
        fs::create_directory(folder);
        std::ofstream(folder / "ingot") << "#!/bin/sh\n{ echo \"call $*\"; env; } >>" << calls.string()
                                        << "\nkill -SEGV $$\n";
        fs::permissions(folder / "ingot", fs::perms::owner_all);
        use_path(folder);
        return calls;
    }

    OpenclContext native_;
    std::vector<std::string> told_;
    const std::string path_ = std::getenv("PATH");
};

TEST_F(CliStartedBuilder, CompilesWhatIsBegunAndEndsWhenNothingIs)
{
    int ends[2];
    ASSERT_EQ(0, pipe(ends)); /* without FD_CLOEXEC */
    const std::string end = fs::read_symlink("/proc/self/fd/" + std::to_string(ends[1])).string();
    const ingot::cache cache = open();
    std::vector<ingot_pending_t> pending;
    std::thread([&] {
        const struct sched_param first = {1};
        (void)sched_setscheduler(0, SCHED_FIFO, &first); /* which only root may do everywhere */
        for (int i = 0; i < 3; ++i)
            pending.push_back(begin(cache, i));
    }).join();
    wait_until([&] { return builders().size() == 1; });
    const fs::path builder = fs::path("/proc") / builders()[0];
    EXPECT_EQ(SCHED_OTHER, sched_getscheduler(std::stoi(builder.filename())));
    EXPECT_EQ(std::min(19, getpriority(PRIO_PROCESS, 0) + 10),
              getpriority(PRIO_PROCESS, static_cast<id_t>(std::stoi(builder.filename()))));
    std::error_code error; /* what is open may be closed meanwhile */
    for (const auto &each : fs::directory_iterator(builder / "fd", error))
        EXPECT_NE(end, fs::read_symlink(each, error).string());
    EXPECT_EQ(-1, waitpid(-1, nullptr, WNOHANG | int(__WALL))) << "it is a child";
    EXPECT_EQ(ECHILD, errno);
    for (ingot_pending_t each : pending)
        EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(each, 0)) << ingot_last_error_detail();
    for (ingot_pending_t each : pending)
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(each));
    wait_until([&] { return processes().empty(); });
    EXPECT_TRUE(told_.empty()) << told_[0];
    fs::remove_all(root());
    wait_until([&] {
        ingot_pending_drop(begin(cache, 4));
        return !processes().empty();
    });
    ingot_pending_t again = begin(cache, 4);
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(again, 60000)) << "the builder ends, because nobody uses the new store";
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(again));
    close(ends[0]);
    close(ends[1]);
}

TEST_F(CliStartedBuilder, CompilesWhatAPlainCallWishesForAndEndsWithTheCache)
{
    {
        const ingot::cache cache = open(INGOT_CACHE_OPEN_LATER, "app");
        const cl_device_id device = OpenclPlatform::get().devices()[0];
        const std::string source = source_of(1);
        cl_program program = nullptr;
        wait_until([&] {
            const ingot_status_t status = ingot_cache_opencl_build(cache.get(), native_.native(), 1, &device,
                                                                   source.c_str(), 0, "", &program, nullptr);
            EXPECT_TRUE(status == INGOT_SUCCESS || status == INGOT_BUSY) << ingot_last_error_detail();
            return status != INGOT_BUSY;
        });
        EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
    }
    wait_until([&] { return processes().empty(); });
}

/* Eight applications begin the same programs, and all but one are killed. */
TEST_F(CliStartedBuilder, IsOneForAllApplicationsAndEndsWithTheLast)
{
    std::vector<std::unique_ptr<child_process::Child>> applications;
    for (int i = 0; i < 8; ++i)
        applications.push_back(application("stay", i, "4"));
    const ingot::cache cache = open();
    std::vector<ingot_pending_t> pending;
    for (int i = 0; i < 4; ++i)
        pending.push_back(begin(cache, i));
    for (ingot_pending_t each : pending) {
        EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(each, 0)) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(each));
    }
    wait_until([&] { return builders().size() <= 1; }); /* others end once they see the first */
    EXPECT_LE(processes().size(), 3u) << "two of them compile";
    for (const auto &each : applications) {
        each->send(SIGKILL);
        EXPECT_EQ(128 + SIGKILL, each->wait());
    }
}

TEST_F(CliStartedBuilder, EndsWithAnApplicationThatIsKilledOrExits)
{
    for (const char *how : {"stay", "leave"}) {
        const auto one = application(how, 0, "40");
        if (std::strcmp(how, "stay") == 0) {
            wait_until([&] { /* the application has begun more than the builder takes at once */
                             return !processes().empty() && fs::exists(root() / "wanted") &&
                                    std::distance(fs::directory_iterator(root() / "wanted"), {}) >= 10;
            });
            one->send(SIGKILL);
        }
        EXPECT_EQ(std::strcmp(how, "stay") == 0 ? 128 + SIGKILL : 0, one->wait()) << one->output();
        wait_until([&] { return processes().empty(); });
        EXPECT_FALSE(fs::is_empty(root() / "wanted")) << "it did not compile everything first";
    }
}

TEST_F(CliStartedBuilder, ThatIsNotThereIsReportedOnce)
{
    setenv("PATH", scratch().c_str(), 1);
    const ingot::cache cache = open();
    ingot_pending_t pending[] = {begin(cache, 1), begin(cache, 2)};
    ASSERT_EQ(1u, told_.size());
    EXPECT_EQ("no builder is started: the tool ingot is neither beside the library nor on PATH", told_[0]);
    setenv("PATH", path_.c_str(), 1); /* PoCL needs a linker */
    for (ingot_pending_t each : pending)
        EXPECT_EQ(INGOT_ORIGIN_BUILD, take(each));
}

/* The caller of a setuid program chooses its PATH, and its drivers. */
TEST_F(CliStartedBuilder, IsNotStartedWithTheRightsOfOthers)
{
    const fs::path calls = put_failing_tool();
    if (setuid_child::is_this()) {
        const ingot::cache cache = open();
        ingot_pending_drop(begin(cache, 1));
        ASSERT_EQ(1u, told_.size());
        EXPECT_EQ("no builder is started: the process has the rights of others", told_[0]);
        EXPECT_FALSE(fs::exists(calls));
        setuid_child::end();
    }
    const ScratchDirectory other;
    if (const char *reason = setuid_child::run(other, {}))
        GTEST_SKIP() << reason;
}

TEST_F(CliStartedBuilder, ThatEndsAtOnceIsNotStartedAgainAndAgain)
{
    using clock = std::chrono::steady_clock;
    const auto started = clock::now();
    const fs::path calls = put_failing_tool();
    setenv("INGOT_PERSIST_LOCK_TIMEOUT", "7s", 1);
    setenv("INGOT_BUILDERS", "9", 1);
    const ingot::cache cache = open(INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT);
    unsetenv("INGOT_BUILDERS");
    int number = 0;
    ingot_pending_drop(begin(cache, number));
    wait_until([&] { return text_of(calls).find("\nPATH=") != std::string::npos; });
    const auto ended = clock::now();
    wait_until([&] { /* the library looks once a second whether there is a builder */
                     ingot_pending_drop(begin(cache, ++number));
                     return clock::now() - ended > std::chrono::milliseconds(3000);
    });
    const std::string text = text_of(calls);
    long count = 0;
    for (size_t at = text.find("call "); at != std::string::npos; at = text.find("call ", at + 1))
        ++count;
    EXPECT_LE(count, 1 + (clock::now() - started) / std::chrono::seconds(10));
    EXPECT_EQ(0u, text.find("call build --watch --while-used --idle=10s --jobs 2 --dir " + root().string() + "\n"))
        << text;
    EXPECT_EQ(std::string::npos, text.find("\nINGOT_")) << "the cache does not read these variables: " << text;
    unsetenv("INGOT_PERSIST_LOCK_TIMEOUT");
}

} // namespace

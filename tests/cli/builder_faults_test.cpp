/*
 * builder_faults_test.cpp - a campaign against builders: whatever happens to a builder, another client, the store or
 * the server, every take brings a program that computes what its source says. INGOT_TEST_TRIALS is the number of
 * trials.
 */
#include <sys/resource.h>

#include <random>

#include "cli/builder.h"
#include "support/faulty_server.h"

namespace
{

constexpr int kPrograms = 4;
constexpr char kBuildWaitMs[] = "1000"; /* a take waits so long for a builder that is stopped */

int trials_or(int count)
{
    const char *wanted = std::getenv("INGOT_TEST_TRIALS");
    return wanted != nullptr ? std::atoi(wanted) : count;
}

class CliBuilderFaults : public CliBuilder
{
protected:
    CliBuilderFaults()
    {
        setenv("INGOT_PERSIST_BUILD_WAIT", kBuildWaitMs, 1);
        setenv("POCL_DEVICES", "pthread", 1);
    }
    ~CliBuilderFaults() override
    {
        end_builder();
        unsetenv("INGOT_PERSIST_BUILD_WAIT");
        unsetenv("INGOT_PERSIST_REMOTE");
    }

    void start_builder(const fs::path &store, int resource = -1, rlim_t limit = 0)
    {
        builder_ = fork();
        if (builder_ != 0)
            return;
        const struct rlimit limits = {limit, limit};
        if (resource >= 0)
            setrlimit(static_cast<__rlimit_resource_t>(resource), &limits);
        const int output = ::open((scratch() / "builder").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        execl(CLI_PROGRAM, "ingot", "build", "--watch", "--dir", store.c_str(), "--jobs", "2", nullptr);
        _exit(127);
    }
    void signal_workers(int number) const
    {
        const std::string process = "/proc/" + std::to_string(builder_);
        std::ifstream children(process + "/task/" + std::to_string(builder_) + "/children");
        for (pid_t worker = 0; children >> worker;)
            kill(worker, number);
    }
    /* Its workers end with it. */
    void end_builder()
    {
        if (builder_ == 0)
            return;
        kill(builder_, SIGKILL);
        waitpid(builder_, nullptr, 0);
        builder_ = 0;
    }
    void pause(unsigned most_ms) { usleep(1000 * (random_() % most_ms)); }

    void begin_all(const ingot::cache &cache)
    {
        for (int i = 0; i < kPrograms; ++i)
            pending_.push_back(begin(cache, source_of(i)));
    }
    /* Takes all programs, and runs each. */
    void take_all()
    {
        for (int i = 0; i < kPrograms; ++i) {
            cl_program program = nullptr;
            ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
            ASSERT_EQ(INGOT_SUCCESS, ingot_cache_opencl_take(pending_[static_cast<size_t>(i)], &program, &origin))
                << ingot_last_error_detail();
            ASSERT_EQ(3.0f * static_cast<float>(i), run(program));
            ++(origin == INGOT_ORIGIN_BUILD ? built_ : loaded_);
            clReleaseProgram(program);
        }
        pending_.clear();
    }
    /* Returns what the program makes of 3. */
    float run(cl_program program) const
    {
        const cl_device_id device = OpenclPlatform::get().devices()[0];
        float value = 3;
        const size_t one = 1;
        cl_mem buffer =
            clCreateBuffer(native_.native(), CL_MEM_COPY_HOST_PTR | CL_MEM_READ_WRITE, sizeof(value), &value, nullptr);
        cl_command_queue queue = clCreateCommandQueueWithProperties(native_.native(), device, nullptr, nullptr);
        cl_kernel kernel = clCreateKernel(program, "f", nullptr);
        clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
        clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(value), &value, 0, nullptr, nullptr);
        clReleaseKernel(kernel);
        clReleaseCommandQueue(queue);
        clReleaseMemObject(buffer);
        return value;
    }

    /* Waits until a builder has answered all, and changes the bytes of their entries. */
    void change_entries(bool exchange)
    {
        for (ingot_pending_t each : pending_)
            ASSERT_EQ(INGOT_SUCCESS, ingot_pending_wait(each, kLongMs)) << ingot_last_error_detail();
        const auto entries = store_fixture::entries_of(store_);
        for (size_t i = 0; i + 1 < entries.size(); i += 2)
            if (exchange)
                store_fixture::write_file(entries[i] / "kernel.bin",
                                          store_fixture::read_file(entries[i + 1] / "kernel.bin"));
            else
                damage(entries[i] / "kernel.bin");
    }

    std::mt19937 random_{static_cast<unsigned>(trials_or(1))};
    fs::path store_;
    pid_t builder_ = 0;
    int built_ = 0, loaded_ = 0;
    std::vector<ingot_pending_t> pending_;
};

TEST_F(CliBuilderFaults, ATakeBringsTheRightProgram)
{
    const struct {
        const char *name;
        std::function<void()> strike;
    } faults[] = {
        {"the builder is killed",
         [&] {
             start_builder(store_);
             pause(1500);
             end_builder();
         }},
        {"its workers are killed",
         [&] {
             start_builder(store_);
             pause(1500);
             signal_workers(SIGKILL);
         }},
        {"stopped, and goes on when all are taken",
         [&] {
             start_builder(store_);
             pause(1500);
             signal_workers(SIGSTOP);
         }},
        {"out of memory", [&] { start_builder(store_, RLIMIT_AS, 200 << 20); }},
        {"may write no file of a program", [&] { start_builder(store_, RLIMIT_FSIZE, 4096); }},
        {"may open no more files", [&] { start_builder(store_, RLIMIT_NOFILE, 12); }},
        {"garbage",
         [&] {
             start_builder(store_);
             change_entries(false);
         }},
        {"under another id",
         [&] {
             start_builder(store_);
             change_entries(true);
         }},
        {"a client dies",
         [&] {
             start_builder(store_);
             child_process::Child client({CACHE_CHILD, store_.string(), "1", std::to_string(kPrograms), "/", "begin"},
                                         (scratch() / "client").string());
             pause(1500);
             client.send(SIGKILL);
         }},
    };
    const int count = trials_or(static_cast<int>(std::size(faults)));
    for (int i = 0; i < count; ++i) {
        SCOPED_TRACE(faults[static_cast<size_t>(i) % std::size(faults)].name);
        store_ = scratch() / ("store-" + std::to_string(i));
        ingot::cache cache = open(store_, true);
        begin_all(cache);
        faults[static_cast<size_t>(i) % std::size(faults)].strike();
        take_all();
        if (HasFatalFailure())
            return;
        signal_workers(SIGCONT); /* what it stores late is as right */
        pause(200);
        end_builder();
        cache = open(store_, true);
        begin_all(cache);
        take_all();
        /* What was damaged and is not wanted again, such as requests, stays until it is evicted or repaired. */
        EXPECT_TRUE(tool({"verify", "--repair", "--dir", store_.string()}).says(" 0 left alone, 0 unreadable"));
        EXPECT_TRUE(tool({"verify", "--dir", store_.string()}).is(0));
        fs::remove_all(store_);
    }
    std::printf("%d trials: %d programs loaded, %d compiled, 0 wrong\n", count, loaded_, built_);
}

#ifdef CLI_HAS_REDIS
TEST_F(CliBuilderFaults, ATakeBringsTheRightProgramDespiteTheServer)
{
    const char *const lies[] = {"$5\r\nwrong\r\n", ":1\r\n", "+OK\r\n", "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
                                "-ERR\r\n",        "garbage"};
    for (const char *how : {"dies", "stalls", "lies"}) {
        SCOPED_TRACE(how);
        server_process::Redis redis;
        unsigned turn = 0;
        FaultyServer liar([&](FaultyConnection &connection) {
            while (connection.read_request() && connection.send_bytes(lies[turn++ % std::size(lies)])) {
            }
        });
        const bool is_lying = std::string(how) == "lies";
        const std::string url = is_lying ? liar.url() : redis.url();
        setenv("INGOT_PERSIST_REMOTE", url.c_str(), 1);
        const ingot::cache cache = open(scratch() / how, true);
        begin_all(cache);
        start_builder(scratch() / "builder.store");
        pause(1500);
        if (!is_lying)
            kill(redis.pid(), std::string(how) == "dies" ? SIGKILL : SIGSTOP);
        take_all();
        kill(redis.pid(), SIGCONT);
        end_builder();
    }
}
#endif

/* With builders of the library's own, too. */
TEST_F(CliBuilderFaults, ProcessesThatEndWithBegunProgramsLeaveNoProcess)
{
    const int count = trials_or(3);
    for (int i = 0; i < count; ++i) {
        const std::string path = fs::path(CLI_PROGRAM).parent_path().string() + ":" + std::getenv("PATH");
        child_process::Child client({CACHE_CHILD, root().string(), "1", "20", "/", "leave"},
                                    (scratch() / "client").string(), {{"INGOT_BUILDERS", "1"}, {"PATH", path}});
        ASSERT_EQ(0, client.wait()) << client.output();
    }
    EXPECT_TRUE(
        server_process::becomes_true([&] { return run_shell("! grep -qs $STORE /proc/[0-9]*/cmdline").code == 0; }));
    std::printf("%d processes ended with begun programs and left no process\n", count);
}

} // namespace

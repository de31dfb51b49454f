/*
 * build_kill_test [TRIALS] - tests processes that request the same program at once, when the process that compiles is
 * killed.
 *
 * The compiler takes up to 8 ms, so that a kill can come before, during or after the compilation and the storing of the
 * blob. In every tenth trial the compiler waits for the kill, so that some builds are certainly taken over.
 */
#include <atomic>
#include <csignal>
#include <random>
#include <thread>

#include "support/forked_child.h"
#include "support/persist_session.h"

using namespace store_fixture;
using Clock = std::chrono::steady_clock;

namespace
{

constexpr int kProcesses = 4;
constexpr unsigned kHangSeconds = 200;
constexpr uint64_t kLongMs = 240000; /* longer than kHangSeconds, so no process waits that long */
int trials = 50;

/* Shared by the processes of a trial. */
struct Board {
    std::atomic<bool> has_begun{false};
    std::atomic<int> compilers{0}; /* compilations that have begun */
    std::atomic<pid_t> first{0};   /* the process that began the first one */
    std::atomic<int> builds{0};    /* requests that ended with a build */
    std::atomic<int> loads{0};     /* requests that ended with a load */
};

class Trial
{
public:
    Trial() : scratch_(fast_volume()), path_((scratch_.path() / "store").string())
    {
        info_.path = path_.c_str();
        info_.lock_timeout_ms = 60000;
        info_.build_wait_ms = kLongMs;
    }

    /* Starts the processes, whose compilers call compile(), and waits until one of them compiles. */
    void start(const std::function<void()> &compile)
    {
        for (int i = 0; i < kProcesses; ++i)
            children_.push_back(forked_child::start([&] { return request(compile); }));
        board_->has_begun = true;
        while (board_->first == 0)
            std::this_thread::yield();
    }
    Board &board() const { return *board_; }
    const std::string &path() const { return path_; }

    /* Waits for all processes except `first`. Returns how many failed, were killed or hung. */
    int wait_for_others()
    {
        int failed = 0;
        for (const pid_t child : children_)
            if (child != board_->first)
                failed += forked_child::wait_for(child) != 0;
        return failed;
    }

private:
    int request(const std::function<void()> &compile)
    {
        alarm(kHangSeconds);
        const Store store(info_);
        Session session;
        session.at("build", [&] {
            pid_t none = 0;
            ++board_->compilers; /* before `first` is set, after which the test may kill this process */
            board_->first.compare_exchange_strong(none, getpid());
            compile();
        });
        const Desc desc = session.describe();
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        while (!board_->has_begun)
            std::this_thread::yield();
        const ingot_status_t status = request_through(desc, store.get(), &origin);
        ++(origin == INGOT_ORIGIN_BUILD ? board_->builds : board_->loads);
        return status == INGOT_SUCCESS && store.stats().wait_timeouts == 0 ? 0 : 1;
    }

    ScratchDirectory scratch_;
    std::string path_;
    ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
    const forked_child::Shared<Board> board_;
    std::vector<pid_t> children_;
};

void spend_us(unsigned us)
{
    const auto end = Clock::now() + std::chrono::microseconds(us);
    while (Clock::now() < end)
        std::this_thread::yield();
}

} // namespace

TEST(BuildKill, AKilledBuilderIsReplacedByOneProcess)
{
    std::mt19937 random(1);
    int takeovers = 0, in_time = 0;
    for (int i = 0; i < trials; ++i) {
        Trial trial;
        const unsigned compile_us = random() % 8000;
        const bool is_held = i % 10 == 0;
        trial.start([&] {
            while (is_held && trial.board().first == getpid())
                pause(); /* until it is killed */
            spend_us(compile_us);
        });
        spend_us(random() % 8000);
        kill(trial.board().first, SIGKILL);
        const bool is_killed = forked_child::wait_for(trial.board().first) == 128 + SIGKILL;
        ASSERT_EQ(0, trial.wait_for_others()) << "trial " << i;
        const int compilers = trial.board().compilers;
        ASSERT_LE(compilers, is_killed ? 2 : 1) << "trial " << i;
        ASSERT_TRUE(!is_held || compilers == 2) << "trial " << i;
        ASSERT_GE(trial.board().loads, kProcesses - 2) << "trial " << i;
        ASSERT_EQ(1u, entries_of(trial.path()).size()) << "trial " << i;
        takeovers += compilers - 1;
        in_time += is_killed;
    }
    std::printf("%d trials, %d with a killed process: %d builds were taken over, each by one process; none hung\n",
                trials, in_time, takeovers);
}

int main(int count, char **arguments)
{
    testing::InitGoogleTest(&count, arguments);
    if (count > 1)
        trials = std::max(1, std::atoi(arguments[1]));
    return RUN_ALL_TESTS();
}

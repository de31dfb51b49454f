/*
 * Tests machines whose network fails while one of them compiles a program for all. Each machine is a network namespace
 * with its own store and several processes.
 */
#include "support/forked_child.h"
#include "support/machine_fixture.h"
#include "support/network.h"

using namespace remote_fixture;
using machine_fixture::Machine;
using network::Network;
using network::Within;
using server_process::becomes_true;

namespace
{

constexpr int kMachines = 4; /* machine 0 compiles first */
constexpr int kProcesses = 2;
const std::string kSource = numbered_source(0);

/* What the processes of a test share. */
struct Board {
    std::atomic<int> compilations{0};
    std::atomic<int> waiting{0};
    std::atomic<int> builds{0};
    std::atomic<int> loads{0};
    std::atomic<int> timeouts{0};
    std::atomic<int> lost_leases{0};
    std::atomic<double> seconds{0}; /* what the fault cost the machine that was cut off */
};

ingot_persist_info_t waits_long()
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.build_wait_ms = 240000;
    return info;
}

ingot_remote_info_t with_short_lease(ingot_remote_info_t info)
{
    info.lease_time_ms = 4000; /* long enough for a busy machine to renew it */
    if (info.connect_timeout_ms == 0)
        info.connect_timeout_ms = 2000;
    return info;
}

class RemoteNetwork : public testing::Test
{
protected:
    void SetUp() override
    {
        const std::string reason = network::why_unavailable();
        if (!reason.empty()) {
            GTEST_SKIP() << reason;
        }
        network_ = std::make_unique<Network>(kMachines);
        redis_ = std::make_unique<network::Redis>(network_->server());
    }

    std::string folder(int machine) const { return (scratch_.path() / ("machine" + std::to_string(machine))).string(); }

    /* Starts a process of a machine. */
    pid_t start(int machine, const std::function<int()> &work) const
    {
        const Within there(network_->machine(machine));
        return forked_child::start_guarded(work);
    }
    /* Starts a process of machine 0 whose compiler waits for the gate go_. */
    pid_t start_holder(bool is_to_upload) const
    {
        const pid_t child = start(0, [&] { return hold(is_to_upload); });
        begun_.wait();
        return child;
    }
    int hold(bool is_to_upload) const
    {
        Session session;
        auto machine =
            std::make_unique<Machine>(folder(0), redis_->url(), waits_long(), with_short_lease(INGOT_REMOTE_INFO_INIT));
        std::chrono::steady_clock::time_point compiled;
        session.at("build", [&] {
            ++board_->compilations;
            begun_.open();
            go_.wait();
            if (!is_to_upload) {
                EXPECT_TRUE(becomes_true([&] { return machine->tier().stats().lost_leases == 1; }));
            }
            compiled = std::chrono::steady_clock::now();
        });
        const ingot_origin_t origin = machine->request(session, kSource);
        if (is_to_upload && !becomes_true([&] { return machine->tier().flush(100) == INGOT_SUCCESS; }))
            return 1;
        board_->lost_leases = static_cast<int>(machine->tier().stats().lost_leases);
        machine.reset();
        board_->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - compiled).count();
        return origin == INGOT_ORIGIN_BUILD ? 0 : 1;
    }
    /* Starts a process that requests the program. The process records on the board that it waits, and what it got. */
    pid_t start_waiting(int machine, ingot_remote_info_t info = patient()) const
    {
        return start(machine, [&, machine, info] { return wait_for_program(machine, info); });
    }
    int wait_for_program(int number, const ingot_remote_info_t &info) const
    {
        Session session;
        const Machine machine(folder(number), redis_->url(), waits_long(), with_short_lease(info));
        session.at("build", [&] { ++board_->compilations; });
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        std::atomic<bool> has_ended{false};
        std::thread requesting([&] {
            origin = machine.request(session, kSource);
            has_ended = true;
        });
        (void)becomes_true([&] { return machine.tier().stats().busy_leases != 0 || has_ended; });
        board_->waiting += machine.tier().stats().busy_leases != 0;
        requesting.join();
        board_->builds += origin == INGOT_ORIGIN_BUILD;
        board_->loads += origin == INGOT_ORIGIN_STORAGE;
        board_->timeouts += static_cast<int>(machine.stats().wait_timeouts);
        board_->seconds = static_cast<double>(machine.tier().stats().lost_ns) / 1e9;
        return origin == INGOT_ORIGIN_MEMORY ? 1 : 0;
    }
    /* Starts all processes of the other machines. Returns when one process of each machine waits for the lease. */
    std::vector<pid_t> start_others() const
    {
        std::vector<pid_t> children;
        for (int i = 1; i < kMachines; ++i)
            for (int k = 0; k < kProcesses; ++k)
                children.push_back(start_waiting(i));
        EXPECT_TRUE(becomes_true([&] { return board_->waiting == kMachines - 1; }));
        return children;
    }
    static void expect_success(const std::vector<pid_t> &children)
    {
        for (const pid_t child : children)
            EXPECT_EQ(0, forked_child::wait_for(child));
    }
    void expect_one_takeover() const
    {
        EXPECT_EQ(1, board_->builds);
        EXPECT_EQ((kMachines - 1) * kProcesses - 1, board_->loads);
        EXPECT_EQ(2, board_->compilations) << "one is that of the machine that was cut off";
        EXPECT_EQ(0, board_->timeouts);
    }
    std::string objects() const
    {
        const Within there(network_->server());
        return redis_->process().ask({"DBSIZE"});
    }

    ScratchDirectory scratch_;
    std::unique_ptr<Network> network_;
    std::unique_ptr<network::Redis> redis_;
    const forked_child::Shared<Board> board_;
    Gate begun_, go_;
};

} // namespace

TEST_F(RemoteNetwork, PassesTheLeaseOnOnceWhenTheHoldersMachineIsCutOff)
{
    const pid_t holder = start_holder(false);
    const std::vector<pid_t> others = start_others();
    network_->cut_off(0);
    expect_success(others);
    expect_one_takeover();
    go_.open();
    EXPECT_EQ(0, forked_child::wait_for(holder)) << "it has its own program";
    EXPECT_LE(board_->seconds, kLongestLoss);
    EXPECT_EQ(1, board_->lost_leases);
    EXPECT_EQ("1\n", objects()) << "no lease is left";
    printf("the machine that was cut off ended %.0f ms after its compilation\n", board_->seconds * 1e3);
}

TEST_F(RemoteNetwork, AcceptsTheHoldersProgramWhenItsMachineReturns)
{
    const pid_t holder = start_holder(true);
    const std::vector<pid_t> others = start_others();
    network_->cut_off(0);
    expect_success(others);
    network_->connect(0);
    go_.open();
    EXPECT_EQ(0, forked_child::wait_for(holder));
    expect_one_takeover();
    EXPECT_EQ("1\n", objects()) << "the same object";
    std::filesystem::remove_all(folder(1));
    expect_success({start_waiting(1)});
    EXPECT_EQ((kMachines - 1) * kProcesses, board_->loads);
}

TEST_F(RemoteNetwork, LetsAMachineCompileThatIsCutOffWhileItWaits)
{
    const pid_t holder = start_holder(true);
    const pid_t waiting = start_waiting(1, INGOT_REMOTE_INFO_INIT);
    EXPECT_TRUE(becomes_true([&] { return board_->waiting == 1; }));
    network_->cut_off(1);
    EXPECT_EQ(0, forked_child::wait_for(waiting));
    EXPECT_EQ(1, board_->builds);
    EXPECT_EQ(0, board_->timeouts);
    EXPECT_LE(board_->seconds, 2.0);
    printf("the machine that was cut off lost %.0f ms\n", board_->seconds * 1e3);
    go_.open();
    EXPECT_EQ(0, forked_child::wait_for(holder));
    EXPECT_EQ(0, board_->lost_leases);
    EXPECT_EQ("1\n", objects());
}

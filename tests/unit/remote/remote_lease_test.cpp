/*
 * Tests machines that share a Redis, where one machine compiles a program for all. Each directory store stands for a
 * machine.
 */
#include <sys/mman.h>

#include <new>

#include "support/forked_child.h"
#include "support/library_clock.h"
#include "support/machine_fixture.h"
#include "support/server_process.h"

using namespace remote_fixture;
using machine_fixture::Machine;
using server_process::becomes_true;
using server_process::Redis;

namespace
{

constexpr uint32_t kLongMs = 240000; /* longer than any test lasts */
constexpr uint32_t kShortMs = 50;
constexpr uint32_t kLeaseMs = 4000; /* long enough for a busy machine to extend a lease, which it does three times */
constexpr unsigned kHangSeconds = 200;
const std::string kSource = numbered_source(0);
const std::string kFailing = "kernel twice x no_such_name *\n";

/* What the processes of a test share. */
struct Board {
    std::atomic<bool> has_begun{false};
    std::atomic<int> compilations{0};
    std::atomic<int> timeouts{0};
};

pid_t start_process(const std::function<int()> &work)
{
    return forked_child::start([&] {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(kHangSeconds);
        return work();
    });
}

ingot_persist_info_t info_with_wait(uint32_t build_wait_ms)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.build_wait_ms = build_wait_ms;
    return info;
}

ingot_remote_info_t remote_info(uint32_t flags = 0)
{
    ingot_remote_info_t info = patient();
    info.flags = flags;
    info.lease_time_ms = kLeaseMs;
    return info;
}

class RemoteLease : public testing::Test
{
protected:
    RemoteLease()
    {
        void *memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        board_ = new (memory) Board;
    }
    ~RemoteLease() override
    {
        clock_lead_ns = 0;
        munmap(board_, sizeof(Board));
    }

    std::string folder(int machine) const { return (scratch_.path() / ("machine" + std::to_string(machine))).string(); }

    /* Starts the process of machine 0. Its compiler opens the gate begun_ and waits for the gate go_. The process ends
     * when the gate end_ is opened. */
    pid_t start_holder(const Redis &redis, const std::string &source = kSource)
    {
        const pid_t child = start_process([&] {
            Session session;
            const Machine machine(folder(0), redis.url(), info_with_wait(kLongMs), remote_info());
            session.at("build", [&] {
                ++board_->compilations;
                begun_.open();
                go_.wait();
            });
            (void)machine.request(session, source);
            end_.wait();
            return machine.tier().stats().leases == 1 ? 0 : 1;
        });
        begun_.wait();
        return child;
    }
    void finish(pid_t child)
    {
        end_.open();
        EXPECT_EQ(0, forked_child::wait_for(child));
    }
    void count_compilations(Session &session)
    {
        session.at("build", [this] { ++board_->compilations; });
    }
    /* Requests the program on a machine, and returns where the program came from. Calls on_waiting when the request
     * waits for a lease. */
    ingot_origin_t request(const Machine &machine, const std::function<void()> &on_waiting,
                           const std::string &source = kSource)
    {
        Session session;
        count_compilations(session);
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        std::thread waiting([&] { origin = machine.request(session, source); });
        EXPECT_TRUE(becomes_true([&] { return machine.tier().stats().busy_leases != 0; }));
        on_waiting();
        waiting.join();
        return origin;
    }
    /* Expects that a request compiles without waiting, although another machine compiles the program. */
    void expect_no_wait(const Machine &machine)
    {
        Session session;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
        EXPECT_EQ(0u, machine.tier().stats().busy_leases);
        EXPECT_EQ(0u, machine.stats().wait_timeouts);
    }

    ScratchDirectory scratch_;
    Board *board_ = nullptr;
    Gate begun_, go_, end_;
};

} // namespace

TEST_F(RemoteLease, LetsOneMachineCompileForAll)
{
    constexpr int machines = 4, processes = 3, programs = 4;
    const Redis redis;
    std::vector<pid_t> children;
    for (int i = 0; i < machines * processes; ++i)
        children.push_back(start_process([&, i] {
            const Machine machine(folder(i % machines), redis.url(), info_with_wait(kLongMs), remote_info());
            Session session;
            count_compilations(session);
            while (!board_->has_begun)
                std::this_thread::yield();
            for (int k = 0; k < programs; ++k)
                if (machine.request(session, numbered_source((i + k) % programs)) == INGOT_ORIGIN_MEMORY)
                    return 1;
            board_->timeouts += static_cast<int>(machine.stats().wait_timeouts);
            return 0;
        }));
    board_->has_begun = true;
    for (const pid_t child : children)
        EXPECT_EQ(0, forked_child::wait_for(child));
    EXPECT_EQ(programs, board_->compilations);
    EXPECT_EQ(0, board_->timeouts);
    EXPECT_EQ("4\n", redis.ask({"DBSIZE"})) << "objects alone: all leases have ended";
}

TEST_F(RemoteLease, IsAwaitedByOtherMachines)
{
    const Redis redis;
    const pid_t holder = start_holder(redis);
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), remote_info());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(machine, [&] { go_.open(); }));
    EXPECT_EQ(1u, machine.stats().awaited);
    EXPECT_EQ(0u, machine.stats().wait_timeouts);
    EXPECT_EQ(0u, machine.tier().stats().leases);
    EXPECT_EQ(1, board_->compilations);
    EXPECT_TRUE(becomes_true([&] { return redis.ask({"DBSIZE"}) == "1\n"; })) << "the lease ends with the upload";
    finish(holder);
}

TEST_F(RemoteLease, IsExtendedWhileItsHolderCompiles)
{
    const Redis redis;
    const pid_t holder = start_holder(redis);
    std::string key = redis.ask({"KEYS", "*:lease"});
    ASSERT_FALSE(key.empty());
    key.pop_back();
    const std::string token = redis.ask({"GET", key});
    for (int i = 0; i < 3; ++i) {
        long long least = kLeaseMs;
        EXPECT_TRUE(becomes_true([&] {
            const long long left = std::stoll(redis.ask({"PTTL", key}));
            const bool is_extended = left > least;
            least = std::min(least, left);
            return is_extended;
        }));
    }
    EXPECT_EQ(token, redis.ask({"GET", key}));
    go_.open();
    finish(holder);
}

TEST_F(RemoteLease, IsTakenOverOnceWhenItsHolderDies)
{
    constexpr int waiting = 3;
    const Redis redis;
    const pid_t holder = start_holder(redis);
    std::vector<std::unique_ptr<Machine>> machines;
    Threads threads;
    std::atomic<int> loads{0}, builds{0};
    for (int i = 1; i <= waiting; ++i)
        machines.push_back(std::make_unique<Machine>(folder(i), redis.url(), info_with_wait(kLongMs), remote_info()));
    for (const auto &machine : machines)
        threads.start([&] {
            Session session;
            count_compilations(session);
            ++(machine->request(session, kSource) == INGOT_ORIGIN_STORAGE ? loads : builds);
        });
    for (const auto &machine : machines)
        EXPECT_TRUE(becomes_true([&] { return machine->tier().stats().busy_leases != 0; }));
    kill(holder, SIGKILL);
    EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(holder));
    threads.join();
    EXPECT_EQ(1, builds);
    EXPECT_EQ(waiting - 1, loads);
    EXPECT_EQ(2, board_->compilations) << "one was killed";
}

TEST_F(RemoteLease, IsTakenOverWhenItsHolderIsStopped)
{
    const Redis redis;
    const pid_t holder = start_holder(redis);
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), remote_info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(machine, [&] { kill(holder, SIGSTOP); }));
    EXPECT_EQ(0u, machine.stats().wait_timeouts) << "it ran out long before the limit";
    EXPECT_EQ(1u, machine.tier().stats().leases);
    kill(holder, SIGCONT);
    go_.open();
    finish(holder);
}

TEST_F(RemoteLease, IsAwaitedForALimitedTime)
{
    const Redis redis;
    const pid_t holder = start_holder(redis);
    Events events;
    ingot_persist_info_t info = info_with_wait(kShortMs);
    info.on_event = Events::receive;
    info.on_event_user = &events;
    const Machine machine(folder(1), redis.url(), info, remote_info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(machine, [] {}));
    EXPECT_EQ(1u, machine.stats().wait_timeouts);
    EXPECT_EQ(0u, machine.stats().awaited);
    EXPECT_EQ(1u, events.count("another machine has been compiling")) << events.all();
    go_.open();
    finish(holder);
}

/* A holder that extends its lease for longer than a lease lasts is not awaited any longer. */
TEST_F(RemoteLease, IsAwaitedNoLongerThanItLasts)
{
    const Redis redis;
    const pid_t holder = start_holder(redis);
    const Machine waiting(folder(1), redis.url(), info_with_wait(kLongMs), remote_info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(waiting, [&] {
                  for (int i = 0; i < 11; ++i) {
                      EXPECT_EQ(1, board_->compilations) << i;
                      const uint64_t before = waiting.tier().stats().busy_leases;
                      EXPECT_TRUE(becomes_true([&] { return waiting.tier().stats().busy_leases > before + 1; }));
                      clock_lead_ns += 11000000000; /* the clock of persist, not of the tier */
                  }
              }));
    EXPECT_EQ(1u, waiting.stats().wait_timeouts);
    EXPECT_EQ(0u, waiting.tier().stats().lost_ns) << "waiting costs no budget";
    EXPECT_TRUE(waiting.tier().stats().is_asking);
    go_.open();
    finish(holder);
}

TEST_F(RemoteLease, EndsForAllIfTheProgramDoesNotCompile)
{
    const Redis redis;
    const pid_t holder = start_holder(redis, kFailing);
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), remote_info());
    EXPECT_EQ(INGOT_ORIGIN_MEMORY, request(
                                       machine, [&] { go_.open(); }, kFailing))
        << "no program";
    EXPECT_EQ(2, board_->compilations);
    EXPECT_EQ(0u, machine.tier().stats().leases) << "the others need not wait for each other";
    EXPECT_EQ(0u, machine.stats().wait_timeouts);
    finish(holder);
}

TEST_F(RemoteLease, EndsForAllIfTheServerDoesNotTakeTheProgram)
{
    const Redis redis;
    ingot_remote_info_t small = remote_info();
    small.max_blob_bytes = 1;
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), small);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
    EXPECT_EQ(1u, machine.tier().stats().leases);
    std::string key = redis.ask({"KEYS", "*:lease"});
    ASSERT_FALSE(key.empty());
    key.pop_back();
    EXPECT_TRUE(becomes_true([&] { return redis.ask({"GET", key}) == "-\n"; }));
    const Machine other(folder(2), redis.url(), info_with_wait(kLongMs), remote_info());
    expect_no_wait(other);
    /* anybody who can write to the server can let the value go on after a NUL */
    (void)redis.ask(
        {"EVAL", "return redis.call('SET', KEYS[1], '-\\0' .. string.rep('a', 200), 'PX', 60000)", "1", key});
    ASSERT_EQ("202\n", redis.ask({"STRLEN", key}));
    const Machine third(folder(3), redis.url(), info_with_wait(kLongMs), small);
    expect_no_wait(third);
}

TEST_F(RemoteLease, IsLostWithTheServersMemory)
{
    const Redis redis;
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), remote_info());
    Session session;
    session.at("build", [&] {
        EXPECT_EQ("OK\n", redis.ask({"FLUSHALL"}));
        EXPECT_TRUE(becomes_true([&] { return machine.tier().stats().lost_leases == 1; }));
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
    EXPECT_EQ(1u, machine.tier().events.count("was lost")) << machine.tier().events.all();
    EXPECT_EQ(INGOT_SUCCESS, machine.tier().flush());
    EXPECT_EQ("1\n", redis.ask({"DBSIZE"})) << "it is stored nevertheless";
}

/* The holder was stopped for longer than its lease lasts, say. */
TEST_F(RemoteLease, OfAnotherMachineIsNotExtended)
{
    const Redis redis;
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), remote_info());
    Session session;
    session.at("build", [&] {
        std::string key = redis.ask({"KEYS", "*:lease"});
        key.pop_back();
        const std::string other(32, 'a');
        EXPECT_EQ("OK\n", redis.ask({"SET", key, other, "PX", "3600000"}));
        EXPECT_TRUE(becomes_true([&] { return machine.tier().stats().lost_leases == 1; }));
        EXPECT_EQ(other + "\n", redis.ask({"GET", key}));
        EXPECT_GT(std::stoll(redis.ask({"PTTL", key})), 1800000);
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
}

/* If the server stops while a request waits for a lease, the request may lose no more than lost_time_ms. */
TEST_F(RemoteLease, IsNotAwaitedLongerThanAServerThatStops)
{
    Redis redis;
    const pid_t holder = start_holder(redis);
    ingot_remote_info_t info = remote_info();
    info.stall_timeout_ms = 2000;
    info.lost_time_ms = 20000;
    const Machine machine(folder(1), redis.url(), info_with_wait(kLongMs), info);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(machine, [&] { redis.pause(); }));
    EXPECT_EQ(0u, machine.stats().wait_timeouts);
    EXPECT_GE(machine.tier().stats().lost_ns, 2000000000u);
    EXPECT_LE(machine.tier().stats().lost_ns, 20000000000u);
    EXPECT_LE(1u, machine.tier().events.count("not asked")) << machine.tier().events.all();
    redis.resume();
    go_.open();
    finish(holder);
}

TEST_F(RemoteLease, IsNotAwaitedWhereLeasesAreOff)
{
    ingot_persist_info_t no_wait = info_with_wait(0);
    no_wait.flags = INGOT_PERSIST_NO_BUILD_WAIT;
    const auto expect_off = [&](int machine, const ingot_persist_info_t &info, uint32_t remote_flags) {
        const Redis redis;
        const pid_t holder = start_holder(redis);
        expect_no_wait(Machine(folder(machine), redis.url(), info, remote_info(remote_flags)));
        go_.open();
        finish(holder);
        std::filesystem::remove_all(folder(0));
    };
    expect_off(1, no_wait, 0);
    expect_off(2, info_with_wait(kLongMs), INGOT_REMOTE_NO_LEASES);
    expect_off(3, info_with_wait(kLongMs), INGOT_REMOTE_READ_ONLY);
}

TEST_F(RemoteLease, IsNotAwaitedForAnotherNameSpaceOrProgram)
{
    const Redis redis;
    const pid_t holder = start_holder(redis);
    ingot_remote_info_t other = remote_info();
    other.name_space = "other";
    expect_no_wait(Machine(folder(1), redis.url(), info_with_wait(kLongMs), other));
    const Machine machine(folder(2), redis.url(), info_with_wait(kLongMs), remote_info());
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, numbered_source(1)));
    EXPECT_EQ(0u, machine.tier().stats().busy_leases);
    go_.open();
    finish(holder);
}

/* Without the rights for uploads there are no leases, and without those to ask and to extend there are. */
TEST_F(RemoteLease, NeedsTheRightsOfUploads)
{
    const auto leases_with = [&](int machine_number, std::vector<std::string> rights) {
        rights.insert(rights.begin(), {"--user", "default", "on", "nopass", "~*"});
        const Redis redis(rights);
        const Machine machine(folder(machine_number), redis.url(), info_with_wait(kLongMs), remote_info());
        Session session;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
        EXPECT_EQ(0u, machine.tier().stats().pauses) << "loads are asked for";
        return machine.tier().stats().leases;
    };
    EXPECT_EQ(0u, leases_with(1, {"+get", "+ping", "+select"}));
    EXPECT_EQ(1u, leases_with(2, {"+get", "+set", "+del", "+ping", "+select"}));
}

TEST_F(RemoteLease, HasALeastTime)
{
    ingot_remote_info_t info = patient();
    info.lease_time_ms = 99;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, Tier("redis://127.0.0.1:1", info).status());
    info.lease_time_ms = 100;
    EXPECT_EQ(INGOT_SUCCESS, Tier("redis://127.0.0.1:1", info).status());
}

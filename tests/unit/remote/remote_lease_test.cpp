/*
 * Tests machines that share a Redis, where one machine compiles a program for all. Each directory store stands for a
 * machine.
 */
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
const std::string kSource = numbered_source(0);
const std::string kFailing = "kernel twice x no_such_name *\n";

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
    ~RemoteLease() override { clock_lead_ns = 0; }

    std::string folder(int machine) const { return (scratch_.path() / ("machine" + std::to_string(machine))).string(); }

    /* Starts the process of machine 0. Its compiler opens the gate begun_ and waits for the gate go_. The process ends
     * when the gate end_ is opened. */
    pid_t start_holder(const Redis &redis, const std::string &source = kSource)
    {
        const pid_t child = forked_child::start_guarded([&] {
            Session session;
            const Machine machine(folder(0), redis.url(), info_with_wait(kLongMs), remote_info());
            session.at("build", [&] {
                ++*compilations_;
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
    std::string lease_key() const
    {
        const std::string key = redis_.ask({"KEYS", "*:lease"});
        return key.substr(0, key.find('\n'));
    }
    Machine machine_of(int number) const
    {
        return Machine(folder(number), redis_.url(), info_with_wait(kLongMs), remote_info());
    }
    void finish(pid_t child)
    {
        go_.open();
        end_.open();
        EXPECT_EQ(0, forked_child::wait_for(child));
    }
    void count_compilations(Session &session)
    {
        session.at("build", [this] { ++*compilations_; });
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

    Redis redis_;
    ScratchDirectory scratch_;
    const forked_child::Shared<std::atomic<int>> compilations_; /* of all processes */
    Gate begun_, go_, end_;
};

} // namespace

TEST_F(RemoteLease, IsAwaitedByOtherMachines)
{
    const pid_t holder = start_holder(redis_);
    const Machine machine = machine_of(1);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(machine, [&] { go_.open(); }));
    EXPECT_EQ(1u, machine.stats().awaited);
    EXPECT_EQ(0u, machine.stats().wait_timeouts);
    EXPECT_EQ(0u, machine.tier().stats().leases);
    EXPECT_EQ(1, *compilations_);
    EXPECT_TRUE(becomes_true([&] { return redis_.ask({"DBSIZE"}) == "1\n"; })) << "the lease ends with the upload";
    finish(holder);
}

TEST_F(RemoteLease, IsExtendedWhileItsHolderCompiles)
{
    const pid_t holder = start_holder(redis_);
    const std::string key = lease_key();
    const std::string token = redis_.ask({"GET", key});
    for (int i = 0; i < 3; ++i) {
        long long least = kLeaseMs;
        EXPECT_TRUE(becomes_true([&] {
            const long long left = std::stoll(redis_.ask({"PTTL", key}));
            const bool is_extended = left > least;
            least = std::min(least, left);
            return is_extended;
        }));
    }
    EXPECT_EQ(token, redis_.ask({"GET", key}));
    finish(holder);
}

TEST_F(RemoteLease, IsTakenOverOnceWhenItsHolderDies)
{
    constexpr int waiting = 3;
    const pid_t holder = start_holder(redis_);
    std::vector<std::unique_ptr<Machine>> machines;
    Threads threads;
    std::atomic<int> loads{0}, builds{0};
    for (int i = 1; i <= waiting; ++i)
        machines.push_back(std::make_unique<Machine>(folder(i), redis_.url(), info_with_wait(kLongMs), remote_info()));
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
    EXPECT_EQ(2, *compilations_) << "one was killed";
}

TEST_F(RemoteLease, IsTakenOverWhenItsHolderIsStopped)
{
    const pid_t holder = start_holder(redis_);
    const Machine machine = machine_of(1);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(machine, [&] { kill(holder, SIGSTOP); }));
    EXPECT_EQ(0u, machine.stats().wait_timeouts) << "it ran out long before the limit";
    EXPECT_EQ(1u, machine.tier().stats().leases);
    kill(holder, SIGCONT);
    finish(holder);
}

TEST_F(RemoteLease, IsAwaitedForALimitedTime)
{
    const pid_t holder = start_holder(redis_);
    Events events;
    ingot_persist_info_t info = info_with_wait(kShortMs);
    info.on_event = Events::receive;
    info.on_event_user = &events;
    const Machine machine(folder(1), redis_.url(), info, remote_info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(machine, [] {}));
    EXPECT_EQ(1u, machine.stats().wait_timeouts);
    EXPECT_EQ(0u, machine.stats().awaited);
    EXPECT_EQ(1u, events.count("another machine has been compiling")) << events.all();
    finish(holder);
}

/* A holder that extends its lease for longer than a lease lasts is not awaited any longer. */
TEST_F(RemoteLease, IsAwaitedNoLongerThanItLasts)
{
    const pid_t holder = start_holder(redis_);
    const Machine waiting = machine_of(1);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(waiting, [&] {
                  for (int i = 0; i < 11; ++i) {
                      EXPECT_EQ(1, *compilations_) << i;
                      const uint64_t before = waiting.tier().stats().busy_leases;
                      EXPECT_TRUE(becomes_true([&] { return waiting.tier().stats().busy_leases > before + 1; }));
                      clock_lead_ns += 11000000000; /* the clock of persist, not of the tier */
                  }
              }));
    EXPECT_EQ(1u, waiting.stats().wait_timeouts);
    EXPECT_EQ(0u, waiting.tier().stats().lost_ns) << "waiting costs no budget";
    EXPECT_TRUE(waiting.tier().stats().is_asking);
    finish(holder);
}

TEST_F(RemoteLease, EndsForAllIfTheProgramDoesNotCompile)
{
    const pid_t holder = start_holder(redis_, kFailing);
    const Machine machine = machine_of(1);
    EXPECT_EQ(INGOT_ORIGIN_MEMORY, request(
                                       machine, [&] { go_.open(); }, kFailing))
        << "no program";
    EXPECT_EQ(2, *compilations_);
    EXPECT_EQ(0u, machine.tier().stats().leases) << "the others need not wait for each other";
    EXPECT_EQ(0u, machine.stats().wait_timeouts);
    finish(holder);
}

TEST_F(RemoteLease, EndsForAllIfTheServerDoesNotTakeTheProgram)
{
    ingot_remote_info_t small = remote_info();
    small.max_blob_bytes = 1;
    const Machine machine(folder(1), redis_.url(), info_with_wait(kLongMs), small);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
    EXPECT_EQ(1u, machine.tier().stats().leases);
    const std::string key = lease_key();
    EXPECT_TRUE(becomes_true([&] { return redis_.ask({"GET", key}) == "-\n"; }));
    const Machine other = machine_of(2);
    expect_no_wait(other);
    /* anybody who can write to the server can let the value go on after a NUL */
    (void)redis_.ask(
        {"EVAL", "return redis.call('SET', KEYS[1], '-\\0' .. string.rep('a', 200), 'PX', 60000)", "1", key});
    ASSERT_EQ("202\n", redis_.ask({"STRLEN", key}));
    const Machine third(folder(3), redis_.url(), info_with_wait(kLongMs), small);
    expect_no_wait(third);
}

TEST_F(RemoteLease, IsLostWithTheServersMemory)
{
    const Machine machine = machine_of(1);
    Session session;
    session.at("build", [&] {
        EXPECT_EQ("OK\n", redis_.ask({"FLUSHALL"}));
        EXPECT_TRUE(becomes_true([&] { return machine.tier().stats().lost_leases == 1; }));
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
    EXPECT_EQ(1u, machine.tier().events.count("was lost")) << machine.tier().events.all();
    EXPECT_EQ(INGOT_SUCCESS, machine.tier().flush());
    EXPECT_EQ("1\n", redis_.ask({"DBSIZE"})) << "it is stored nevertheless";
}

/* The holder was stopped for longer than its lease lasts, say. */
TEST_F(RemoteLease, OfAnotherMachineIsNotExtended)
{
    const Machine machine = machine_of(1);
    Session session;
    session.at("build", [&] {
        const std::string key = lease_key();
        const std::string other(32, 'a');
        EXPECT_EQ("OK\n", redis_.ask({"SET", key, other, "PX", "3600000"}));
        EXPECT_TRUE(becomes_true([&] { return machine.tier().stats().lost_leases == 1; }));
        EXPECT_EQ(other + "\n", redis_.ask({"GET", key}));
        EXPECT_GT(std::stoll(redis_.ask({"PTTL", key})), 1800000);
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, kSource));
}

/* If the server stops while a request waits for a lease, the request may lose no more than lost_time_ms. */
TEST_F(RemoteLease, IsNotAwaitedLongerThanAServerThatStops)
{
    const pid_t holder = start_holder(redis_);
    ingot_remote_info_t info = remote_info();
    info.stall_timeout_ms = 2000;
    info.lost_time_ms = 20000;
    const Machine machine(folder(1), redis_.url(), info_with_wait(kLongMs), info);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(machine, [&] { redis_.pause(); }));
    EXPECT_EQ(0u, machine.stats().wait_timeouts);
    EXPECT_GE(machine.tier().stats().lost_ns, 2000000000u);
    EXPECT_LE(machine.tier().stats().lost_ns, 20000000000u);
    EXPECT_LE(1u, machine.tier().events.count("not asked")) << machine.tier().events.all();
    redis_.resume();
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
        finish(holder);
        std::filesystem::remove_all(folder(0));
    };
    expect_off(1, no_wait, 0);
    expect_off(2, info_with_wait(kLongMs), INGOT_REMOTE_NO_LEASES);
    expect_off(3, info_with_wait(kLongMs), INGOT_REMOTE_READ_ONLY);
}

TEST_F(RemoteLease, IsNotAwaitedForAnotherNameSpaceOrProgram)
{
    const pid_t holder = start_holder(redis_);
    ingot_remote_info_t other = remote_info();
    other.name_space = "other";
    expect_no_wait(Machine(folder(1), redis_.url(), info_with_wait(kLongMs), other));
    const Machine machine = machine_of(2);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, numbered_source(1)));
    EXPECT_EQ(0u, machine.tier().stats().busy_leases);
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

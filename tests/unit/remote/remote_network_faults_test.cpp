/*
 * Tests faults of the network between a machine and its server, and faults of the server's process. A fault may cost
 * only little time, each request must still give a program, and loads must hit again after the fault.
 *
 * The machine and the server are network namespaces. remote_faults_test.cpp has servers that answer wrongly.
 */
#include <array>
#include <cstdio>

#include "support/machine_fixture.h"
#include "support/slow_link.h"

using namespace remote_fixture;
using machine_fixture::Machine;
using network::Namespace;
using network::SlowLink;
using network::Within;
using server_process::becomes_true;

namespace
{

constexpr int kPrograms = 150;
constexpr int kProgramsAfterwards = 50; /* programs that are requested only after the fault */
constexpr int kWordsPerProgram = 1000;  /* numbers of eight bytes, which hardly compress */
constexpr int kPauseMs = 40;
constexpr int kFaultSeconds = 3;
constexpr double kSlowSeconds = 0.25; /* the default of slow_ms */
constexpr int kClients = 2;           /* one that probes often, and one with the default settings */

std::string program(int number)
{
    std::string text = "kernel twice x";
    const Bytes words = random_bytes(static_cast<uint64_t>(number), kWordsPerProgram * sizeof(uint32_t));
    for (size_t i = 0; i < words.size(); i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, &words[i], sizeof(word));
        if (i % (8 * sizeof(uint32_t)) == 0)
            text += "\nkernel k" + std::to_string(i) + " x";
        text += " " + std::to_string(uint64_t{word} * 2654435761u >> 1) + " +";
    }
    return text + "\n";
}

/* What a process of the machine saw. */
struct Cost {
    int requests = 0;
    int without_program = 0;
    int hits = 0;    /* during the fault */
    double lost = 0; /* seconds that passed in failed or slow requests before the process could compile */
    double longest = 0;
    double end = 0;      /* seconds that closing the tier took */
    double recovery = 0; /* seconds from the fault's end to a hit */
    double lateness = 0; /* seconds by which the machine delayed the process */
    uint64_t longest_late_ns = 0;
    bool is_good = false;
    ingot_remote_stats_t stats = {};
};

/* A server in its own network namespace. */
class AnyServer
{
public:
    virtual ~AnyServer() = default;
    virtual std::string url() const = 0;
    virtual server_process::Server &process() const = 0;
};
template <typename Server> class ServerIn : public AnyServer
{
public:
    explicit ServerIn(const Namespace &space) : server_(space) {}
    std::string url() const override { return server_.url(); }
    server_process::Server &process() const override { return server_.process(); }

private:
    Server server_;
};

/* A machine and a server, each in a network namespace, and the link between them. */
struct Scene {
    Namespace server_space, machine_space;
    SlowLink link{server_space, machine_space};
    std::unique_ptr<AnyServer> server;
};

struct Fault {
    const char *name;
    std::function<void(Scene &)> begin;
    std::function<void(Scene &)> end;
    std::function<void(Scene &)> middle = nullptr; /* called after processes have begun to meet the fault */
};

SlowLink::Quality quality(uint32_t loss_percent, uint32_t delay_ms = 0, uint32_t bits_per_ms = 0,
                          uint64_t cut_after = 0)
{
    return {loss_percent, delay_ms, bits_per_ms, cut_after};
}

Fault of_link(const char *name, const SlowLink::Quality &bad)
{
    return {name, [bad](Scene &scene) { scene.link.set(bad); }, [](Scene &scene) { scene.link.set(quality(0)); }};
}

std::vector<Fault> faults()
{
    return {
        of_link("all packets lost", quality(100)),
        of_link("30% of packets lost", quality(30)),
        of_link("round trips of 300 ms", quality(0, 150)),
        of_link("64 kbit/s", quality(0, 0, 64)),
        {"answers lost",
         [](Scene &scene) {
             scene.server_space.ip({"route", "add", "blackhole", "10.77.0.10/32"});
         },
         [](Scene &scene) {
             scene.server_space.ip({"route", "del", "blackhole", "10.77.0.10/32"});
         }},
        {"no route to the server",
         [](Scene &scene) {
             scene.machine_space.ip({"route", "add", "unreachable", network::kServerAddress + "/32"});
         },
         [](Scene &scene) {
             scene.machine_space.ip({"route", "del", "unreachable", network::kServerAddress + "/32"});
         }},
        {"link down in a transfer", [](Scene &scene) { scene.link.set(quality(0, 0, 1000, 4000)); },
         [](Scene &scene) {
             scene.link.set(quality(0));
             scene.machine_space.ip({"link", "set", "eth0", "up"});
         },
         [](Scene &scene) {
             EXPECT_TRUE(becomes_true([&] { return scene.link.is_cut(); }));
             scene.machine_space.ip({"link", "set", "eth0", "down"});
         }},
        {"server stopped (SIGSTOP)", [](Scene &scene) { scene.server->process().pause(); },
         [](Scene &scene) { scene.server->process().resume(); }},
        {"server killed, started again", [](Scene &scene) { scene.server->process().stop(); },
         [](Scene &scene) {
             const Within there(scene.server_space);
             scene.server->process().start();
         }},
    };
}

/* ---- the machine's processes ---- */

struct Gates {
    Gate is_ready, has_begun, has_met, has_ended;
};

struct Asked {
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    double seconds = 0; /* until the process had the program, or could compile it */
};

Asked ask(const Machine &machine, Session &session, int number)
{
    Asked asked;
    const auto begin = std::chrono::steady_clock::now();
    const auto note = [&] {
        asked.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return INGOT_SUCCESS;
    };
    session.before = [&](const std::string &operation) { return operation == "build" ? note() : INGOT_SUCCESS; };
    asked.origin = machine.request(session, program(number));
    if (asked.origin != INGOT_ORIGIN_BUILD)
        note();
    return asked;
}

/* Stores all programs on the server. */
int fill(const std::string &folder, const std::string &url)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_remote_info_t remote = patient();
    remote.max_waiting = kPrograms;
    const Machine machine(folder, url, info, remote);
    Session session;
    for (int i = 0; i < kPrograms; ++i)
        if (machine.request(session, program(i)) == INGOT_ORIGIN_MEMORY)
            return 1;
    return machine.tier().flush() == INGOT_SUCCESS && machine.tier().stats().uploads == kPrograms ? 0 : 1;
}

/* Requests programs until one comes from the server. Returns false if none does. */
bool hits(const Machine &machine, Session &session, Cost &cost, int &number)
{
    return becomes_true([&] {
               if (machine.tier().stats().is_asking == 0 || number == kPrograms)
                   return number == kPrograms;
               const Asked asked = ask(machine, session, number++);
               cost.without_program += asked.origin == INGOT_ORIGIN_MEMORY;
               return asked.origin == INGOT_ORIGIN_STORAGE;
           }) &&
           number < kPrograms;
}

void meet(const Machine &machine, Session &session, Cost &cost, int &number)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kFaultSeconds);
    while (std::chrono::steady_clock::now() < end && number < kPrograms - kProgramsAfterwards) {
        const uint64_t skipped = machine.tier().stats().skipped;
        const Asked asked = ask(machine, session, number++);
        ++cost.requests;
        cost.without_program += asked.origin == INGOT_ORIGIN_MEMORY;
        cost.hits += asked.origin == INGOT_ORIGIN_STORAGE;
        const bool has_asked = machine.tier().stats().skipped == skipped;
        if (has_asked && (asked.origin != INGOT_ORIGIN_STORAGE || asked.seconds > kSlowSeconds)) {
            cost.lost += asked.seconds;
            cost.longest = std::max(cost.longest, asked.seconds);
        }
        poll(nullptr, 0, kPauseMs); /* the application does something else */
    }
}

/* The work of a client. An eager client ends during the fault. The other client continues after the fault. */
int run_client(const std::string &folder, const std::string &url, bool is_eager, const Gates &gates, Cost &cost)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_remote_info_t remote = is_eager ? eager() : ingot_remote_info_t(INGOT_REMOTE_INFO_INIT);
    auto machine = std::make_unique<Machine>(folder, url, info, remote);
    Session session;
    int number = 0;
    const bool has_hit = hits(*machine, session, cost, number);
    gates.is_ready.open();
    gates.has_begun.wait();
    {
        const Lateness lateness;
        meet(*machine, session, cost, number);
        cost.stats = machine->tier().stats();
        if (is_eager)
            cost.end = seconds_of([&] { machine.reset(); });
        cost.lateness = lateness.seconds();
        cost.longest_late_ns = lateness.longest_ns();
    }
    gates.has_met.open();
    if (is_eager) {
        cost.is_good = has_hit;
        return 0;
    }
    gates.has_ended.wait();
    bool has_recovered = false;
    cost.recovery = seconds_of([&] { has_recovered = hits(*machine, session, cost, number); });
    cost.is_good = has_hit && has_recovered && machine->tier().flush() == INGOT_SUCCESS;
    return 0;
}

/* ---- a fault ---- */

pid_t start_process(const std::function<int()> &work)
{
    return forked_child::start_guarded([&] {
        setenv("no_proxy", "*", 1);
        return work();
    });
}

/* Runs one fault with its clients. Called in a separate process. */
int run_fault(const Fault &fault, bool is_redis, Cost *costs)
{
    Scene scene;
    if (is_redis)
        scene.server = std::make_unique<ServerIn<network::Redis>>(scene.server_space);
    else
        scene.server = std::make_unique<ServerIn<network::Nginx>>(scene.server_space);
    const std::string url = scene.server->url();
    const ScratchDirectory scratch;
    const auto folder = [&](int i) { return (scratch.path() / std::to_string(i)).string(); };
    const Gates gates;
    std::vector<pid_t> clients;
    {
        const Within there(scene.machine_space);
        if (forked_child::wait_for(start_process([&] { return fill(folder(kClients), url); })) != 0)
            return 1;
        for (int i = 0; i < kClients; ++i)
            clients.push_back(start_process([&] { return run_client(folder(i), url, i == 0, gates, costs[i]); }));
    }
    for (int i = 0; i < kClients; ++i)
        gates.is_ready.wait();
    fault.begin(scene);
    for (int i = 0; i < kClients; ++i)
        gates.has_begun.open();
    if (fault.middle)
        fault.middle(scene);
    for (int i = 0; i < kClients; ++i)
        gates.has_met.wait();
    fault.end(scene);
    gates.has_ended.open();
    int failed = 0;
    for (const pid_t client : clients)
        failed += forked_child::wait_for(client) != 0;
    return failed;
}

void expect_small(const char *name, const Cost &cost)
{
    EXPECT_TRUE(cost.is_good) << name << ": a load hits before the fault, and after it";
    EXPECT_EQ(0, cost.without_program) << name;
    EXPECT_GT(cost.requests, 0) << name;
    EXPECT_LE(cost.lost + cost.end, kLongestLoss + cost.lateness) << name;
    EXPECT_LE(cost.stats.lost_ns, 2000000000u + cost.longest_late_ns) << name;
}

void print(const char *name, const Cost &often, const Cost &usual)
{
    printf("%-30s %9.0f %10.0f %7.0f %9.0f %8d %8d %8d %11.0f\n", name, usual.lost * 1e3, often.lost * 1e3,
           often.end * 1e3, std::max(often.longest, usual.longest) * 1e3, often.requests + usual.requests,
           often.hits + usual.hits, often.without_program + usual.without_program, usual.recovery * 1e3);
}

/* Runs all faults at the same time, because they mostly wait. Prints a table of their costs, and expects that none
 * exceeds the documented limit. */
void expect_small_costs(bool is_redis)
{
    const std::vector<Fault> all = faults();
    const forked_child::Shared<std::array<Cost[kClients], 16>> costs;
    ASSERT_GE(costs->size(), all.size());
    std::vector<pid_t> children;
    for (size_t i = 0; i < all.size(); ++i)
        children.push_back(start_process([&, i] { return run_fault(all[i], is_redis, (*costs)[i]); }));
    printf("%-30s %9s %10s %7s %9s %8s %8s %8s %11s\n", is_redis ? "Redis: fault" : "nginx: fault", "added ms",
           "at most ms", "end ms", "one, ms", "requests", "hits", "failures", "recovery ms");
    for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(0, forked_child::wait_for(children[i])) << all[i].name;
        print(all[i].name, (*costs)[i][0], (*costs)[i][1]);
        for (const Cost &cost : (*costs)[i])
            expect_small(all[i].name, cost);
    }
}

class RemoteNetworkFaults : public testing::Test
{
protected:
    void SetUp() override
    {
        const std::string reason = network::why_no_slow_link();
        if (!reason.empty()) {
            GTEST_SKIP() << reason;
        }
    }
};

} // namespace

TEST_F(RemoteNetworkFaults, WithRedisCostAProcessAtMostTwoSeconds)
{
    expect_small_costs(true);
}

TEST_F(RemoteNetworkFaults, WithNginxCostAProcessAtMostTwoSeconds)
{
    expect_small_costs(false);
}

/*
 * Tests servers that fail in many ways: they cost a process little time, no request of a program fails because of them,
 * and the tier recovers.
 */
#include <sched.h>
#include <sys/mount.h>

#include <cstdio>
#include <cstring>
#include <future>
#include <memory>

#include "support/faulty_server.h"
#include "support/forked_child.h"
#include "support/remote_fixture.h"

extern "C" {
#include "remote/curl/curl.h"
#include "remote/object/envelope.h"
}

using namespace remote_fixture;
using server_process::Redis;

namespace
{

struct Cost {
    double seconds = 0; /* the time of all loads that made a request */
    double skipped = 0; /* the time of all other loads, which only use the processor */
    double longest = 0;
    uint64_t hits = 0;
    ingot_remote_stats_t stats = {};
};

/* For four seconds, loads a different program every few milliseconds, as an application does. Returns what that
 * cost. */
Cost cost_of(const std::string &url)
{
    const Tier tier(url, eager());
    Cost cost;
    EXPECT_EQ(INGOT_SUCCESS, tier.status());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
        const Bytes id = bytes_of("id " + std::to_string(i));
        ingot_status_t status = INGOT_SUCCESS;
        const double seconds = seconds_of([&] { status = tier.load(id); });
        const uint64_t skipped = tier.stats().skipped;
        (skipped != cost.stats.skipped ? cost.skipped : cost.seconds) += seconds;
        cost.stats.skipped = skipped;
        cost.longest = std::max(cost.longest, seconds);
        cost.hits += status == INGOT_SUCCESS;
        poll(nullptr, 0, 5); /* the application does something else */
    }
    cost.stats = tier.stats();
    return cost;
}

FaultyServer::Behavior answering_once(const std::string &answer)
{
    return [answer](FaultyConnection &connection) {
        if (connection.read_request())
            connection.send_bytes(answer);
    };
}

std::string bulk(const Bytes &bytes)
{
    return "$" + std::to_string(bytes.size()) + "\r\n" + std::string(bytes.begin(), bytes.end()) + "\r\n";
}

Bytes object_of(const Bytes &id, const Bytes &blob)
{
    size_t size = 0;
    uint8_t *object = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, envelope_encode(id.size(), id.data(), blob.size(), blob.data(), 1, 0, &size, &object));
    Bytes bytes(object, object + size);
    free(object);
    return bytes;
}

void drip(FaultyConnection &connection, const std::string &head, int pause_ms, std::atomic<bool> *has_begun = nullptr)
{
    if (!connection.read_request() || !connection.send_bytes(head))
        return;
    if (has_begun != nullptr)
        *has_begun = true;
    while (connection.pause(pause_ms) && connection.send_bytes("x")) {
    }
}

/* A listening socket whose queue is full, so that the kernel does not answer further attempts to connect. */
class BlackHole
{
public:
    BlackHole() : server_(nullptr, 0)
    {
        const sockaddr_in address = server_process::loopback(server_.port());
        for (int &fd : fillers_) {
            fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            (void)connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address));
        }
    }
    ~BlackHole()
    {
        for (const int fd : fillers_)
            close(fd);
    }
    uint16_t port() const { return server_.port(); }
    std::string url(const std::string &scheme) const { return server_.url(scheme); }

private:
    FaultyServer server_;
    int fillers_[8];
};

struct Fault {
    const char *name;
    std::function<Cost()> run;
};

std::function<Cost()> served_by(const FaultyServer::Behavior &behavior, const char *scheme = "redis")
{
    return [=] {
        const FaultyServer server(behavior);
        return cost_of(server.url(scheme));
    };
}

std::function<Cost()> in_a_black_hole(const char *scheme)
{
    return [=] {
        const BlackHole hole;
        return cost_of(hole.url(scheme));
    };
}

std::vector<Fault> redis_faults()
{
    return {
        {"refused port", [] { return cost_of(server_process::closed_url()); }},
        {"stopped server",
         [] {
             Redis redis;
             redis.pause();
             const Cost cost = cost_of(redis.url());
             redis.resume();
             return cost;
         }},
        {"black hole", in_a_black_hole("redis")},
        {"name that does not resolve", [] { return cost_of("redis://no-such-host.invalid"); }},
        {"closes connections", served_by([](FaultyConnection &) {})},
        {"never answers", served_by([](FaultyConnection &connection) { connection.wait_for_end(); })},
        {"answers slowly", served_by([](FaultyConnection &connection) {
             while (connection.read_request() && connection.pause(400) && connection.send_bytes("$-1\r\n")) {
             }
         })},
        {"drips bytes", served_by([](FaultyConnection &connection) { drip(connection, "$3000\r\n", 20); })},
        {"drips a line", served_by([](FaultyConnection &connection) { drip(connection, "+", 20); })},
        {"sends without end", served_by([](FaultyConnection &connection) {
             const std::string bytes(65536, 'x');
             connection.send_bytes("$600000000\r\n");
             while (connection.send_bytes(bytes)) {
             }
         })},
        {"truncates", served_by(answering_once("$3000\r\nonly this"))},
        {"claims a huge value", served_by(answering("$9223372036854775807\r\nx"))},
        {"claims a negative value", served_by(answering("$-77\r\nx\r\n"))},
        {"claims a huge list", served_by(answering("*2147483647\r\n"))},
        {"sends garbage", served_by(answering("<html>not Redis</html>\r\n"))},
        {"sends two answers", served_by(answering("$-1\r\n$-1\r\n"))},
        {"answers errors", served_by(answering("-ERR internal error\r\n"))},
        {"rejects credentials", served_by(answering("-NOAUTH Authentication required.\r\n"))},
        {"another program's object", served_by(answering(bulk(object_of(kId, kBlob))))},
        {"not an object", served_by(answering(bulk(kBlob)))},
    };
}

std::function<Cost()> http_served_by(const FaultyServer::Behavior &behavior)
{
    return served_by(behavior, "http");
}

std::string body(const std::string &bytes, const std::string &status = "200 OK")
{
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes;
}

std::vector<Fault> http_faults()
{
    const Bytes other = object_of(kId, kBlob);
    return {
        {"http: refused port", [] { return cost_of(server_process::closed_url("http")); }},
        {"http: black hole", in_a_black_hole("http")},
        {"http: name does not resolve", [] { return cost_of("http://no-such-host.invalid"); }},
        {"http: closes connections", http_served_by([](FaultyConnection &) {})},
        {"http: never answers", http_served_by([](FaultyConnection &connection) { connection.wait_for_end(); })},
        {"http: answers slowly", http_served_by([](FaultyConnection &connection) {
             while (connection.read_request() && connection.pause(400) &&
                    connection.send_bytes(body("", "404 Not Found"))) {
             }
         })},
        {"http: drips bytes", http_served_by([](FaultyConnection &connection) {
             drip(connection, "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n", 20);
         })},
        {"http: drips a header",
         http_served_by([](FaultyConnection &connection) { drip(connection, "HTTP/1.1 200 OK\r\nX: ", 20); })},
        {"http: sends without end", http_served_by([](FaultyConnection &connection) {
             const std::string bytes(65536, 'x');
             connection.read_request();
             connection.send_bytes("HTTP/1.1 200 OK\r\n\r\n");
             while (connection.send_bytes(bytes)) {
             }
         })},
        {"http: headers without end", http_served_by([](FaultyConnection &connection) {
             connection.read_request();
             connection.send_bytes("HTTP/1.1 200 OK\r\n");
             while (connection.send_bytes("X-Header: " + std::string(8000, 'x') + "\r\n")) {
             }
         })},
        {"http: truncates", http_served_by(answering_once("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\nonly this"))},
        {"http: claims a huge body",
         http_served_by(answering("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx"))},
        {"http: claims too little",
         http_served_by(answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + std::string(5000, 'x')))},
        {"http: sends garbage", http_served_by(answering("$-1\r\n"))},
        {"http: answers 500", http_served_by(answering(body("it is broken", "500 Internal Server Error")))},
        {"http: answers 503, long page", http_served_by(answering(body(std::string(1 << 20, 'x'), "503 No")))},
        {"http: rejects credentials", http_served_by(answering(body("", "401 Unauthorized")))},
        {"http: redirects",
         http_served_by(answering("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"))},
        {"http: another's object", http_served_by(answering(body(std::string(other.begin(), other.end()))))},
        {"http: an empty object", http_served_by(answering(body("")))},
    };
}

/* Runs all faults at the same time, because they mostly wait. Prints a table of their costs, and expects that none
 * exceeds the documented limit. */
void expect_small_costs(const std::vector<Fault> &faults)
{
    const Lateness lateness;
    std::vector<std::pair<const char *, std::future<Cost>>> runs;
    for (const Fault &fault : faults)
        runs.emplace_back(fault.name, std::async(std::launch::async, fault.run));
    printf("%-28s %10s %10s %10s %8s %8s %8s\n", "fault", "added ms", "longest ms", "skipped ms", "failures", "skipped",
           "pauses");
    for (auto &run : runs) {
        const Cost cost = run.second.get();
        printf("%-28s %10.1f %10.1f %10.1f %8llu %8llu %8llu\n", run.first, cost.seconds * 1e3, cost.longest * 1e3,
               cost.skipped * 1e3, static_cast<unsigned long long>(cost.stats.failures),
               static_cast<unsigned long long>(cost.stats.skipped), static_cast<unsigned long long>(cost.stats.pauses));
        EXPECT_LE(cost.seconds, kLongestLoss + lateness.seconds()) << run.first;
        EXPECT_LE(cost.stats.lost_ns, 2000000000u + lateness.longest_ns()) << run.first;
        EXPECT_EQ(0u, cost.hits) << run.first;
        EXPECT_GT(cost.stats.skipped, 0u) << run.first;
        EXPECT_GT(cost.stats.failures + cost.stats.misses, 0u) << run.first;
    }
}

void store_on(const Redis &redis)
{
    const Tier tier(redis.url());
    tier.upload();
}

} // namespace

TEST(RemoteFaults, OfRedisCostAProcessAtMostTwoSeconds)
{
    expect_small_costs(redis_faults());
}

TEST(RemoteFaults, OfHttpCostAProcessAtMostTwoSeconds)
{
    expect_small_costs(http_faults());
}

/* What this costs by default is shown above. */
TEST(RemoteFaults, RecoversWhenAStoppedServerGoesOn)
{
    Redis redis;
    store_on(redis);
    ingot_remote_info_t info = eager();
    info.stall_timeout_ms = 300;
    info.lost_time_ms = INGOT_UNLIMITED;
    const Tier tier(redis.url(), info);
    for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(server_process::becomes_true([&] { return tier.load(kId) == INGOT_SUCCESS; })) << round;
        redis.pause();
        EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
        redis.resume();
    }
    EXPECT_TRUE(server_process::becomes_true([&] { return tier.load(kId) == INGOT_SUCCESS; }));
    /* On a busy machine, a server that continues may still answer too late. */
    EXPECT_TRUE(server_process::becomes_true([&] { return tier.events.count("answers again") >= 5; }))
        << tier.events.all();
    EXPECT_GE(tier.events.count("timed out"), 5u) << tier.events.all();
}

TEST(RemoteFaults, RecoversWhenAServerStartsAgain)
{
    Redis redis;
    store_on(redis);
    const Tier tier(redis.url(), eager());
    redis.stop();
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(bytes_of("another id")));
    EXPECT_EQ(INGOT_SUCCESS, tier.put(kId, kBlob)) << "uploads wait";
    redis.start();
    EXPECT_TRUE(server_process::becomes_true([&] { return tier.flush(100) == INGOT_SUCCESS; }));
    const Tier other(redis.url());
    EXPECT_TRUE(server_process::becomes_true([&] { return other.load(kId) == INGOT_SUCCESS; }));
}

/* All tiers of one server share its breaker and its budget, and both outlive the tiers. */
TEST(RemoteFaults, CostsAProcessItsTimeOnceHoweverManyTiersItOpens)
{
    Redis redis;
    uint64_t lost_ns = 0;
    redis.pause();
    for (int i = 0; i < 20; ++i) {
        ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
        const std::string name_space = "n" + std::to_string(i);
        info.name_space = name_space.c_str();
        info.retry_ms = 1;
        info.longest_retry_ms = 1;
        const Tier tier(redis.url(), info);
        for (int load = 0; load < 5; ++load)
            EXPECT_NE(INGOT_SUCCESS, tier.load(kId));
        lost_ns = tier.stats().lost_ns;
    }
    EXPECT_LE(lost_ns, UINT64_C(2000) * 1000000);
    redis.resume();
    ingot_remote_info_t other = INGOT_REMOTE_INFO_INIT;
    other.lost_time_ms = INGOT_UNLIMITED; /* the limits of the tier that was opened last hold */
    other.retry_ms = 1;
    const Tier last(redis.url(), other);
    EXPECT_TRUE(server_process::becomes_true([&] { return last.load(kId) == INGOT_NOT_FOUND; }));
    EXPECT_TRUE(server_process::becomes_true([&] { return last.stats().is_asking != 0; }));
}

/* When one thread finds out that the server does not answer, the other waiting threads are released. */
TEST(RemoteFaults, HoldsAllThreadsOnce)
{
    Redis redis;
    const Tier tier(redis.url(), INGOT_REMOTE_INFO_INIT);
    std::vector<std::future<void>> threads;
    const Lateness lateness;
    redis.pause();
    const double seconds = seconds_of([&] {
        for (int t = 0; t < 8; ++t)
            threads.push_back(std::async(std::launch::async, [&, t] {
                for (int i = 0; i < 50; ++i)
                    tier.load(bytes_of("id " + std::to_string(t * 50 + i)));
            }));
        for (auto &thread : threads)
            thread.get();
    });
    redis.resume();
    EXPECT_LE(seconds, kLongestLoss + lateness.seconds());
    EXPECT_EQ(1u, tier.stats().pauses);
    EXPECT_LE(tier.stats().lost_ns, 1500000000u + lateness.longest_ns());
}

/* A server that never accepts an upload must not delay the end of the process. */
TEST(RemoteFaults, EndsInTimeWithUploadsThatNobodyTakes)
{
    Redis redis;
    redis.pause();
    double seconds = 0;
    const Lateness lateness;
    const ingot_remote_info_t defaults = INGOT_REMOTE_INFO_INIT;
    auto tier = std::make_unique<Tier>(redis.url(), defaults);
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier->put(bytes_of("id " + std::to_string(i)), random_bytes(1, 1 << 20)));
    seconds = seconds_of([&] { tier->close(); });
    EXPECT_LE(seconds, 1.0 + lateness.seconds());
    EXPECT_EQ(1u, tier->events.count("there was no time for them")) << tier->events.all();
    redis.resume();
}

/* A probe and an upload have no deadline. A server that answers them byte by byte must not delay the end of the
 * process, however fast the bytes come. */
TEST(RemoteFaults, EndsInTimeWithAnAnswerThatNeverEnds)
{
    for (const int pause_ms : {1, 10}) {
        std::atomic<bool> has_begun{false};
        const FaultyServer server([&](FaultyConnection &connection) { drip(connection, "+", pause_ms, &has_begun); });
        ingot_remote_info_t info = patient();
        info.exit_time_ms = 1;
        const Lateness lateness;
        auto tier = std::make_unique<Tier>(server.url(), info);
        ASSERT_EQ(INGOT_SUCCESS, tier->put(kId, kBlob));
        ASSERT_TRUE(server_process::becomes_true([&] { return has_begun.load(); }));
        const double seconds = seconds_of([&] { tier->close(); });
        EXPECT_LE(seconds, 1.0 + lateness.seconds()) << pause_ms;
    }
}

/* libcurl closes a socket that is still connecting without asking. Its number may then belong to another thread's file,
 * which looks as if the application had closed the socket. */
TEST(RemoteFaults, ASocketThatNeverConnectedIsForgotten)
{
    const BlackHole server;
    const std::string url = server.url("http");
    sockets opened;
    sockets_init(&opened);
    CURLM *multi = curl_multi_init();
    CURL *easy = curl_easy_init();
    ASSERT_EQ(CURLE_OK, sockets_apply(&opened, easy));
    ASSERT_EQ(CURLE_OK, curl_easy_setopt(easy, CURLOPT_URL, url.c_str()));
    ASSERT_EQ(CURLM_OK, curl_multi_add_handle(multi, easy));
    int running = 1;
    while (running != 0 && sockets_count(&opened) == 0)
        ASSERT_EQ(CURLM_OK, curl_multi_perform(multi, &running));
    ASSERT_EQ(1u, sockets_count(&opened));
    EXPECT_TRUE(sockets_are_own(&opened));
    EXPECT_EQ(CURLM_OK, curl_multi_remove_handle(multi, easy));
    EXPECT_TRUE(sockets_are_own(&opened));
    EXPECT_EQ(0u, sockets_count(&opened));
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
}

/* A name has two addresses. The first one does not answer, as an IPv6 address without a route. */
TEST(RemoteFaults, TriesAllAddressesOfAName)
{
    constexpr int kNoMount = 97;
    ScratchDirectory scratch;
    const std::string hosts = scratch.path() / "hosts";
    std::ofstream(hosts) << "127.0.0.1 cache.test\n127.0.0.2 cache.test\n";
    const int result = forked_child::run([&]() -> int {
        if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
            mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount(hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0)
            return kNoMount;
        const BlackHole silent;
        sockaddr_in second = server_process::loopback(silent.port());
        second.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
        const FaultyServer server(answering("$-1\r\n"), second);
        ingot_remote_info_t info = patient();
        info.connect_timeout_ms = 6000;
        const Tier tier("redis://cache.test:" + std::to_string(silent.port()), info);
        const ingot_status_t status = tier.load(kId);
        return status != INGOT_NOT_FOUND ? 1 : server.connection_count() == 1 ? 0 : 2;
    });
    if (result == kNoMount)
        GTEST_SKIP() << "this machine allows no mounts";
    EXPECT_EQ(0, result);
}

/* What a server says is shown in terminals and logs. */
TEST(RemoteFaults, ShowsNoControlCharactersOfAServer)
{
    const FaultyServer server(answering("-ERR \x1b]0;title\x07"
                                        " caf\xc3\xa9 \xc2\x9b"
                                        "31m\r\n"));
    const Tier tier(server.url());
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "ERR ?]0;title? caf\xc3\xa9 ??31m"))
        << ingot_last_error_detail();
}

/* Another thread stores faster than the server accepts, so the queue is never empty. */
TEST(RemoteFaults, FlushWaitsOnlyForWhatWasStoredBefore)
{
    const Redis redis;
    const Tier tier(redis.url());
    std::atomic<bool> is_flushed{false};
    std::atomic<int> count{0};
    std::thread storing([&] {
        const Bytes blob = random_bytes(1, 1 << 16);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!is_flushed && std::chrono::steady_clock::now() < end)
            tier.put(bytes_of("id " + std::to_string(++count)), blob);
    });
    while (count < 10)
        std::this_thread::yield();
    EXPECT_EQ(INGOT_SUCCESS, tier.flush(20000));
    is_flushed = true;
    storing.join();
}

TEST(RemoteFaults, StopsUploadingToAServerThatRefuses)
{
    const Redis redis({"--maxmemory", "1mb", "--maxmemory-policy", "noeviction"});
    const Tier tier(redis.url());
    ASSERT_EQ(INGOT_SUCCESS, tier.put(kId, random_bytes(1, 8 << 20)));
    /* The upload is not tried again, because the server would refuse it again. */
    EXPECT_TRUE(server_process::becomes_true([&] { return tier.events.count("failed: the server refuses: OOM") == 1; }))
        << tier.events.all();
    EXPECT_EQ(INGOT_SUCCESS, tier.flush());
    EXPECT_EQ(1u, tier.stats().failed_uploads);
    EXPECT_EQ(1u, tier.events.count("failed: the server refuses: OOM")) << tier.events.all();
}

/* The server fails the first upload once something newer waits. */
TEST(RemoteFaults, AFailedUploadIsTriedFirstUnlessANewerOneReplacesIt)
{
    for (const bool is_replaced : {false, true}) {
        std::atomic<bool> has_failed{false}, is_first_there{false}, is_newer_there{false};
        std::mutex mutex;
        std::string order;
        const FaultyServer server([&](FaultyConnection &connection) {
            for (std::string request; !(request = connection.read_some()).empty();) {
                const size_t at = request.find("blob ");
                {
                    const std::lock_guard<std::mutex> guard(mutex);
                    order += at != std::string::npos ? request.substr(at + 5, 1) : "";
                }
                if (at != std::string::npos && !has_failed.exchange(true)) {
                    is_first_there = true;
                    while (!is_newer_there)
                        std::this_thread::yield();
                    return;
                }
                connection.send_bytes(at != std::string::npos ? "+OK\r\n" : "+PONG\r\n");
            }
        });
        ingot_remote_info_t info = patient();
        info.retry_ms = 20;
        info.longest_retry_ms = 40;
        const Tier tier(server.url(), info);
        EXPECT_EQ(INGOT_SUCCESS, tier.put(bytes_of("first"), bytes_of("blob 1")));
        EXPECT_TRUE(server_process::becomes_true([&] { return is_first_there.load(); }));
        EXPECT_EQ(INGOT_SUCCESS, tier.put(bytes_of(is_replaced ? "first" : "second"), bytes_of("blob 2")));
        is_newer_there = true;
        EXPECT_TRUE(server_process::becomes_true([&] { return tier.flush(100) == INGOT_SUCCESS; }));
        const std::lock_guard<std::mutex> guard(mutex);
        EXPECT_EQ(is_replaced ? "12" : "112", order);
    }
}

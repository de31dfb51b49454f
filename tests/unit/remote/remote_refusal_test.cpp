/*
 * Tests servers that answer some requests and refuse others: refused uploads do not stop loads, and servers that bring
 * nothing cost a process no more than the time that it may lose.
 */
#include "support/faulty_server.h"
#include "support/machine_fixture.h"

using namespace remote_fixture;
using machine_fixture::Machine;
using server_process::becomes_true;
using server_process::Nginx;
using server_process::Redis;

namespace
{

constexpr int kPrograms = 20;
constexpr int kUploads = 5;

Bytes program_id(int number)
{
    return bytes_of("program " + std::to_string(number));
}

void fill(const std::string &url)
{
    const Tier tier(url);
    for (int i = 0; i < kPrograms; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier.put(program_id(i), random_bytes(uint64_t(i), 500)));
    ASSERT_EQ(INGOT_SUCCESS, tier.flush());
    ASSERT_EQ(uint64_t{kPrograms}, tier.stats().uploads) << tier.events.all();
}

/* Uploads blobs that the server refuses, and then loads all programs. */
void expect_all_loads(const std::string &url, const char *reason)
{
    const Tier tier(url);
    for (int i = 0; i < kUploads; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier.put(bytes_of("upload " + std::to_string(i)), random_bytes(uint64_t(i), 5000)));
    ASSERT_TRUE(becomes_true([&] { return tier.stats().failed_uploads != 0; })) << tier.events.all();
    (void)tier.flush(100);
    int loaded = 0;
    for (int i = 0; i < kPrograms; ++i)
        loaded += tier.load(program_id(i)) == INGOT_SUCCESS;
    EXPECT_EQ(kPrograms, loaded) << tier.events.all();
    EXPECT_EQ(0u, tier.stats().pauses);
    EXPECT_TRUE(tier.stats().is_asking);
    EXPECT_NE(0u, tier.events.count(reason)) << tier.events.all();
}

/* Adds a user with this right alone. Returns a URL with the user's name and password. */
std::string url_with_right(const Redis &redis, const char *right)
{
    const std::string password = redis.folder() + "/password";
    EXPECT_EQ("OK\n", redis.ask({"ACL", "SETUSER", "user", "on", ">word", "~ingot:*", right, "+ping", "+select"}));
    std::ofstream(password) << "word\n";
    EXPECT_EQ(0, chmod(password.c_str(), 0600));
    return "redis://user@127.0.0.1:" + std::to_string(redis.port()) + "?credentials=" + password;
}

/* A server for Redis's protocol that has all leases and nothing else. `pause_ms`: before each answer. */
FaultyServer::Behavior redis_that_answers(int pause_ms)
{
    return [pause_ms](FaultyConnection &connection) {
        for (std::string words; !(words = connection.read_some()).empty();) {
            if (pause_ms != 0 && !connection.pause(pause_ms))
                return;
            if (!connection.send_bytes(words.find(":lease") != std::string::npos
                                           ? "$32\r\n0123456789abcdef0123456789abcdef\r\n"
                                       : words.find("PING") != std::string::npos ? "+PONG\r\n"
                                       : words.find("SET") != std::string::npos  ? "+OK\r\n"
                                                                                 : "$-1\r\n"))
                return;
        }
    };
}

} // namespace

TEST(RemoteRefusal, OfUploadsByAClientThatMayOnlyReadDoesNotStopLoads)
{
    const Redis redis;
    fill(redis.url());
    expect_all_loads(url_with_right(redis, "+get"), "NOPERM");
}

TEST(RemoteRefusal, OfLoadsDoesNotStopUploads)
{
    const Redis redis;
    ingot_remote_info_t info = patient();
    info.retry_ms = 600000;
    Tier tier(url_with_right(redis, "+set"), info);
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
    EXPECT_FALSE(tier.stats().is_asking);
    const Bytes large = random_bytes(1, 2 << 20); /* so that most uploads still wait when the tier is closed */
    for (int i = 0; i < kPrograms; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier.put(program_id(i), large));
    tier.close();
    EXPECT_EQ(std::to_string(kPrograms) + "\n", redis.ask({"DBSIZE"})) << tier.events.all();
}

TEST(RemoteRefusal, OfUploadsByAFullRedisDoesNotStopLoads)
{
    const Redis redis;
    fill(redis.url());
    EXPECT_EQ("OK\n", redis.ask({"CONFIG", "SET", "maxmemory", "1"}));
    expect_all_loads(redis.url(), "OOM");
}

TEST(RemoteRefusal, OfUploadsByAReplicaDoesNotStopLoads)
{
    const Redis redis;
    fill(redis.url());
    EXPECT_EQ("OK\n", redis.ask({"REPLICAOF", "127.0.0.1", std::to_string(server_process::closed_port())}));
    expect_all_loads(redis.url(), "READONLY");
}

TEST(RemoteRefusal, OfLargeUploadsDoesNotStopLoads)
{
    const Nginx nginx("client_max_body_size 1k;");
    fill(nginx.url());
    expect_all_loads(nginx.url(), "413");
}

TEST(RemoteRefusal, OfUploadsByAnHttpServerDoesNotStopLoads)
{
    Nginx nginx("if ($request_method = PUT) { return 403; }");
    {
        const Nginx open;
        fill(open.url());
        std::filesystem::copy(open.folder() + "/data", nginx.folder() + "/data",
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::overwrite_existing);
    }
    expect_all_loads(nginx.url(), "403");
}

TEST(RemoteRefusal, OfALargeUploadConcernsOneObject)
{
    const Nginx nginx("client_max_body_size 1k;");
    const Tier tier(nginx.url());
    for (int i = 0; i < 4; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier.put(bytes_of("large " + std::to_string(i)), random_bytes(uint64_t(i), 5000)));
    tier.upload(kId, random_bytes(1, 500));
    EXPECT_EQ(4u, tier.stats().failed_uploads);
    EXPECT_EQ(4u, tier.events.count("413")) << tier.events.all();
    EXPECT_EQ(1u, tier.stats().uploads);
    EXPECT_TRUE(tier.stats().is_uploading);
}

TEST(RemoteRefusal, OfUploadsEndsWhenTheServerTakesThem)
{
    const Redis redis;
    ingot_remote_info_t info = patient();
    info.retry_ms = 50;
    EXPECT_EQ("OK\n", redis.ask({"CONFIG", "SET", "maxmemory", "1"}));
    const Tier tier(redis.url(), info);
    ASSERT_EQ(INGOT_SUCCESS, tier.put(kId, kBlob));
    ASSERT_TRUE(becomes_true([&] { return !tier.stats().is_uploading; }));
    ASSERT_EQ(INGOT_SUCCESS, tier.put(bytes_of("another id"), kBlob));
    EXPECT_EQ("OK\n", redis.ask({"CONFIG", "SET", "maxmemory", "0"}));
    ASSERT_EQ(INGOT_SUCCESS, tier.put(bytes_of("a third id"), kBlob));
    EXPECT_TRUE(becomes_true([&] { return tier.flush() == INGOT_SUCCESS; })) << tier.events.all();
    EXPECT_EQ(INGOT_SUCCESS, Tier(redis.url()).load(bytes_of("a third id")));
    EXPECT_TRUE(tier.stats().is_uploading);
    EXPECT_EQ(0u, tier.stats().pauses);
    EXPECT_EQ(1u, tier.events.count("takes uploads again")) << tier.events.all();
}

/* A server that always says that another machine has the lease, and lets itself be asked. It takes the time of one wait
 * for all programs. */
TEST(RemoteRefusal, OfLeasesCostsAProcessTheTimeOfOneWait)
{
    const FaultyServer server(redis_that_answers(0));
    const ScratchDirectory scratch;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.build_wait_ms = 300;
    const Machine machine(scratch.path() / "store", server.url(), info, INGOT_REMOTE_INFO_INIT);
    Session session;
    uint64_t requests = 0;
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, numbered_source(i)));
        const uint64_t now = machine.tier().stats().busy_leases;
        EXPECT_TRUE(i == 0 ? now > 1 : now == requests + 1) << i << ": " << now;
        requests = now;
    }
    EXPECT_EQ(20u, machine.stats().wait_timeouts);
    EXPECT_EQ(0u, machine.tier().stats().pauses);
}

/* A server that has a value under each key, but no lease. Nobody waits for it. */
TEST(RemoteRefusal, OfLeasesByAnyOtherValueIsAFailure)
{
    const FaultyServer server(answering("$5\r\nvalue\r\n"));
    const ScratchDirectory scratch;
    const Machine machine(scratch.path() / "store", server.url(), INGOT_PERSIST_INFO_INIT, INGOT_REMOTE_INFO_INIT);
    Session session;
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(INGOT_ORIGIN_BUILD, machine.request(session, numbered_source(i)));
    EXPECT_EQ(0u, machine.tier().stats().busy_leases);
    EXPECT_EQ(1u, machine.tier().stats().pauses) << machine.tier().events.all();
}

TEST(RemoteRefusal, SlowMissesCostAProcessAtMostTwoSeconds)
{
    constexpr int kPauseMs = 235;
    const Lateness lateness;
    const FaultyServer server(redis_that_answers(kPauseMs));
    const Tier tier(server.url(), INGOT_REMOTE_INFO_INIT);
    const double seconds = seconds_of([&] {
        for (int i = 0; i < kPrograms; ++i)
            EXPECT_NE(INGOT_SUCCESS, tier.load(program_id(i)));
    });
    const ingot_remote_stats_t stats = tier.stats();
    printf("%d misses of %d ms: %.2f s, %llu asked\n", kPrograms, kPauseMs, seconds,
           static_cast<unsigned long long>(stats.misses));
    EXPECT_LE(stats.lost_ns, 2000000000u + lateness.longest_ns());
    EXPECT_GE(stats.lost_ns, stats.misses * kPauseMs * 1000000);
    EXPECT_LT(0u, stats.skipped);
}

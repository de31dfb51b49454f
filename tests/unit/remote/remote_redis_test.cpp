/*
 * Tests a remote tier on a real Redis: what the server keeps, for how long and for whom, and what the tier's thread
 * does in the background.
 */
#include <sys/syscall.h>

#include <ctime>
#include <memory>

#include "support/faulty_server.h"
#include "support/forked_child.h"
#include "support/remote_fixture.h"
#include "support/stray_close.h"

using namespace remote_fixture;
using server_process::Redis;

/* Replaces a function of the C library, so that a test can let a machine sleep. */
static std::atomic<time_t> slept_seconds{0};
extern "C" int clock_gettime(clockid_t clock, timespec *time) noexcept
{
    const long result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_BOOTTIME)
        time->tv_sec += slept_seconds;
    return static_cast<int>(result);
}

namespace
{

ingot_remote_info_t info_with(const std::function<void(ingot_remote_info_t *)> &change)
{
    ingot_remote_info_t info = patient();
    change(&info);
    return info;
}

/* Returns the only key on the server. */
std::string key_on(const Redis &redis)
{
    std::string key = redis.ask({"KEYS", "*"});
    while (!key.empty() && key.back() == '\n')
        key.pop_back();
    return key;
}

} // namespace

TEST(RemoteRedis, ClosesNoFileThatGotTheDescriptorOfAConnection)
{
    const Redis redis;
    const ScratchDirectory scratch;
    const std::set<int> before = stray_close::open_descriptors();
    auto tier = std::make_unique<Tier>(redis.url());
    tier->upload();
    EXPECT_EQ(INGOT_SUCCESS, tier->load(kId));
    const std::vector<int> kept = stray_close::opened_since(before);
    ASSERT_FALSE(kept.empty());
    const stray_close::Successors successors(scratch.path() / "data", kept);
    EXPECT_EQ(INGOT_SUCCESS, tier->load(kId)) << ingot_last_error_detail();
    tier.reset();
    EXPECT_EQ("", successors.damage());
}

TEST(RemoteRedis, ReturnsWhatAnotherProcessStored)
{
    const Redis redis;
    expect_round_trip(redis.url());
}

TEST(RemoteRedis, KeepsBlobsOfAllSizes)
{
    const Redis redis;
    expect_blobs_of_all_sizes(redis.url());
}

TEST(RemoteRedis, LoadsWhatWaitsForItsUpload)
{
    const Tier tier(server_process::closed_url());
    EXPECT_EQ(INGOT_SUCCESS, tier.put(kId, kBlob));
    /* there is no server, so uploads wait */
    ASSERT_TRUE(server_process::becomes_true([&] { return tier.stats().is_uploading == 0; }));
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, tier.load(kId, &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(INGOT_SUCCESS, tier.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
    EXPECT_EQ(INGOT_BUSY, tier.flush(10));
    EXPECT_EQ(1u, tier.stats().waiting);
}

TEST(RemoteRedis, TellsWhetherItHasABlob)
{
    const Redis redis;
    const Tier tier(redis.url());
    EXPECT_EQ(INGOT_NOT_FOUND, tier.has());
    ASSERT_EQ(INGOT_SUCCESS, tier.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, tier.has()) << "or waits to be uploaded";
    ASSERT_EQ(INGOT_SUCCESS, tier.flush());
    EXPECT_EQ(INGOT_SUCCESS, Tier(redis.url()).has());

    const Tier down(server_process::closed_url());
    EXPECT_EQ(INGOT_IO_ERROR, down.has());
    EXPECT_EQ(INGOT_IO_ERROR, down.has()) << "it is not asked";
    EXPECT_EQ(1u, down.stats().skipped);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_remote_has(nullptr, kId.size(), kId.data()));
}

TEST(RemoteRedis, LimitsTheTimeToLive)
{
    const Redis redis;
    const Tier month(redis.url());
    month.upload();
    EXPECT_NEAR(30 * 86400, std::stod(redis.ask({"TTL", key_on(redis)})), 60);

    const Tier hour(redis.url(), info_with([](auto *info) { info->time_to_live_ms = 3600 * 1000; }));
    hour.upload();
    EXPECT_NEAR(3600, std::stod(redis.ask({"TTL", key_on(redis)})), 60);

    const Tier forever(redis.url(), info_with([](auto *info) { info->time_to_live_ms = UINT64_MAX; }));
    forever.upload();
    EXPECT_EQ("-1\n", redis.ask({"TTL", key_on(redis)}));
}

TEST(RemoteRedis, KeepsNameSpacesAndDatabasesApart)
{
    const Redis redis;
    const Tier tier(redis.url());
    const Tier space(redis.url(), info_with([](auto *info) { info->name_space = "team-b"; }));
    const Tier database(redis.url("/3"));
    tier.upload();
    EXPECT_EQ(0u, key_on(redis).rfind("ingot:1:default:", 0));
    EXPECT_EQ(INGOT_NOT_FOUND, space.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, database.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, Tier(redis.url("/0")).load(kId));
    EXPECT_EQ(INGOT_SUCCESS, Tier("redis+unix://" + redis.folder() + "/socket").load(kId));
}

TEST(RemoteRedis, AuthenticatesByAFile)
{
    const Redis redis({"--requirepass", "hunter2", "--user", "cache", "on", ">sesame", "~ingot:*", "+@all"});
    const std::string secret = redis.folder() + "/secret";
    const auto write = [&](const char *text) {
        std::ofstream(secret) << text << "\n";
        chmod(secret.c_str(), 0600);
    };
    write("hunter2");
    EXPECT_EQ(INGOT_NOT_FOUND, Tier(redis.url("?credentials=" + secret)).load(kId)) << ingot_last_error_detail();
    write("sesame");
    const std::string user = "redis://cache@127.0.0.1:" + std::to_string(redis.port()) + "?credentials=" + secret;
    EXPECT_EQ(INGOT_NOT_FOUND, Tier(user).load(kId));

    write("wrong");
    for (const std::string &url : {redis.url("?credentials=" + secret), user, redis.url()}) {
        const Tier tier(url);
        EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId)) << "it does not ask again at once";
        EXPECT_EQ(1u, tier.stats().skipped);
        EXPECT_EQ(1u, tier.events.count("not asked"));
        EXPECT_EQ(0u, tier.events.count("wrong ")) << tier.events.all();
    }
}

TEST(RemoteRedis, ReadOnlyTiersNeitherStoreNorRemove)
{
    const Redis redis;
    const Tier tier(redis.url(), info_with([](auto *info) { info->flags = INGOT_REMOTE_READ_ONLY; }));
    EXPECT_EQ(INGOT_READ_ONLY, tier.put(kId, kBlob));
    EXPECT_EQ(INGOT_READ_ONLY, tier.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
}

TEST(RemoteRedis, HasLimits)
{
    const Redis redis;
    const Tier writer(redis.url());
    writer.upload();
    const Tier tier(redis.url(), info_with([](auto *info) { info->max_blob_bytes = 2000; }));
    EXPECT_EQ(INGOT_NO_SPACE, tier.put(kId, kBlob));
    EXPECT_EQ(INGOT_NO_SPACE, tier.load(kId)) << ingot_last_error_detail();
    const Tier small(redis.url(), info_with([](auto *info) { info->max_waiting_bytes = 2000; }));
    EXPECT_EQ(INGOT_NO_SPACE, small.put(kId, kBlob));
}

TEST(RemoteRedis, DropsUploadsRatherThanWaits)
{
    const Tier tier(server_process::closed_url(), info_with([](auto *info) { info->max_waiting = 3; }));
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, tier.put(bytes_of("id 0"), kBlob));
    /* there is no server, so uploads wait */
    ASSERT_TRUE(server_process::becomes_true([&] { return tier.stats().is_uploading == 0; }));
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(INGOT_SUCCESS, tier.put(bytes_of("id " + std::to_string(i)), kBlob));
    EXPECT_EQ(3u, tier.stats().waiting);
    EXPECT_EQ(7u, tier.stats().dropped_uploads);
    EXPECT_EQ(7u, tier.events.count("more wait than the limits allow"));
    EXPECT_EQ(INGOT_SUCCESS, tier.load(bytes_of("id 9")));
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(bytes_of("id 0")));
    EXPECT_EQ(INGOT_SUCCESS, tier.put(bytes_of("id 8"), Bytes{1})) << "it replaces what waits";
    EXPECT_EQ(INGOT_SUCCESS, tier.remove(bytes_of("id 9")));
    EXPECT_EQ(7u, tier.stats().dropped_uploads);
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, tier.load(bytes_of("id 8"), &blob));
    EXPECT_EQ(Bytes{1}, blob);
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(bytes_of("id 9")));
    EXPECT_EQ(INGOT_SUCCESS, tier.load(bytes_of("id 7")));

    const Tier none("redis://127.0.0.1:1", info_with([](auto *info) { info->max_waiting = INGOT_NONE; }));
    EXPECT_EQ(INGOT_NO_SPACE, none.put(kId, kBlob));
    const Tier small("redis://127.0.0.1:1", info_with([](auto *info) { info->max_waiting_bytes = 8000; }));
    EXPECT_EQ(INGOT_SUCCESS, small.put(bytes_of("a"), kBlob));
    EXPECT_EQ(INGOT_SUCCESS, small.put(bytes_of("b"), kBlob));
    EXPECT_EQ(INGOT_NO_SPACE, small.put(bytes_of("c"), Bytes(9000)));
    EXPECT_EQ(0u, small.stats().dropped_uploads) << "what cannot be taken drops nothing";
    EXPECT_EQ(INGOT_SUCCESS, small.put(bytes_of("c"), kBlob));
    EXPECT_EQ(1u, small.stats().dropped_uploads);
}

TEST(RemoteRedis, ThreadsLoadInParallel)
{
    const Redis redis;
    expect_parallel_loads(redis.url());
}

TEST(RemoteRedis, ReleasesBlobsAfterTheTier)
{
    const Redis redis;
    auto tier = std::make_unique<Tier>(redis.url());
    tier->upload();
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(tier->get(), kId.size(), kId.data(), &blob));
    tier.reset();
    EXPECT_EQ(kBlob, Bytes(blob.bytes, blob.bytes + blob.size));
    blob.release(&blob);
}

TEST(RemoteRedis, IsOffInAForkedChild)
{
    const Redis redis;
    {
        const Tier writer(redis.url());
        writer.upload();
    }
    auto tier = std::make_unique<Tier>(redis.url()); /* the tier has no thread yet, so TSan lets a child start one */
    ASSERT_EQ(INGOT_SUCCESS, tier->load(kId));
    EXPECT_EQ(0, forked_child::run([&] {
                  ingot_remote_stats_t stats = {};
                  if (tier->load(kId) != INGOT_NOT_FOUND || tier->put(kId, kBlob) != INGOT_READ_ONLY)
                      return 1;
                  if (ingot_remote_get_stats(tier->get(), &stats) != INGOT_UNIMPLEMENTED)
                      return 2;
                  const Tier own(redis.url());
                  if (own.load(kId) != INGOT_SUCCESS || own.put(kId, kBlob) != INGOT_SUCCESS)
                      return 3;
                  if (own.flush() != INGOT_SUCCESS)
                      return 4;
                  tier.reset();
                  return 0;
              }));
    EXPECT_EQ(INGOT_SUCCESS, tier->load(kId));
}

TEST(RemoteRedis, FillsTheDirectoryInFrontOfIt)
{
    const Redis redis;
    const ScratchDirectory scratch;
    const HeldStorage directory = open_directory(scratch.path() / "store");
    ingot_remote_info_t info = info_with([&](auto *remote) { remote->local = directory.get(); });
    EXPECT_EQ(INGOT_SUCCESS, Tier(redis.url(), info).put(kId, kBlob)); /* releasing the chain uploads the blob */
    EXPECT_EQ("1\n", redis.ask({"DBSIZE"}));
    ASSERT_EQ(INGOT_SUCCESS, clear_store(directory.get()));
    info.flags = INGOT_REMOTE_READ_ONLY;
    {
        const Tier chain(redis.url(), info);
        EXPECT_EQ(INGOT_SUCCESS, chain.load(kId));
        Bytes blob;
        EXPECT_EQ(INGOT_SUCCESS, directory.load(kId, &blob)) << "the load has filled the directory";
        EXPECT_EQ(kBlob, blob);
        EXPECT_EQ(INGOT_SUCCESS, chain.put(bytes_of("another id"), kBlob));
    }
    EXPECT_EQ("1\n", redis.ask({"DBSIZE"})) << "a read-only tier gets nothing";
}

/* The node has three quarters of the slots. */
TEST(RemoteRedis, RefusesNodesOfAClusterThatLackObjects)
{
    const Redis node({"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-port",
                      std::to_string(server_process::free_port())});
    ASSERT_EQ("OK\n", node.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "12287"}));
    ASSERT_TRUE(server_process::becomes_true([&] {
        return node.ask({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
    }));
    const std::string url = node.url();
    const ingot_remote_info_t info = info_with([&](auto *remote) { remote->url = url.c_str(); });
    ingot_remote_report_t report;
    EXPECT_EQ(INGOT_IO_ERROR, ingot_remote_check(&info, &report));
    EXPECT_EQ(INGOT_REMOTE_STEP_CONNECT, report.step);
    EXPECT_NE(std::string::npos, std::string(report.reason).find("part of a Redis Cluster")) << report.reason;
    const Tier tier(url, info_with([](auto *remote) { remote->retry_ms = 600000; })); /* it would answer a probe */
    for (int i = 0; i < 32; ++i)
        (void)tier.load(bytes_of("id " + std::to_string(i)));
    EXPECT_EQ(1u, tier.events.count("part of a Redis Cluster")) << tier.events.all();
    EXPECT_FALSE(tier.stats().is_asking);

    ASSERT_EQ("OK\n", node.ask({"CLUSTER", "ADDSLOTSRANGE", "12288", "16383"}));
    EXPECT_TRUE(server_process::becomes_true([&] { return ingot_remote_check(&info, &report) == INGOT_SUCCESS; }))
        << "a node that has all objects: " << report.reason;
}

/* A machine slept, or a router forgot its connections: they are dead, and nothing says so. */
TEST(RemoteRedis, AConnectionThatDiedCostsNoLoad)
{
    std::atomic<unsigned> dead_count{0}; /* the first connections, which no longer answer */
    std::atomic<unsigned> count{0};
    const FaultyServer server([&](FaultyConnection &connection) {
        const unsigned number = count++;
        while (connection.read_request() && (number < dead_count || connection.send_bytes("$-1\r\n"))) {
        }
    });
    ingot_remote_info_t info = patient();
    info.stall_timeout_ms = 0;
    info.lost_time_ms = 20000;
    const Tier tier(server.url(), info);
    for (unsigned round = 1; round <= 2; ++round) {
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId)) << ingot_last_error_detail();
        dead_count = count.load();
        slept_seconds = slept_seconds + 3600;
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId)) << ingot_last_error_detail();
        EXPECT_EQ(round + 1, count);
    }
    EXPECT_EQ(0u, tier.stats().failures) << tier.events.all();
    EXPECT_EQ(0u, tier.stats().pauses);
}

/* The server has ended the connection, and the load notices it only when it asks. */
TEST(RemoteRedis, AConnectionThatEndsWhenItIsAskedCostsNoLoad)
{
    std::atomic<unsigned> count{0};
    const FaultyServer server([&](FaultyConnection &connection) {
        const bool is_first = count++ == 0;
        if (connection.read_request() && connection.send_bytes("$-1\r\n"))
            while (connection.read_request() && !is_first && connection.send_bytes("$-1\r\n")) {
            }
    });
    const Tier tier(server.url());
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId)) << ingot_last_error_detail();
    EXPECT_EQ(2u, count);
}

TEST(RemoteRedis, AListThatDoesNotEndFails)
{
    const std::string key = "ingot:1:default:" + std::string(64, 'a');
    const FaultyServer server(
        answering("*2\r\n$1\r\n7\r\n*1\r\n$" + std::to_string(key.size()) + "\r\n" + key + "\r\n"));
    const Tier tier(server.url());
    const auto visit = [](void *, ingot_status_t, size_t, const uint8_t *, size_t, const uint8_t *) { FAIL(); };
    uint64_t known = 0;
    EXPECT_EQ(INGOT_IO_ERROR, ingot_remote_for_each(tier.get(), nullptr, visit, nullptr, &known));
    EXPECT_EQ("the server's list of objects does not end", std::string(ingot_last_error_detail()));
}

/* What a list may claim, and all elements together may have, is limited. */
TEST(RemoteRedis, AListThatIsTooLongFails)
{
    std::string flood = "*2\r\n$1\r\n0\r\n*60000\r\n";
    for (int i = 0; i < 60000; ++i)
        flood += "$100\r\n" + std::string(100, 'x') + "\r\n";
    const std::pair<std::string, std::string> answers[] = {
        {"*2\r\n$1\r\n0\r\n*100000000\r\n", "more than 65536 elements"},
        {"*2\r\n*40000\r\n*40000\r\n", "more than 65536 elements"},
        {flood, "more than 1052672 bytes"},
    };
    for (const auto &[answer, reason] : answers) {
        const FaultyServer server(answering(answer));
        const Tier tier(server.url());
        const auto visit = [](void *, ingot_status_t, size_t, const uint8_t *, size_t, const uint8_t *) { FAIL(); };
        uint64_t known = 0;
        EXPECT_NE(INGOT_SUCCESS, ingot_remote_for_each(tier.get(), nullptr, visit, nullptr, &known));
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find(reason)) << ingot_last_error_detail();
    }
}

TEST(RemoteRedis, AWishIsLeftThoughTheServerRefusesToLimitWishes)
{
    const Redis redis({"--user", "default", "on", "nopass", "~*", "+zadd", "+zcard"});
    const Tier tier(redis.url());
    EXPECT_EQ(INGOT_SUCCESS, ingot_remote_leave_wish(tier.get(), kId.size(), kId.data())) << ingot_last_error_detail();
    EXPECT_EQ("1\n", redis.ask({"ZCARD", "ingot:1:default:wanted"}));
}

TEST(RemoteRedis, GivesTheOldestWishToOneTaker)
{
    const Redis redis;
    const Tier tier(redis.url());
    ingot_buffer_t wish = INGOT_BUFFER_INIT;
    redis.ask({"ZADD", "ingot:1:default:wanted", "2", "late", "1", "early"});
    for (const char *expected : {"early", "late"}) {
        ASSERT_EQ(INGOT_SUCCESS, ingot_remote_take_wish(tier.get(), 1000, &wish)) << ingot_last_error_detail();
        EXPECT_EQ(expected, std::string(reinterpret_cast<const char *>(wish.bytes), wish.size));
        wish.release(&wish);
    }
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_remote_take_wish(tier.get(), 1, &wish));
    redis.ask({"SET", "ingot:1:default:wanted", "no set"});
    EXPECT_EQ(INGOT_IO_ERROR, ingot_remote_take_wish(tier.get(), 1, &wish)) << "a lie is no wish";
}

/*
 * Tests loads of several blobs at once, from a real Redis and a real nginx. The results and counts must be those of one
 * load after another, even if objects are damaged or the server fails.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>

#include <ingot/prewarm.h>

#include "support/faulty_server.h"
#include "support/persist_session.h"
#include "support/remote_fixture.h"
#include "support/server_process.h"
#include "support/storage_settings.h"
#include "support/trust_fixture.h"

extern "C" {
#include "remote/object/object_key.h"
}

using namespace remote_fixture;
using server_process::Nginx;
using server_process::Redis;

namespace
{

Bytes id_of(size_t number)
{
    return bytes_of("id " + std::to_string(number));
}

Bytes blob_of(size_t number)
{
    return random_bytes(number + 1, 4096);
}

std::string key_of(size_t number)
{
    char key[OBJECT_KEY_CAPACITY];
    const Bytes id = id_of(number);
    object_key_of("default", id.size(), id.data(), key);
    return key;
}

/* A server whose objects a test can damage. */
class Server
{
public:
    virtual ~Server() = default;
    virtual std::string url() const = 0;
    virtual void spoil(size_t number, const std::string &bytes) = 0;
    virtual void truncate(size_t number, size_t size) = 0;
    virtual void copy(size_t from, size_t to) = 0;
    virtual void pause() = 0;
    virtual void stop() = 0;
    virtual size_t most_at_once() const = 0;
};

class RedisServer : public Server
{
public:
    std::string url() const override { return redis_.url(); }
    void spoil(size_t number, const std::string &bytes) override { redis_.ask({"SET", name(number), bytes}); }
    void truncate(size_t number, size_t size) override
    {
        redis_.ask({"EVAL", "redis.call('SET', KEYS[1], string.sub(redis.call('GET', KEYS[1]), 1, ARGV[1]))", "1",
                    name(number), std::to_string(size)});
    }
    void copy(size_t from, size_t to) override
    {
        redis_.ask({"EVAL", "redis.call('SET', KEYS[2], redis.call('GET', KEYS[1]))", "2", name(from), name(to)});
    }
    void pause() override { redis_.pause(); }
    void stop() override { redis_.stop(); }
    size_t most_at_once() const override { return 1; } /* loads share a connection, which the first failure closes */

private:
    static std::string name(size_t number) { return "ingot:1:default:" + key_of(number); }
    Redis redis_;
};

class NginxServer : public Server
{
public:
    std::string url() const override { return nginx_.url(); }
    void spoil(size_t number, const std::string &bytes) override { std::ofstream(path(number)) << bytes; }
    void truncate(size_t number, size_t size) override { std::filesystem::resize_file(path(number), size); }
    void copy(size_t from, size_t to) override
    {
        std::filesystem::copy_file(path(from), path(to), std::filesystem::copy_options::overwrite_existing);
    }
    void pause() override { nginx_.pause(); }
    void stop() override { nginx_.stop(); }
    size_t most_at_once() const override { return 8; }

private:
    std::string path(size_t number) const
    {
        const std::string key = key_of(number);
        return nginx_.folder() + "/data/ingot-1/default/" + key.substr(0, 2) + "/" + key;
    }
    Nginx nginx_;
};

/* The results of loading several blobs, by their indices in the call. */
struct Loaded {
    std::vector<ingot_status_t> statuses;
    std::vector<Bytes> blobs;
    std::vector<std::string> details;
    std::vector<int> calls;
    std::function<int()> then; /* called after each result; returns 0 to stop */
    bool is_stopped = false;

    Loaded(ingot_storage_t storage, const std::vector<size_t> &numbers, std::function<int()> after = nullptr)
        : statuses(numbers.size()), blobs(numbers.size()), details(numbers.size()), calls(numbers.size()),
          then(std::move(after))
    {
        std::vector<Bytes> bytes;
        std::vector<ingot_storage_id_t> ids;
        for (const size_t number : numbers)
            bytes.push_back(id_of(number));
        for (const Bytes &id : bytes)
            ids.push_back({id.size(), id.data()});
        const ingot_status_t status = ingot_storage_load_many(storage, ids.size(), ids.data(), receive, this);
        EXPECT_EQ(is_stopped ? INGOT_BUSY : INGOT_SUCCESS, status);
    }
    static ingot_status_t receive(size_t index, ingot_status_t status, ingot_buffer_t *blob, void *user)
    {
        Loaded *self = static_cast<Loaded *>(user);
        ++self->calls[index];
        self->statuses[index] = status;
        if (status == INGOT_SUCCESS) {
            self->blobs[index].assign(blob->bytes, blob->bytes + blob->size);
            blob->release(blob);
        } else {
            self->details[index] = ingot_last_error_detail();
        }
        self->is_stopped = self->then && !self->then();
        return self->is_stopped ? INGOT_BUSY : INGOT_SUCCESS;
    }
    size_t count(ingot_status_t status) const { return size_t(std::count(statuses.begin(), statuses.end(), status)); }
    size_t call_count() const { return size_t(std::accumulate(calls.begin(), calls.end(), 0)); }
};

std::vector<size_t> numbers_to(size_t end)
{
    std::vector<size_t> numbers(end);
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    return numbers;
}

constexpr uint64_t kLostMs = 4000;

/* Settings of a tier that may lose little time: a load may take a second. */
ingot_remote_info_t impatient()
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.connect_timeout_ms = 60000;
    info.lost_time_ms = kLostMs;
    return info;
}

class RemoteBatch : public testing::TestWithParam<const char *>
{
protected:
    void SetUp() override
    {
        if (GetParam() == std::string("redis"))
            server_ = std::make_unique<RedisServer>();
        else
            server_ = std::make_unique<NginxServer>();
    }
    void put(const std::vector<size_t> &numbers) const
    {
        const Tier tier(server_->url());
        for (const size_t number : numbers)
            ASSERT_EQ(INGOT_SUCCESS, tier.put(id_of(number), blob_of(number)));
        ASSERT_EQ(INGOT_SUCCESS, tier.flush());
    }
    std::unique_ptr<Server> server_;
};

} // namespace

TEST_P(RemoteBatch, ReturnsAll)
{
    put(numbers_to(100));
    const Tier tier(server_->url());
    for (int repetition = 0; repetition < 2; ++repetition) {
        const Loaded loaded(tier.get(), numbers_to(100));
        for (size_t i = 0; i < 100; ++i) {
            ASSERT_EQ(INGOT_SUCCESS, loaded.statuses[i]) << i << ": " << loaded.details[i];
            EXPECT_EQ(1, loaded.calls[i]);
            EXPECT_TRUE(blob_of(i) == loaded.blobs[i]) << i;
        }
    }
    EXPECT_EQ(200u, tier.stats().hits);
    EXPECT_EQ(0u, tier.stats().failures);
    EXPECT_GT(tier.stats().loaded_bytes, 200u * 4096);
    EXPECT_EQ("", tier.events.all());
}

TEST_P(RemoteBatch, MissesWhatIsNotThere)
{
    put({0, 3, 4, 30, 31, 59});
    const Tier tier(server_->url());
    EXPECT_EQ(INGOT_SUCCESS, tier.put(id_of(7), blob_of(7))); /* the blob's upload may still be pending */
    const Loaded loaded(tier.get(), numbers_to(60));
    EXPECT_EQ(7u, loaded.count(INGOT_SUCCESS));
    EXPECT_EQ(53u, loaded.count(INGOT_NOT_FOUND));
    for (const size_t number : {0, 3, 4, 7, 30, 31, 59})
        EXPECT_TRUE(blob_of(number) == loaded.blobs[number]) << number;
    EXPECT_EQ(7u, tier.stats().hits);
    EXPECT_EQ(53u, tier.stats().misses);
    EXPECT_EQ(0u, tier.stats().failures);
}

TEST_P(RemoteBatch, AFaultConcernsOneObject)
{
    put(numbers_to(60));
    server_->spoil(5, std::string(3000, 'x'));
    server_->truncate(15, 1000);
    server_->copy(1, 25);
    server_->spoil(35, "");
    const Tier tier(server_->url());
    const Loaded loaded(tier.get(), numbers_to(60));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, loaded.statuses[5]) << loaded.details[5];
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, loaded.statuses[15]) << loaded.details[15];
    EXPECT_EQ(INGOT_BLOB_MISMATCH, loaded.statuses[25]) << loaded.details[25];
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, loaded.statuses[35]) << loaded.details[35];
    for (size_t i = 0; i < 60; ++i) {
        const bool is_bad = i % 10 == 5 && i <= 35;
        EXPECT_TRUE(is_bad || blob_of(i) == loaded.blobs[i]) << i << ": " << loaded.details[i];
    }
    EXPECT_EQ(56u, tier.stats().hits);
    EXPECT_EQ(4u, tier.stats().bad_objects);
    EXPECT_EQ(4u, tier.stats().failures);
    EXPECT_TRUE(tier.stats().is_asking);
}

/* Each object is verified by itself, as if it were loaded alone. */
TEST_P(RemoteBatch, ReturnsOnlySealedBlobsWhereSealsAreRequired)
{
    const trust_fixture::Key key = trust_fixture::signing_key(1);
    const trust_fixture::Key removed = trust_fixture::signing_key(2);
    const auto sealed = [](const trust_fixture::Key &by, size_t id) {
        return trust_fixture::sealed(by, id_of(id), blob_of(id));
    };
    {
        const Tier writer(server_->url());
        for (size_t i = 0; i < 40; ++i) {
            Bytes bytes = sealed(key, i);
            if (i == 3)
                bytes = blob_of(i); /* no seal */
            else if (i == 7)
                bytes = sealed(removed, i);
            else if (i == 12)
                bytes = sealed(key, 11); /* a valid seal, but for another id */
            else if (i == 18)
                bytes.back() ^= 1;
            else if (i == 25)
                bytes.pop_back();
            else if (i == 33)
                bytes[40] ^= 1; /* a byte of the seal */
            ASSERT_EQ(INGOT_SUCCESS, writer.put_sealed(id_of(i), bytes));
        }
        ASSERT_EQ(INGOT_SUCCESS, writer.flush());
    }
    const Tier tier(server_->url());
    const trust_fixture::Trust required(INGOT_PERSIST_TRUST_REQUIRE, {key});
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(tier.get(), required.get()));
    const Loaded loaded(tier.get(), numbers_to(40));
    for (size_t i = 0; i < 40; ++i) {
        const bool is_bad = i == 3 || i == 7 || i == 12 || i == 18 || i == 25 || i == 33;
        EXPECT_EQ(is_bad ? INGOT_UNTRUSTED : INGOT_SUCCESS, loaded.statuses[i]) << i << ": " << loaded.details[i];
        EXPECT_TRUE(is_bad || blob_of(i) == loaded.blobs[i]) << i;
        EXPECT_TRUE(!is_bad || loaded.blobs[i].empty()) << i;
    }
    ingot_persist_stats_t counts = INGOT_PERSIST_STATS_INIT;
    ingot_persist_get_stats(tier.get(), &counts);
    EXPECT_EQ(6u, counts.distrusted);
    EXPECT_EQ(34u, counts.hits);
    EXPECT_TRUE(tier.stats().is_asking);
}

TEST_P(RemoteBatch, ThreeFaultsInARowStopTheTier)
{
    put(numbers_to(60));
    for (const size_t number : {20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39})
        server_->spoil(number, "garbage");
    ingot_remote_info_t info = patient();
    info.retry_ms = 600000; /* it would answer a probe */
    const Tier tier(server_->url(), info);
    const Loaded loaded(tier.get(), numbers_to(60));
    EXPECT_EQ(60u, loaded.call_count());
    EXPECT_GE(tier.stats().failures, 3u);
    EXPECT_EQ(1u, tier.stats().pauses);
    EXPECT_EQ(1u, tier.events.count("is not asked until it answers a probe"));
    EXPECT_GE(tier.stats().skipped, 12u) << "groups after the one that failed are not asked for";
}

TEST_P(RemoteBatch, LoadsObjectsThatAreTooLargeForAGroupAlone)
{
    put(numbers_to(60));
    const Bytes large = random_bytes(7, 3 << 20);
    const Bytes larger = random_bytes(8, 6 << 20);
    const Tier writer(server_->url());
    for (const size_t number : {20, 21, 50})
        ASSERT_EQ(INGOT_SUCCESS, writer.put(id_of(number), large));
    ASSERT_EQ(INGOT_SUCCESS, writer.put(id_of(35), larger));
    ASSERT_EQ(INGOT_SUCCESS, writer.flush());
    ingot_remote_info_t info = patient();
    info.max_blob_bytes = 4 << 20;
    const Tier tier(server_->url(), info);
    const Loaded loaded(tier.get(), numbers_to(60));
    EXPECT_EQ(INGOT_NO_SPACE, loaded.statuses[35]) << loaded.details[35];
    for (size_t i = 0; i < 60; ++i) {
        const bool is_large = i == 20 || i == 21 || i == 50;
        EXPECT_TRUE(i == 35 || (is_large ? large : blob_of(i)) == loaded.blobs[i]) << i << ": " << loaded.details[i];
    }
    EXPECT_EQ(59u, tier.stats().hits);
    EXPECT_EQ(1u, tier.stats().failures);
    EXPECT_EQ(1u, tier.stats().bad_answers);
}

TEST_P(RemoteBatch, AServerThatStopsAnsweringCostsNoMoreThanOneLoad)
{
    put(numbers_to(100));
    Server *server = server_.get();
    size_t count = 0;
    const Lateness lateness;
    const Tier tier(server_->url(), impatient());
    const Loaded loaded(tier.get(), numbers_to(100), [&] {
        if (++count == 20)
            server->pause();
        return 1;
    });
    EXPECT_EQ(100u, loaded.call_count());
    EXPECT_GE(loaded.count(INGOT_SUCCESS), 20u);
    EXPECT_GE(tier.stats().failures, 1u);
    EXPECT_LE(tier.stats().failures, server_->most_at_once());
    EXPECT_EQ(100u, tier.stats().hits + tier.stats().failures + tier.stats().skipped);
    EXPECT_EQ(1u, tier.stats().pauses);
    EXPECT_LE(tier.stats().lost_ns, kLostMs * 1000000 + lateness.longest_ns()) << "all that may be lost";
}

TEST_P(RemoteBatch, AServerThatEndsCostsNoMoreThanOneLoad)
{
    put(numbers_to(100));
    Server *server = server_.get();
    size_t count = 0;
    const Tier tier(server_->url());
    const Loaded loaded(tier.get(), numbers_to(100), [&] {
        if (++count == 20)
            server->stop();
        return 1;
    });
    EXPECT_EQ(100u, loaded.call_count());
    EXPECT_EQ(tier.stats().hits, loaded.count(INGOT_SUCCESS));
    EXPECT_GE(tier.stats().unreachable, 1u);
    EXPECT_LE(tier.stats().failures, server_->most_at_once());
    EXPECT_EQ(100u, tier.stats().hits + tier.stats().failures + tier.stats().skipped);
    EXPECT_EQ(1u, tier.events.count("is not asked until it answers a probe"));
}

TEST_P(RemoteBatch, EndsWhenItIsTold)
{
    put(numbers_to(100));
    size_t count = 0;
    const Tier tier(server_->url());
    const Loaded loaded(tier.get(), numbers_to(100), [&] { return ++count < 20; });
    EXPECT_GE(loaded.call_count(), 20u);
    EXPECT_LT(loaded.call_count(), 20u + 16) << "no other group began";
    EXPECT_EQ(loaded.call_count(), tier.stats().hits);
}

TEST_P(RemoteBatch, AChainAsksOnlyForWhatItsFirstTierLacks)
{
    put(numbers_to(100));
    ScratchDirectory scratch;
    const store_fixture::Store store(scratch.path() / "store");
    const Tier tier(server_->url());
    const ingot_storage_t tiers[] = {store.get(), tier.get()};
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 2, tiers));
    for (size_t i = 0; i < 100; i += 3)
        ASSERT_EQ(INGOT_SUCCESS, store.put(id_of(i), blob_of(i)));
    const Loaded loaded(chain, numbers_to(101));
    EXPECT_EQ(INGOT_NOT_FOUND, loaded.statuses[100]);
    EXPECT_EQ("no tier has the blob", loaded.details[100]);
    for (size_t i = 0; i < 100; ++i)
        EXPECT_TRUE(blob_of(i) == loaded.blobs[i]) << i << ": " << loaded.details[i];
    EXPECT_EQ(66u, tier.stats().hits);
    EXPECT_EQ(1u, tier.stats().misses);
    ingot_storage_release(chain);
    for (size_t i = 0; i < 100; ++i)
        EXPECT_EQ(INGOT_SUCCESS, store.load(id_of(i))) << i;
}

namespace
{

/* A chain of a directory store and a tier. */
class Chain
{
public:
    Chain(const std::string &path, const Tier &tier)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = path.c_str();
        info.store_mode = INGOT_PERSIST_STORE_NOW;
        ingot_storage_t store = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_open(&store, &info));
        EXPECT_EQ(INGOT_SUCCESS, set_setting(tier.get(), &ingot_persist_settings_t::write_through, 1));
        const ingot_storage_t tiers[] = {store, tier.get()};
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain_, 2, tiers));
        ingot_storage_release(store);
    }
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;
    ~Chain() { ingot_storage_release(chain_); }
    ingot_storage_t get() const { return chain_; }

private:
    ingot_storage_t chain_ = nullptr;
};

void create_programs(const Session &session, ingot_storage_t storage, int count, ingot_origin_t expected)
{
    for (int number = 0; number < count; ++number) {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        const Desc desc = session.describe(numbered_source(number));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, &origin));
        EXPECT_EQ(expected, origin) << number;
        ingot_program_release(program);
    }
}

ingot_prewarm_progress_t prewarm(const Session &session, ingot_storage_t storage, const std::string &manifest,
                                 uint64_t max_bytes = 0)
{
    ingot_prewarm_t prewarm = nullptr;
    ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
    ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
    info.manifest = manifest.c_str();
    info.max_bytes = max_bytes;
    EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_start(&prewarm, storage, &info));
    EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm, &progress));
    create_programs(session, storage, int(progress.loaded), INGOT_ORIGIN_STORAGE);
    EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm, &progress));
    ingot_prewarm_release(prewarm);
    return progress;
}

} // namespace

TEST_P(RemoteBatch, APrewarmThroughAChainFillsTheDirectory)
{
    ScratchDirectory scratch;
    const std::string manifest = scratch.path() / "manifest";
    {
        const Tier tier(server_->url());
        const Chain chain(scratch.path() / "first", tier);
        ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
        info.path = manifest.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(chain.get(), &info));
        create_programs(Session(), chain.get(), 100, INGOT_ORIGIN_BUILD);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(chain.get(), nullptr, nullptr));
        ASSERT_EQ(INGOT_SUCCESS, tier.flush());
    }
    {
        const std::string path = scratch.path() / "second";
        const Tier tier(server_->url());
        Session session;
        {
            const Chain chain(path, tier);
            const ingot_prewarm_progress_t progress = prewarm(session, chain.get(), manifest);
            EXPECT_EQ(100u, progress.loaded);
            EXPECT_EQ(100u, progress.taken);
        }
        EXPECT_EQ(100u, tier.stats().hits) << tier.events.all();
        EXPECT_EQ(100u, session.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_SUCCESS));
        const Chain chain(path, tier); /* once more: the directory now has all programs */
        EXPECT_EQ(100u, prewarm(Session(), chain.get(), manifest).loaded);
        EXPECT_EQ(100u, tier.stats().hits);
    }
    const Tier tier(server_->url());
    const Chain chain(scratch.path() / "limited", tier);
    const ingot_prewarm_progress_t limited = prewarm(Session(), chain.get(), manifest, 2000);
    EXPECT_LT(limited.loaded, 100u);
    EXPECT_LE(limited.bytes, 2000u);
    EXPECT_LT(tier.stats().hits, 100u);
}

INSTANTIATE_TEST_SUITE_P(Servers, RemoteBatch, testing::Values("redis", "nginx"));

TEST(RemoteBatchRedis, ReturnsWhatWaitsForItsUpload)
{
    const Tier tier("redis://127.0.0.1:" + std::to_string(server_process::closed_port()));
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(id_of(9))); /* there is no server, so uploads wait */
    ASSERT_EQ(INGOT_SUCCESS, tier.put(id_of(1), blob_of(1)));
    ASSERT_EQ(INGOT_SUCCESS, tier.put(id_of(2), blob_of(2)));
    ASSERT_EQ(INGOT_SUCCESS, tier.remove(id_of(2)));
    const Loaded loaded(tier.get(), numbers_to(4));
    EXPECT_EQ(3u, loaded.count(INGOT_NOT_FOUND));
    EXPECT_TRUE(blob_of(1) == loaded.blobs[1]);
    EXPECT_EQ(1u, tier.stats().hits);
    EXPECT_EQ(1u, tier.stats().misses);
    EXPECT_EQ(2u, tier.stats().skipped);
}

/* Counts the GETs in each piece of data that arrives. */
TEST(RemoteBatchRedis, SendsCommandsTogetherAndNeverMoreThanSixteen)
{
    std::atomic<size_t> most{0};
    std::atomic<size_t> reads{0};
    const FaultyServer server([&](FaultyConnection &connection) {
        std::string bytes;
        while (!(bytes = connection.read_some()).empty()) {
            size_t count = 0;
            for (size_t at = bytes.find("GET\r\n"); at != std::string::npos; at = bytes.find("GET\r\n", at + 1))
                ++count;
            most = std::max<size_t>(most, count);
            ++reads;
            std::string answer;
            for (size_t i = 0; i < count; ++i)
                answer += "$-1\r\n";
            connection.send_bytes(answer);
        }
    });
    const Tier tier("redis://127.0.0.1:" + std::to_string(server.port()));
    const Loaded loaded(tier.get(), numbers_to(100));
    EXPECT_EQ(100u, loaded.count(INGOT_NOT_FOUND));
    EXPECT_EQ(100u, tier.stats().misses) << tier.events.all();
    EXPECT_EQ(16u, most);
    EXPECT_LE(reads, 20u);
    EXPECT_EQ(1u, server.connection_count());
}

/* Among its answers, the server sends a number, an error, and a list. The answers before and after these three must be
 * used. */
TEST(RemoteBatchRedis, AnAnswerThatMakesNoSenseConcernsOneObject)
{
    std::atomic<size_t> answered{0};
    const FaultyServer server([&](FaultyConnection &connection) {
        std::string bytes;
        while (!(bytes = connection.read_some()).empty()) {
            std::string answer;
            for (size_t at = bytes.find("GET\r\n"); at != std::string::npos; at = bytes.find("GET\r\n", at + 1)) {
                const size_t number = answered++;
                answer += number == 20   ? ":5\r\n"
                          : number == 40 ? "-ERR unknown\r\n"
                          : number == 60 ? "*2\r\n$-1\r\n$-1\r\n"
                                         : "$-1\r\n";
            }
            connection.send_bytes(answer);
        }
    });
    const Tier tier("redis://127.0.0.1:" + std::to_string(server.port()));
    const Loaded loaded(tier.get(), numbers_to(100));
    EXPECT_EQ(97u, loaded.count(INGOT_NOT_FOUND));
    EXPECT_EQ(97u, tier.stats().misses);
    EXPECT_EQ(3u, tier.stats().bad_answers) << tier.events.all();
    EXPECT_TRUE(tier.stats().is_asking);
    EXPECT_EQ(2u, server.connection_count()) << "only the list closed the connection";
}

/* Calls `answer` for each GET, with the number of GETs so far. */
FaultyServer::Behavior answering(std::atomic<size_t> &answered, std::function<void(FaultyConnection &, size_t)> answer)
{
    return [&answered, answer](FaultyConnection &connection) {
        std::string bytes;
        while (!(bytes = connection.read_some()).empty()) {
            for (size_t at = bytes.find("GET\r\n"); at != std::string::npos; at = bytes.find("GET\r\n", at + 1))
                answer(connection, answered++);
        }
    };
}

/* Each answer comes in time, but all answers of a group together take longer than one load may. */
TEST(RemoteBatchRedis, SlowAnswersTakeNoMoreThanTheTimeThatMayBeLost)
{
    std::atomic<size_t> answered{0};
    const FaultyServer server(answering(answered, [](FaultyConnection &connection, size_t number) {
        if (number >= 47)
            (void)connection.pause(400);
        connection.send_bytes("$-1\r\n");
    }));
    const Lateness lateness;
    const Tier tier("redis://127.0.0.1:" + std::to_string(server.port()), impatient());
    const Loaded loaded(tier.get(), numbers_to(200));
    EXPECT_EQ(200u, loaded.call_count());
    EXPECT_LT(47u, answered);
    EXPECT_LT(0u, tier.stats().lost_ns);
    EXPECT_LE(tier.stats().lost_ns, kLostMs * 1000000 + lateness.longest_ns()) << "lost_time_ms";
}

/* The second answer of a group is a list without an end. */
TEST(RemoteBatchRedis, AListInsteadOfAnAnswerIsNotRead)
{
    std::atomic<size_t> answered{0};
    std::atomic<size_t> sent{0};
    const FaultyServer server(answering(answered, [&](FaultyConnection &connection, size_t number) {
        if (number != 2) { /* the second of the first group of two */
            connection.send_bytes("$-1\r\n");
            return;
        }
        (void)connection.pause(50); /* so that the first answer has been read */
        std::string numbers;
        for (int i = 0; i < 4096; ++i)
            numbers += ":1\r\n";
        connection.send_bytes("*100000000\r\n");
        while (sent < (size_t{64} << 20) && connection.send_bytes(numbers))
            sent += numbers.size();
    }));
    const Tier tier("redis://127.0.0.1:" + std::to_string(server.port()));
    const Loaded loaded(tier.get(), numbers_to(3));
    EXPECT_EQ(INGOT_IO_ERROR, loaded.statuses[2]);
    EXPECT_NE(std::string::npos, loaded.details[2].find("not one of Redis to this command")) << loaded.details[2];
    EXPECT_GT(size_t{16} << 20, sent);
}

/* The object is loaded again, alone. The time that it took in the group must be counted as lost time. */
TEST(RemoteBatchRedis, TimeForAnObjectThatIsTooLargeForAGroupIsCounted)
{
    std::atomic<size_t> answered{0};
    const FaultyServer server(answering(answered, [](FaultyConnection &connection, size_t number) {
        if (number != 2) {
            connection.send_bytes("$-1\r\n");
            return;
        }
        connection.send_bytes("$3000000\r\n");
        for (int i = 0; i < 7 && connection.send_bytes(std::string(200000, 'x')); ++i)
            (void)connection.pause(200);
    }));
    ingot_remote_info_t info = patient();
    info.slow_ms = 1000;
    const Tier tier("redis://127.0.0.1:" + std::to_string(server.port()), info);
    const Loaded loaded(tier.get(), numbers_to(3));
    EXPECT_EQ(3u, loaded.count(INGOT_NOT_FOUND)) << tier.events.all();
    EXPECT_LT(0u, tier.stats().lost_ns);
}

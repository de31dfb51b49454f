/*
 * remote_fixture.h - an open remote tier and its events, for the tests of remote tiers.
 */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <ingot/private/remote.h>

#include "support/held_storage.h"
#include "support/random_bytes.h"
#include "support/threads.h"

namespace remote_fixture
{

using Bytes = std::vector<uint8_t>;

inline Bytes bytes_of(const std::string &text)
{
    return Bytes(text.begin(), text.end());
}

const Bytes kId = bytes_of("an id");
const Bytes kBlob = random_bytes(1, 3000);

class Events
{
public:
    static void receive(const ingot_event_t *event, void *user)
    {
        Events *events = static_cast<Events *>(user);
        const std::lock_guard<std::mutex> lock(events->mutex_);
        events->reasons_.push_back(event->reason);
    }
    /* Returns how many reasons contain a text. */
    size_t count(const std::string &text) const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        size_t count = 0;
        for (const std::string &reason : reasons_)
            count += reason.find(text) != std::string::npos;
        return count;
    }
    std::string all() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::string text;
        for (const std::string &reason : reasons_)
            text += reason + "\n";
        return text;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> reasons_;
};

/* Returns long time limits, for tests that are not about time. On a busy machine, anything may take long. */
inline ingot_remote_info_t patient()
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.connect_timeout_ms = 60000;
    info.stall_timeout_ms = 60000;
    info.exit_time_ms = 60000;
    info.slow_ms = 60000;
    info.lost_time_ms = INGOT_UNLIMITED;
    return info;
}

/* Returns the settings of a tier that probes again soon after a failure, so that the process runs into the server's
 * fault repeatedly. */
inline ingot_remote_info_t eager()
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.retry_ms = 20;
    info.longest_retry_ms = 40;
    return info;
}

class Tier : public HeldStorage
{
public:
    explicit Tier(const std::string &url, ingot_remote_info_t info = patient())
    {
        info.url = url.c_str();
        info.on_event = Events::receive;
        info.on_event_user = &events;
        status_ = ingot_remote_open(&storage_, &info);
    }
    ~Tier() { close(); } /* while there are events */

    void close()
    {
        ingot_storage_release(storage_);
        storage_ = nullptr;
    }
    ingot_status_t status() const { return status_; }
    ingot_status_t flush(uint64_t max_time_ms = 60000) const { return ingot_remote_flush(storage_, max_time_ms); }
    /* Stores a blob, and waits until the server has it. */
    void upload(const Bytes &id = kId, const Bytes &blob = kBlob) const
    {
        EXPECT_EQ(INGOT_SUCCESS, put(id, blob)) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, flush()) << events.all();
    }
    ingot_status_t has(const Bytes &id = kId) const { return ingot_remote_has(storage_, id.size(), id.data()); }
    ingot_remote_stats_t stats() const
    {
        ingot_remote_stats_t stats = {};
        EXPECT_EQ(INGOT_SUCCESS, ingot_remote_get_stats(storage_, &stats));
        return stats;
    }

    Events events;

private:
    ingot_status_t status_ = INGOT_SUCCESS;
};

/* Stores a blob, loads it as another process would, and removes it. */
inline void expect_round_trip(const std::string &url)
{
    {
        const Tier writer(url);
        ASSERT_EQ(INGOT_SUCCESS, writer.status()) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_NOT_FOUND, writer.load(kId)) << ingot_last_error_detail();
        writer.upload();
        EXPECT_EQ(1u, writer.stats().uploads);
        EXPECT_EQ(1u, writer.stats().misses);
        EXPECT_GT(writer.stats().sent_bytes, kBlob.size());
        EXPECT_EQ("", writer.events.all());
    }
    const Tier reader(url);
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, reader.load(kId, &blob)) << ingot_last_error_detail();
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(INGOT_NOT_FOUND, reader.load(bytes_of("another id")));
    EXPECT_EQ(1u, reader.stats().hits);
    EXPECT_EQ(1u, reader.stats().misses);
    EXPECT_EQ(INGOT_SUCCESS, reader.has());
    EXPECT_EQ(INGOT_NOT_FOUND, reader.has(bytes_of("an i")));
    EXPECT_EQ(INGOT_SUCCESS, reader.remove(kId));
    EXPECT_EQ(INGOT_SUCCESS, reader.remove(bytes_of("another id"))) << "one that is not there is as wanted";
    EXPECT_EQ(INGOT_SUCCESS, reader.flush());
    EXPECT_EQ(INGOT_NOT_FOUND, Tier(url).load(kId));
    EXPECT_EQ(2u, reader.stats().removals);
    EXPECT_EQ(0u, reader.stats().failures);
    EXPECT_EQ("", reader.events.all());
}

/* Stores blobs of several sizes, and loads each one as another process would. */
inline void expect_blobs_of_all_sizes(const std::string &url)
{
    const Tier tier(url);
    for (const size_t size : {size_t{1}, size_t{4096}, size_t{65536}, size_t{1} << 20, size_t{20} << 20}) {
        const Bytes id = bytes_of("id " + std::to_string(size));
        const Bytes blob = random_bytes(size, size);
        ASSERT_EQ(INGOT_SUCCESS, tier.put(id, blob));
        ASSERT_EQ(INGOT_SUCCESS, tier.flush());
        Bytes loaded;
        ASSERT_EQ(INGOT_SUCCESS, Tier(url).load(id, &loaded)) << size << ": " << ingot_last_error_detail();
        EXPECT_TRUE(blob == loaded) << size;
    }
}

/* Lets eight threads load 50 blobs and ten ids that have none, while some of the threads store. */
inline void expect_parallel_loads(const std::string &url)
{
    const Tier tier(url);
    for (int i = 0; i < 50; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier.put(bytes_of("id " + std::to_string(i)), random_bytes(uint64_t(i), 5000)));
    ASSERT_EQ(INGOT_SUCCESS, tier.flush());
    std::atomic<int> wrong{0};
    in_threads(8, [&](size_t t) {
        for (size_t i = 0; i < 100; ++i) {
            const size_t which = (i * 7 + t) % 60;
            Bytes blob;
            const ingot_status_t status = tier.load(bytes_of("id " + std::to_string(which)), &blob);
            wrong +=
                which < 50 ? status != INGOT_SUCCESS || blob != random_bytes(which, 5000) : status != INGOT_NOT_FOUND;
            if (which >= 55)
                tier.put(bytes_of("other " + std::to_string(t)), kBlob);
        }
    });
    EXPECT_EQ(0, wrong);
    EXPECT_EQ(0u, tier.stats().failures) << tier.events.all();
}

/* Returns how many seconds `work` takes. */
template <typename Work> double seconds_of(const Work &work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/* The longest that a failing server may keep an application waiting, in seconds, as documented. A test's own clock also
 * measures by how much the machine prolongs these waits, so tests add a Lateness. */
constexpr double kLongestLoss = 2.0;

/* Measures by how much this machine delays threads that wait, for as long as it lives. A delay prolongs a wait for a
 * server by as much. No child may start threads meanwhile, which TSan forbids. */
class Lateness
{
public:
    Lateness() : thread_([this] { measure(); }) {}
    ~Lateness()
    {
        is_ending_ = true;
        thread_.join();
    }
    double seconds() const { return static_cast<double>(total_ns_) / 1e9; }
    uint64_t longest_ns() const { return longest_ns_; }

private:
    void measure()
    {
        constexpr std::chrono::nanoseconds pause = std::chrono::milliseconds(10);
        while (!is_ending_) {
            const auto begin = std::chrono::steady_clock::now();
            std::this_thread::sleep_for(pause);
            const std::chrono::nanoseconds late = std::chrono::steady_clock::now() - begin - pause;
            const auto late_ns = static_cast<uint64_t>(late.count());
            total_ns_ += late_ns;
            longest_ns_ = std::max(longest_ns_.load(), late_ns);
        }
    }

    std::atomic<bool> is_ending_{false};
    std::atomic<uint64_t> total_ns_{0};
    std::atomic<uint64_t> longest_ns_{0};
    std::thread thread_;
};

} // namespace remote_fixture

/*
 * Tests what a store keeps and in what order it evicts entries: FIFO, LRU, or no eviction, and limits on bytes,
 * entries, age and blob sizes.
 */
#include <sys/file.h>
#include <sys/resource.h>

#include <atomic>
#include <optional>
#include <thread>

#include "support/failing_calls.h"
#include "support/forked_child.h"
#include "support/store_fixture.h"
#include "support/traced_child.h"

using namespace store_fixture;

namespace
{

constexpr uint64_t kSecond = 1000000000u;

/* Returns one of many ids of the same size. */
Bytes small_id(unsigned number)
{
    return bytes_of("id " + std::to_string(10000 + number));
}

ingot_status_t put_small(const Store &store, unsigned number)
{
    return store.put(small_id(number), random_bytes(number, 20));
}

constexpr uint64_t kSmallEntry = 2 * 4096;

uint64_t now_ns()
{
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

class PersistPolicy : public StoreTest
{
protected:
    PersistPolicy()
    {
        info.path = root_.c_str();
        info.lock_timeout_ms = 60000;
        info.eviction = INGOT_PERSIST_EVICT_FIFO; /* most tests choose what is the oldest by its creation */
    }
    /* Changes `info` to a store on a fast volume, with room for `count` small entries. Returns its path. */
    std::string use_fast_store(unsigned count)
    {
        fast_.emplace(fast_volume());
        fast_path_ = (fast_->path() / "store").string();
        info.path = fast_path_.c_str();
        info.max_bytes = count * kSmallEntry;
        return fast_path_;
    }

    fs::path entry_of(const Bytes &id) const { return root_ / place_of(id); }
    /* Sets the time of an entry. */
    void set_time(const Bytes &id, uint64_t time_ns) const { set_time_of(entry_of(id), time_ns); }

    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;

private:
    std::optional<ScratchDirectory> fast_;
    std::string fast_path_;
};

void fill(const Store &store, unsigned count)
{
    for (unsigned i = 0; i < count; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), random_bytes(i, 1000)));
}

Store filled(const ingot_persist_info_t &info, unsigned count)
{
    Store store(info);
    fill(store, count);
    return store;
}

unsigned count_present(const Store &store, unsigned count)
{
    unsigned present = 0;
    for (unsigned i = 0; i < count; ++i)
        present += store.load(numbered_id(i)) == INGOT_SUCCESS ? 1 : 0;
    return present;
}

} // namespace

TEST_F(PersistPolicy, TheDefaultAndLruKeepWhatWasLoadedLatelyAndTellSecondsApart)
{
    info.max_bytes = 40000;
    for (const auto eviction : {ingot_persist_info_t(INGOT_PERSIST_INFO_INIT).eviction, INGOT_PERSIST_EVICT_LRU}) {
        info.eviction = eviction;
        const Store store = filled(info, 4);
        for (unsigned i = 0; i < 4; ++i)
            set_time(numbered_id(i), now_ns() - (20 - i) * kSecond);
        ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
        EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
        EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(1)));
        EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(2)));
        EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(3)));
        EXPECT_EQ(0u, store.stats().unstamped);
        ASSERT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    }
}

TEST_F(PersistPolicy, FifoDoesNotAskWhatWasLoaded)
{
    info.max_bytes = 40000;
    const Store store = filled(info, 4);
    const uint64_t created = now_ns() - 3600 * kSecond;
    set_time(numbered_id(0), created);
    ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_EQ(created, time_of(entry_of(numbered_id(0))));
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
}

/* A use is not written to size.txt, so a load needs no lock. */
TEST_F(PersistPolicy, AUseIsTheTimeOfTheBlobAndNeedsNoLock)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    const Store store = filled(info, 1);
    const fs::path entry = entry_of(numbered_id(0));
    set_time(numbered_id(0), now_ns() - 10 * kSecond);
    const uint64_t before = now_ns();
    const Bytes key = read_file(entry / "key.bin");
    const auto written = fs::last_write_time(entry / "key.bin");
    const int other = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(other, LOCK_EX | LOCK_NB));
    ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    close(other);
    EXPECT_LE(before, time_of(entry));
    EXPECT_EQ(written, fs::last_write_time(entry / "key.bin"));
    EXPECT_EQ(key, read_file(entry / "key.bin"));
}

#if defined(__x86_64__)
TEST_F(PersistPolicy, LoadsWriteOncePerSecond)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    (void)filled(info, 1);
    set_time(numbered_id(0), now_ns() - 50 * kSecond);
    constexpr unsigned loads = 200;
    unsigned writes = 0;
    const uint64_t start_s = now_ns() / kSecond;
    const auto outcome = traced_child::run_and_stop_before_calls(
        [&] {
            const Store store(info);
            for (unsigned i = 0; i < loads; ++i)
                if (store.load(numbered_id(0)) != INGOT_SUCCESS)
                    return 1;
            return 0;
        },
        [&](pid_t, const user_regs_struct &registers) {
            if (registers.orig_rax == SYS_utimensat || registers.orig_rax == SYS_pwrite64 ||
                registers.orig_rax == SYS_write)
                ++writes;
        });
    const uint64_t end_s = now_ns() / kSecond;
    EXPECT_EQ(0, outcome.exit_status);
    EXPECT_LE(1u, writes);
    EXPECT_GE(end_s - start_s + 1, writes);
    EXPECT_GT(loads, writes);
}
#endif

TEST_F(PersistPolicy, LruIsFifoWhereUsesCannotBeNoted)
{
    constexpr int kNoFilter = 98;
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    static unsigned degradations;
    degradations = 0;
    info.on_event = [](const ingot_event_t *event, void *) {
        degradations += event->kind == INGOT_EVENT_STORAGE_DEGRADED ? 1 : 0;
    };
    (void)filled(info, 1);
    const uint64_t created = now_ns() - 3600 * kSecond;
    set_time(numbered_id(0), created);
    const int result = forked_child::run([&] {
        Store store(info);
        if (!failing_calls::install({{SYS_utimensat, failing_calls::kAny, EROFS}}))
            return kNoFilter;
        if (store.load(numbered_id(0)) != INGOT_SUCCESS || store.load(numbered_id(0)) != INGOT_SUCCESS)
            return 1;
        return store.stats().unstamped == 2 && degradations == 1 ? 0 : 2;
    });
    if (result == kNoFilter)
        GTEST_SKIP() << "this machine allows no filters of system calls";
    EXPECT_EQ(0, result);
    EXPECT_EQ(created, time_of(entry_of(numbered_id(0))));
}

/* A write that would exceed the limit on file sizes raises a signal, which would end the process. */
TEST_F(PersistPolicy, TakesEntriesAwayWhereFilesMayNotGrow)
{
    const Store store = filled(info, 2);
    fs::resize_file(entry_of(numbered_id(0)) / "kernel.bin", 10);
    EXPECT_EQ(0, forked_child::run([&] {
                  const Store own(info);
                  const rlimit none = {0, 0};
                  if (setrlimit(RLIMIT_FSIZE, &none) != 0)
                      return 1;
                  const bool is_refused = own.load(numbered_id(0)) == INGOT_BLOB_TRUNCATED;
                  const Bytes id = numbered_id(1);
                  return is_refused && ingot_storage_remove(own.get(), id.size(), id.data()) == INGOT_SUCCESS ? 0 : 2;
              }));
    EXPECT_TRUE(entries_of(root_).empty());
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(2), random_bytes(2, 1000)));
}

TEST_F(PersistPolicy, ClearsAllThoughTheTotalIsLostMeanwhile)
{
    const std::string path = use_fast_store(1000);
    Store store(info);
    for (unsigned i = 0; i < 600; ++i)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, i));
    std::atomic<bool> goes_on{true};
    std::thread remover([&] {
        while (goes_on)
            unlink((path + "/size.txt").c_str());
    });
    const ingot_status_t status = clear_store(store.get());
    goes_on = false;
    remover.join();
    EXPECT_EQ(INGOT_SUCCESS, status);
    EXPECT_TRUE(entries_of(path).empty()) << entries_of(path).size();
}

TEST_F(PersistPolicy, EqualTimesGoInTheOrderOfPlaces)
{
    std::vector<std::vector<bool>> outcomes;
    for (unsigned round = 0; round < 2; ++round) {
        const std::string path = root_.string() + std::to_string(round);
        info.path = path.c_str();
        info.max_bytes = 70000;
        Store store(info);
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned number = round == 0 ? i : 7 - i;
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(number), random_bytes(number, 1000)));
        }
        for (const fs::path &entry : entries_of(path))
            set_time_of(entry, 5);
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(100), random_bytes(100, 1000)));
        outcomes.emplace_back();
        for (unsigned i = 0; i < 8; ++i)
            outcomes.back().push_back(store.load(numbered_id(i)) == INGOT_SUCCESS);
    }
    EXPECT_EQ(outcomes[0], outcomes[1]);
    EXPECT_LT(0, std::count(outcomes[0].begin(), outcomes[0].end(), true));
}

TEST_F(PersistPolicy, KeepsTheLimitInEntriesExactlyInOneProcess)
{
    for (const uint64_t limit : {1u, 2u, 7u, 30u}) {
        const std::string path = root_.string() + std::to_string(limit);
        info.path = path.c_str();
        info.max_entries = limit;
        Store store(info);
        for (unsigned i = 0; i < 70; ++i) {
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), random_bytes(i, 100)));
            ASSERT_LE(entries_of(path).size(), limit);
            ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(i)));
            if (i + 1 == limit) {
                ASSERT_EQ(limit, entries_of(path).size()); /* the whole limit is used */
            }
        }
    }
}

TEST_F(PersistPolicy, AFullCountIsAnErrorWhereEvictionIsOff)
{
    info.max_entries = 3;
    info.eviction = INGOT_PERSIST_EVICT_OFF;
    const Store store = filled(info, 3);
    EXPECT_EQ(INGOT_NO_SPACE, store.put(numbered_id(3), random_bytes(3, 100)));
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), random_bytes(9, 100))); /* replacing adds no entry */
    EXPECT_EQ(3u, count_present(store, 3));
    EXPECT_EQ(1u, store.stats().no_space);
}

/* The bytes of the replaced entry become free, so the new one needs only what it has more. */
TEST_F(PersistPolicy, AFullStoreReplacesAnEntryByOneOfItsSize)
{
    (void)filled(info, 3);
    for (const auto order : {INGOT_PERSIST_EVICT_OFF, INGOT_PERSIST_EVICT_FIFO, INGOT_PERSIST_EVICT_LRU}) {
        info.max_bytes = bytes_in(root_);
        info.eviction = order;
        Store store(info);
        EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(10 + order, 1000))) << order;
        EXPECT_EQ(3u, count_present(store, 3)) << order;
        if (order == INGOT_PERSIST_EVICT_OFF) {
            EXPECT_EQ(INGOT_NO_SPACE, store.put(numbered_id(1), random_bytes(1, 5000)));
            EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(1, 999)));
            EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(1, 1000)));
        }
    }
}

/* The entry that is replaced may be among those that make room for the new one. */
TEST_F(PersistPolicy, AReplacementKeepsTheLimit)
{
    for (const size_t size : {5000u, 9000u, 12200u}) {
        const std::string path = root_.string() + std::to_string(size);
        info.path = path.c_str();
        info.max_bytes = info.max_entries = 0;
        (void)filled(info, 3);
        info.max_bytes = bytes_in(path);
        info.max_entries = 3;
        Store store(info);
        EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), random_bytes(9, size)));
        EXPECT_LE(bytes_in(path), info.max_bytes);
        EXPECT_GE(3u, entries_of(path).size());
        EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    }
}

TEST_F(PersistPolicy, WhatIsTooOldIsAMissAndGoes)
{
    info.max_age_ms = 1000 * 1000;
    const Store store = filled(info, 3);
    set_time(numbered_id(0), now_ns() - 1100 * kSecond);
    set_time(numbered_id(1), now_ns() - 900 * kSecond);
    set_time(numbered_id(2), now_ns() + 5000 * kSecond); /* as if the clock had been set back since then */
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(2)));
    EXPECT_EQ(2u, entries_of(root_).size());
    EXPECT_EQ(1u, store.stats().expired);
    EXPECT_EQ(bytes_in(root_), store.stats().bytes);
}

/* An entry that was used while a machine's clock was ahead by years ages from the next eviction on. */
TEST_F(PersistPolicy, ATimeInTheFutureCountsAsNow)
{
    info.max_age_ms = 1000 * 1000;
    info.max_entries = 3;
    const Store store = filled(info, 3);
    set_time(numbered_id(0), now_ns() + 1000 * 86400 * kSecond);
    EXPECT_EQ(INGOT_SUCCESS, Store(info).status()) << "opening evicts what is too old";
    EXPECT_EQ(3u, entries_of(root_).size());
    for (const fs::path &entry : entries_of(root_))
        EXPECT_GE(now_ns(), time_of(entry));
    set_time(numbered_id(1), now_ns());
    set_time(numbered_id(2), now_ns());
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(3), random_bytes(3, 1000)));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0))) << "it is the oldest now";
}

TEST_F(PersistPolicy, KeepsOnlyBlobsOfSizesThatAreWanted)
{
    info.min_blob_bytes = 100;
    info.max_blob_bytes = 200;
    Store store(info);
    EXPECT_EQ(INGOT_NO_SPACE, store.put(numbered_id(0), random_bytes(0, 99)));
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(0, 100)));
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(2), random_bytes(0, 200)));
    EXPECT_EQ(INGOT_NO_SPACE, store.put(numbered_id(3), random_bytes(0, 201)));
    EXPECT_EQ(2u, store.stats().not_kept);
    EXPECT_EQ(2u, entries_of(root_).size());
}

TEST_F(PersistPolicy, EvictsToTheLowWaterMark)
{
    info.max_bytes = 84000;
    info.low_water_percent = 80;
    const Store store = filled(info, 10);
    ASSERT_EQ(10u, entries_of(root_).size());
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(9u, entries_of(root_).size()); /* the 8 that fit in 67200 bytes, and the new one */
    info.low_water_percent = 101;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, Store(info).status());
}

/* With up to 4096 entries, the oldest of all go. */
TEST_F(PersistPolicy, TheOrderIsExactInASmallStore)
{
    constexpr unsigned count = 400;
    const std::string path = use_fast_store(count);
    Store store(info);
    for (unsigned i = 0; i <= count; ++i)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, i));
    EXPECT_EQ(count / 2 + 1, entries_of(path).size());
    EXPECT_EQ(store.stats().bytes, bytes_in(path));
    for (unsigned i = 0; i <= count; ++i)
        ASSERT_EQ(i < count / 2 ? INGOT_NOT_FOUND : INGOT_SUCCESS, store.load(small_id(i))) << i;
    EXPECT_EQ(0u, leftovers_in(path));
}

/* With more entries, the oldest of random shards go, and what was stored last stays. */
TEST_F(PersistPolicy, ALargeStoreKeepsItsLimitAndItsYoungestEntries)
{
    constexpr unsigned count = 6000;
    const std::string path = use_fast_store(count);
    Store store(info);
    for (unsigned i = 0; i < 2 * count; ++i) {
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, i)) << i;
        ASSERT_GE(info.max_bytes + info.max_bytes / 5, store.stats().bytes);
    }
    EXPECT_LT(count / 4, entries_of(path).size());
    EXPECT_GE(count + count / 5, entries_of(path).size());
    for (unsigned i = 2 * count - 100; i < 2 * count; ++i)
        EXPECT_EQ(INGOT_SUCCESS, store.load(small_id(i))) << i;
    unsigned old = 0;
    unsigned young = 0;
    for (unsigned i = 0; i < count; ++i) {
        old += store.load(small_id(i)) == INGOT_SUCCESS ? 1 : 0;
        young += store.load(small_id(count + i)) == INGOT_SUCCESS ? 1 : 0;
    }
    EXPECT_LT(2 * old, young);
    EXPECT_EQ(0u, leftovers_in(path));
}

TEST_F(PersistPolicy, ProcessesThatStoreOneEntryAndEndKeepTheLimit)
{
    constexpr unsigned count = 1000;
    const std::string path = use_fast_store(count);
    {
        Store store(info);
        for (unsigned i = 0; i < count; ++i)
            ASSERT_EQ(INGOT_SUCCESS, put_small(store, i));
    }
    for (unsigned i = count; i < count + count / 4; ++i) {
        ASSERT_EQ(0, forked_child::run([&] {
                      const auto *const store = new Store(info); /* not released */
                      return store->status() == INGOT_SUCCESS ? store->put(small_id(i), random_bytes(1, 20)) : 1;
                  }))
            << i;
    }
    EXPECT_GE(count + count / 5, entries_of(path).size());
}

TEST_F(PersistPolicy, WhatIsTooOldGoesThoughNobodyAsksForIt)
{
    {
        const Store store = filled(info, 4);
        for (unsigned i = 0; i < 3; ++i)
            set_time(numbered_id(i), now_ns() - 1100 * kSecond);
        set_time(numbered_id(3), now_ns() - 900 * kSecond);
    }
    info.max_age_ms = 1000 * 1000;
    Store store(info); /* opening evicts entries that are too old */
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(bytes_in(root_), store.stats().bytes);
    EXPECT_EQ(3u, store.stats().evictions);
    /* Storing a blob also evicts entries that are too old. */
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store.get(), &ingot_persist_settings_t::max_age_ms, 800 * 1000));
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(10)));
    EXPECT_EQ(0u, store.stats().expired);
}

TEST_F(PersistPolicy, AnOpenThatFailsEvictsNothing)
{
    {
        const Store store = filled(info, 2);
        set_time(numbered_id(0), now_ns() - 1100 * kSecond);
    }
    const std::string missing = root_ / "missing";
    info.max_age_ms = 1000 * 1000;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.key_files = missing.c_str();
    info.trust = &trust;
    EXPECT_EQ(INGOT_NOT_FOUND, Store(info).status());
    EXPECT_EQ(2u, entries_of(root_).size());
}

TEST_F(PersistPolicy, AReadOnlyStoreKeepsWhatIsTooOld)
{
    {
        const Store store = filled(info, 2);
        set_time(numbered_id(0), now_ns() - 1100 * kSecond);
    }
    info.max_age_ms = 1000 * 1000;
    info.flags = INGOT_PERSIST_READ_ONLY;
    Store store(info);
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
    EXPECT_EQ(2u, entries_of(root_).size());
}

/* The half that was stored first is loaded here, so it is the youngest by last use. */
TEST_F(PersistPolicy, ALargeStoreEvictsTheLeastRecentlyUsed)
{
    constexpr unsigned count = 2000;
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    const std::string path = use_fast_store(count);
    {
        Store store(info);
        for (unsigned i = 0; i < count; ++i)
            ASSERT_EQ(INGOT_SUCCESS, put_small(store, i));
        for (const fs::path &entry : entries_of(path)) /* so that a load is later than any other use */
            set_time_of(entry, time_of(entry) - 3600 * kSecond);
        for (unsigned i = 0; i < count / 2; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.load(small_id(i)));
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, count));
    }
    Store store(info);
    EXPECT_GT(count, entries_of(path).size());
    for (unsigned i = 0; i < count / 2; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.load(small_id(i))) << i;
    EXPECT_EQ(INGOT_SUCCESS, store.load(small_id(count)));
}

/*
 * Tests what a store keeps and in what order it evicts entries: FIFO, LRU, or no eviction, and limits on bytes,
 * entries, age and blob sizes.
 */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/forked_child.h"
#include "support/store_fixture.h"
#include "support/traced_child.h"

extern "C" {
#include "persist/directory/format/index.h"
#include "persist/directory/format/key_file.h"

/* The linker redirects calls to index_visit here, to count the visited pages. */
static std::atomic<uint64_t> visited_pages;
int __real_index_visit(int fd, uint64_t page_count, uint64_t page,
                       void (*visit)(void *user, const index_record *record), void *user);
int __wrap_index_visit(int fd, uint64_t page_count, uint64_t page,
                       void (*visit)(void *user, const index_record *record), void *user)
{
    ++visited_pages;
    return __real_index_visit(fd, page_count, page, visit, user);
}
}

using namespace store_fixture;

namespace
{

constexpr uint64_t kSecond = 1000000000u;

Bytes numbered_id(unsigned number)
{
    return bytes_of("id number " + std::to_string(number));
}

/* Returns one of many ids of the same size. */
Bytes small_id(unsigned number)
{
    return bytes_of("id " + std::to_string(10000 + number));
}

ingot_status_t put_small(const Store &store, unsigned number)
{
    return store.put(small_id(number), random_bytes(number, 20));
}

constexpr uint64_t kSmallEntry = 128 + 8 + 20;

uint64_t now_ns()
{
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

class PersistPolicy : public testing::Test
{
protected:
    PersistPolicy()
    {
        info.path = path_.c_str();
        info.lock_timeout_ms = 60000;
    }
    const fs::path root() const { return path_; }
    /* Changes `info` to a store on a fast volume, with room for `count` small entries. Returns its path. */
    std::string use_fast_store(unsigned count)
    {
        fast_.emplace(fast_volume());
        fast_path_ = (fast_->path() / "store").string();
        info.path = fast_path_.c_str();
        info.max_bytes = count * kSmallEntry;
        return fast_path_;
    }

    fs::path entry_of(const Bytes &id) const
    {
        return root() / std::to_string(checksum_bucket_of(id.size(), id.data())) / "0";
    }
    key_file header_of(const Bytes &id) const
    {
        key_file key;
        const Bytes file = read_file(entry_of(id) / "key.bin");
        EXPECT_EQ(INGOT_SUCCESS, key_file_decode(&key, file.size(), file.size(), file.data()));
        return key;
    }
    /* Sets the times at which an entry was created and last used. */
    void set_times(const Bytes &id, uint64_t created_ns, uint64_t last_use_ns) const
    {
        key_file key = header_of(id);
        key.created_ns = created_ns;
        key.last_use_ns = last_use_ns;
        Bytes file = read_file(entry_of(id) / "key.bin");
        key_file_encode(&key, file.data());
        write_file(entry_of(id) / "key.bin", file);
        index_record_of(root(), checksum_bucket_of(id.size(), id.data()), [&](index_record *record) {
            record->created_ns = created_ns;
            record->last_use_s = static_cast<uint32_t>(last_use_ns / kSecond);
        });
    }
    uint64_t last_use_of(const Bytes &id) const
    {
        return index_record_of(root(), checksum_bucket_of(id.size(), id.data())).last_use_s * kSecond;
    }

    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;

private:
    ScratchDirectory scratch_;
    const std::string path_ = (scratch_.path() / "store").string();
    std::optional<ScratchDirectory> fast_;
    std::string fast_path_;
};

void fill(const Store &store, unsigned count)
{
    for (unsigned i = 0; i < count; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), random_bytes(i, 1000)));
}

/* Changes a closed store's index as if `seconds` seconds had passed. */
void make_all_older(const std::string &path, uint32_t seconds)
{
    Bytes bytes = read_file(path + "/index.bin");
    for (size_t at = INDEX_PAGE_SIZE; at + INDEX_RECORD_SIZE <= bytes.size(); at += INDEX_RECORD_SIZE) {
        index_record record;
        if (!index_record_decode(&record, &bytes[at]))
            continue;
        record.created_ns -= seconds * kSecond;
        record.last_use_s -= seconds;
        index_record_encode(&record, &bytes[at]);
    }
    std::fstream(path + "/index.bin", std::ios::binary | std::ios::in | std::ios::out)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

unsigned count_present(const Store &store, unsigned count)
{
    unsigned present = 0;
    for (unsigned i = 0; i < count; ++i)
        present += store.load(numbered_id(i)) == INGOT_SUCCESS ? 1 : 0;
    return present;
}

} // namespace

TEST_F(PersistPolicy, LruKeepsWhatWasLoadedLately)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    info.max_bytes = 5000;
    Store store(info);
    fill(store, 4);
    for (unsigned i = 0; i < 4; ++i)
        set_times(numbered_id(i), now_ns() - (3600 - i) * kSecond, now_ns() - (3600 - i) * kSecond);
    ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(1)));
    EXPECT_EQ(0u, store.stats().unstamped);
}

TEST_F(PersistPolicy, FifoDoesNotAskWhatWasLoaded)
{
    info.max_bytes = 5000;
    Store store(info);
    fill(store, 4);
    const uint64_t created = now_ns() - 3600 * kSecond;
    set_times(numbered_id(0), created, created);
    ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_EQ(created, header_of(numbered_id(0)).last_use_ns);
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
}

TEST_F(PersistPolicy, LruTellsSecondsApart)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    info.max_bytes = 5000;
    Store store(info);
    fill(store, 4);
    for (unsigned i = 0; i < 4; ++i)
        set_times(numbered_id(i), now_ns() - 50 * kSecond, now_ns() - (20 - i) * kSecond);
    ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(1)));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(2)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(3)));
}

TEST_F(PersistPolicy, AUseIsNotedToTheSecondAndNotInTheEntry)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    Store store(info);
    fill(store, 1);
    const uint64_t recently = now_ns() - 10 * kSecond;
    set_times(numbered_id(0), recently, recently);
    const uint64_t before = now_ns();
    const auto written = fs::last_write_time(entry_of(numbered_id(0)) / "key.bin");
    ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_GE(last_use_of(numbered_id(0)), before - kSecond);
    EXPECT_EQ(recently, header_of(numbered_id(0)).last_use_ns);
    EXPECT_EQ(written, fs::last_write_time(entry_of(numbered_id(0)) / "key.bin"));
}

/* The index is only written under its lock, and a load does not wait for it. */
TEST_F(PersistPolicy, AUseIsNotNotedWhileTheLockIsTaken)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    Store store(info);
    fill(store, 1);
    const uint64_t created = now_ns() - 10 * kSecond;
    set_times(numbered_id(0), created, created);
    const int other = open((root() / "index.bin").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(other, LOCK_EX | LOCK_NB));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_EQ(created / kSecond * kSecond, last_use_of(numbered_id(0)));
    EXPECT_EQ(0u, store.stats().unstamped);
    close(other);
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
    EXPECT_LT(created / kSecond * kSecond, last_use_of(numbered_id(0)));
}

#if defined(__x86_64__)
TEST_F(PersistPolicy, LoadsWriteOncePerSecond)
{
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    Store store(info);
    fill(store, 1);
    set_times(numbered_id(0), now_ns() - 50 * kSecond, now_ns() - 50 * kSecond);
    constexpr unsigned loads = 200;
    unsigned writes = 0;
    const uint64_t start_s = now_ns() / kSecond;
    const auto outcome = traced_child::run(
        [&] {
            for (unsigned i = 0; i < loads; ++i)
                if (store.load(numbered_id(0)) != INGOT_SUCCESS)
                    return 1;
            return 0;
        },
        [&](pid_t child, unsigned stop) {
            user_regs_struct registers;
            ptrace(PTRACE_GETREGS, child, nullptr, &registers);
            if (stop % 2 == 0 && (registers.orig_rax == SYS_pwrite64 || registers.orig_rax == SYS_write))
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
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    unsigned degradations = 0;
    info.on_event = [](const ingot_event_t *event, void *user) {
        if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
            ++*static_cast<unsigned *>(user);
    };
    info.on_event_user = &degradations;
    Store store(info);
    fill(store, 1);
    const uint64_t created = now_ns() - 3600 * kSecond;
    set_times(numbered_id(0), created, created);
    /* The limit on the size of files is below the offset of the time of last use in index.bin, so writing that time
     * fails, even for root. */
    rlimit before;
    ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before;
    limit.rlim_cur = 100;
    ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
    const ingot_status_t first = store.load(numbered_id(0));
    const ingot_status_t second = store.load(numbered_id(0));
    ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
    signal(SIGXFSZ, handler);
    EXPECT_EQ(INGOT_SUCCESS, first);
    EXPECT_EQ(INGOT_SUCCESS, second);
    EXPECT_EQ(created / kSecond * kSecond, last_use_of(numbered_id(0)));
    EXPECT_EQ(2u, store.stats().unstamped);
    EXPECT_EQ(1u, degradations);
}

/* A write that would exceed the limit on file sizes raises a signal, which would end the process. */
TEST_F(PersistPolicy, TakesEntriesAwayWhereFilesMayNotGrow)
{
    Store store(info);
    fill(store, 2);
    fs::resize_file(entry_of(numbered_id(0)) / "kernel.bin", 10);
    EXPECT_EQ(0, forked_child::run([&] {
                  const rlimit none = {0, 0};
                  if (setrlimit(RLIMIT_FSIZE, &none) != 0)
                      return 1;
                  const bool is_refused = store.load(numbered_id(0)) == INGOT_BLOB_TRUNCATED;
                  const Bytes id = numbered_id(1);
                  return is_refused && ingot_storage_remove(store.get(), id.size(), id.data()) == INGOT_SUCCESS ? 0 : 2;
              }));
    EXPECT_TRUE(entries_of(root()).empty());
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
    const ingot_status_t status = ingot_persist_clear(store.get());
    goes_on = false;
    remover.join();
    EXPECT_EQ(INGOT_SUCCESS, status);
    EXPECT_TRUE(entries_of(path).empty()) << entries_of(path).size();
}

TEST_F(PersistPolicy, EqualTimesGoInTheOrderOfBuckets)
{
    std::vector<std::vector<bool>> outcomes;
    for (unsigned round = 0; round < 2; ++round) {
        const std::string path = root().string() + std::to_string(round);
        info.path = path.c_str();
        info.max_bytes = 10000;
        Store store(info);
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned number = round == 0 ? i : 7 - i;
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(number), random_bytes(number, 1000)));
        }
        for (const fs::path &entry : entries_of(path)) {
            Bytes file = read_file(entry / "key.bin");
            key_file key;
            ASSERT_EQ(INGOT_SUCCESS, key_file_decode(&key, file.size(), file.size(), file.data()));
            key.created_ns = key.last_use_ns = 5;
            key_file_encode(&key, file.data());
            write_file(entry / "key.bin", file);
            index_record_of(path, std::stoull(entry.parent_path().filename().string()),
                            [](index_record *record) { record->created_ns = 5; });
        }
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
        const std::string path = root().string() + std::to_string(limit);
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
    Store store(info);
    fill(store, 3);
    EXPECT_EQ(INGOT_NO_SPACE, store.put(numbered_id(3), random_bytes(3, 100)));
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), random_bytes(9, 100))); /* replacing adds no entry */
    EXPECT_EQ(3u, count_present(store, 3));
    EXPECT_EQ(1u, store.stats().no_space);
}

/* The bytes of the replaced entry become free, so the new one needs only what it has more. */
TEST_F(PersistPolicy, AFullStoreReplacesAnEntryByOneOfItsSize)
{
    {
        Store store(info);
        fill(store, 3);
    }
    for (const auto order : {INGOT_PERSIST_EVICT_OFF, INGOT_PERSIST_EVICT_FIFO, INGOT_PERSIST_EVICT_LRU}) {
        info.max_bytes = bytes_in(root());
        info.eviction = order;
        Store store(info);
        EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(10 + order, 1000))) << order;
        EXPECT_EQ(3u, count_present(store, 3)) << order;
        if (order == INGOT_PERSIST_EVICT_OFF) {
            EXPECT_EQ(INGOT_NO_SPACE, store.put(numbered_id(1), random_bytes(1, 1001)));
            EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(1, 999)));
            EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(1, 1000)));
        }
    }
}

/* The entry that is replaced may be among those that make room for the new one. */
TEST_F(PersistPolicy, AReplacementKeepsTheLimit)
{
    for (const size_t size : {1001u, 1500u, 2900u}) {
        const std::string path = root().string() + std::to_string(size);
        info.path = path.c_str();
        info.max_bytes = info.max_entries = 0;
        {
            Store store(info);
            fill(store, 3);
        }
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
    Store store(info);
    fill(store, 3);
    set_times(numbered_id(0), now_ns() - 1100 * kSecond, now_ns());
    set_times(numbered_id(1), now_ns() - 900 * kSecond, now_ns());
    set_times(numbered_id(2), now_ns() + 5000 * kSecond, now_ns()); /* as if the clock had been set back since then */
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(2)));
    EXPECT_EQ(2u, entries_of(root()).size());
    EXPECT_EQ(1u, store.stats().expired);
    EXPECT_EQ(bytes_in(root()), store.stats().bytes);
}

/* A machine whose clock was ahead by years would keep its entries for as long. */
TEST_F(PersistPolicy, WhatAClockFarInTheFutureStoredIsTooOld)
{
    info.max_age_ms = 1000 * 1000;
    Store store(info);
    fill(store, 2);
    set_times(numbered_id(0), now_ns() + 2 * 86400 * kSecond, now_ns() + 2 * 86400 * kSecond);
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
    EXPECT_EQ(1u, entries_of(root()).size());
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
    EXPECT_EQ(2u, entries_of(root()).size());
}

TEST_F(PersistPolicy, EvictsToTheLowWaterMark)
{
    info.max_bytes = 12000;
    info.low_water_percent = 80;
    Store store(info);
    fill(store, 10);
    ASSERT_EQ(10u, entries_of(root()).size());
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(9u, entries_of(root()).size()); /* the 8 that fit in 9600 bytes, and the new one */
    info.low_water_percent = 101;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, Store(info).status());
}

TEST_F(PersistPolicy, ALargeEvictionIsSpreadOverTheNextStores)
{
    constexpr unsigned count = 400;
    const std::string path = use_fast_store(count);
    Store store(info);
    unsigned next = 0;
    for (; next < count; ++next)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next));
    ASSERT_EQ(0u, store.stats().evictions);
    unsigned stores = 0;
    uint64_t gone = 0;
    for (uint64_t before = 1; before != gone; ++stores) {
        before = gone;
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next++));
        gone = store.stats().evictions;
        ASSERT_GE(16u, gone - before);
        ASSERT_EQ(next - gone, entries_of(path).size());
        EXPECT_EQ(INGOT_NOT_FOUND, store.load(small_id(static_cast<unsigned>(gone) - 1)));
        EXPECT_EQ(INGOT_SUCCESS, store.load(small_id(static_cast<unsigned>(gone)))) << "the oldest goes first";
        ASSERT_EQ(store.stats().bytes, bytes_in(path));
    }
    EXPECT_LT(2u, stores);
    EXPECT_GE(info.max_bytes / 2 + stores * kSmallEntry, store.stats().bytes);
    EXPECT_EQ(0u, leftovers_in(path));
}

TEST_F(PersistPolicy, ThreadsAndAClearShareASpreadEviction)
{
    constexpr unsigned count = 300;
    const std::string path = use_fast_store(count);
    Store store(info);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&store, t] {
            for (unsigned i = 0; i < 250; ++i)
                EXPECT_EQ(INGOT_SUCCESS, put_small(store, t * 1000 + i));
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_LT(0u, store.stats().evictions);
    EXPECT_GE(info.max_bytes, store.stats().bytes);
    EXPECT_EQ(store.stats().bytes, bytes_in(path));
    for (unsigned i = 0; i <= count && store.stats().bytes != info.max_bytes; ++i)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, 5000 + i));
    ASSERT_EQ(INGOT_SUCCESS, put_small(store, 6000)); /* begins an eviction */
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_clear(store.get()));
    ASSERT_EQ(INGOT_SUCCESS, put_small(store, 6001));
    EXPECT_EQ(1u, entries_of(path).size());
    EXPECT_EQ(kSmallEntry, store.stats().bytes);
    EXPECT_EQ(0u, leftovers_in(path));
}

TEST_F(PersistPolicy, AWrongTotalDoesNotEmptyAStoreThatIsEvicting)
{
    constexpr unsigned count = 400;
    const std::string path = use_fast_store(count);
    Store store(info);
    unsigned next = 0;
    for (; next <= count; ++next)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next));
    ASSERT_LT(info.max_bytes / 2, store.stats().bytes);
    write_file(fs::path(path) / "size.txt", bytes_of("1000000000000"));
    for (; next < count + 40; ++next)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next));
    EXPECT_EQ(store.stats().bytes, bytes_in(path));
    EXPECT_LE(count / 2, entries_of(path).size());
    EXPECT_GE(count, entries_of(path).size());
}

TEST_F(PersistPolicy, WhatIsTooOldGoesThoughNobodyAsksForIt)
{
    {
        Store store(info);
        fill(store, 4);
        for (unsigned i = 0; i < 3; ++i)
            set_times(numbered_id(i), now_ns() - 1100 * kSecond, now_ns() - 1100 * kSecond);
    }
    info.max_age_ms = 1000 * 1000;
    Store store(info); /* opening evicts entries that are too old */
    EXPECT_EQ(1u, entries_of(root()).size());
    EXPECT_EQ(bytes_in(root()), store.stats().bytes);
    EXPECT_EQ(3u, store.stats().evictions);
    set_times(numbered_id(3), now_ns() - 1100 * kSecond, now_ns() - 1100 * kSecond);
    /* Storing a blob also evicts entries that are too old. */
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10), random_bytes(10, 1000)));
    EXPECT_EQ(1u, entries_of(root()).size());
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(10)));
    EXPECT_EQ(0u, store.stats().expired);
}

/* Neither opening a store nor storing a blob takes more work if more entries are too old. */
TEST_F(PersistPolicy, AnOpeningTakesAwaySomeOfManyThatAreTooOld)
{
    constexpr unsigned count = 2000;
    const std::string path = use_fast_store(2 * count);
    {
        Store store(info);
        for (unsigned i = 0; i <= count; ++i)
            ASSERT_EQ(INGOT_SUCCESS, put_small(store, i));
        /* Without this removal, the header of the index would contain the times of the last entry. */
        ASSERT_EQ(INGOT_SUCCESS, store.remove(small_id(count)));
    }
    const uint64_t page_count = fs::file_size(path + "/index.bin") / INDEX_PAGE_SIZE - 1;
    make_all_older(path, 1100);
    info.max_age_ms = 1000 * 1000;
    uint64_t present = count;
    for (unsigned i = 0; i < 3; ++i) {
        visited_pages = 0;
        Store store(info);
        ASSERT_EQ(INGOT_SUCCESS, store.status());
        EXPECT_EQ(64u, store.stats().evictions);
        EXPECT_LT(0u, visited_pages);
        EXPECT_GT(page_count / 2, visited_pages) << "of " << page_count;
        visited_pages = 0;
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, count + i));
        EXPECT_EQ(64u + 16, store.stats().evictions);
        EXPECT_GT(page_count / 4, visited_pages);
        present += 1 - store.stats().evictions;
        EXPECT_EQ(present, entries_of(path).size());
    }
    while (present > 3) { /* further openings evict the rest */
        Store store(info);
        ASSERT_LT(0u, store.stats().evictions) << present;
        present -= store.stats().evictions;
    }
    EXPECT_EQ(3u, entries_of(path).size());
}

TEST_F(PersistPolicy, AnOpenThatFailsEvictsNothing)
{
    {
        Store store(info);
        fill(store, 2);
        set_times(numbered_id(0), now_ns() - 1100 * kSecond, now_ns() - 1100 * kSecond);
    }
    const std::string missing = root() / "missing";
    info.max_age_ms = 1000 * 1000;
    info.trust_policy = INGOT_PERSIST_TRUST_REQUIRE;
    info.key_files = missing.c_str();
    EXPECT_EQ(INGOT_NOT_FOUND, Store(info).status());
    EXPECT_EQ(2u, entries_of(root()).size());
}

TEST_F(PersistPolicy, AReadOnlyStoreKeepsWhatIsTooOld)
{
    {
        Store store(info);
        fill(store, 2);
        set_times(numbered_id(0), now_ns() - 1100 * kSecond, now_ns() - 1100 * kSecond);
    }
    info.max_age_ms = 1000 * 1000;
    info.flags = INGOT_PERSIST_READ_ONLY;
    Store store(info);
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
    EXPECT_EQ(2u, entries_of(root()).size());
}

/* The index of this store is too large to be read whole. The order of evictions is therefore not exact, but young
 * entries must stay. */
TEST_F(PersistPolicy, ALargeStoreEvictsFromItsOldest)
{
    constexpr unsigned count = 8000;
    const std::string path = use_fast_store(count);
    Store store(info);
    unsigned next = 0;
    for (; next < count; ++next)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next));
    ASSERT_LT(128u, fs::file_size(path + "/index.bin") / INDEX_PAGE_SIZE - 1) << "a smaller index is read completely";
    uint64_t gone = 0;
    for (unsigned i = 0; i < 100; ++i) {
        visited_pages = 0;
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next++));
        ASSERT_GE(16u, store.stats().evictions - gone);
        ASSERT_GE(64u, visited_pages) << "the work of a store does not grow with the number of entries";
        gone = store.stats().evictions;
    }
    EXPECT_LE(200u, gone);
    EXPECT_LT(0u, visited_pages);
    for (unsigned i = count / 2; i < next; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.load(small_id(i))) << i;
    EXPECT_EQ((next - gone) * kSmallEntry, store.stats().bytes);
}

/* In an approximate order (doc/store-format.md), no entry of the youngest quarter is evicted before all entries of the
 * oldest quarter. The half that was stored first is loaded here, so it is the youngest by last use. */
TEST_F(PersistPolicy, ALargeStoreEvictsTheLeastRecentlyUsed)
{
    constexpr unsigned count = 8000;
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    const std::string path = use_fast_store(count);
    Store store(info);
    unsigned next = 0;
    for (; next < count; ++next)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next));
    const std::string index = path + "/index.bin";
    Bytes bytes = read_file(index);
    for (size_t at = INDEX_PAGE_SIZE; at + INDEX_RECORD_SIZE <= bytes.size(); at += INDEX_RECORD_SIZE) {
        index_record record;
        if (!index_record_decode(&record, &bytes[at]))
            continue;
        record.last_use_s -= 3600; /* so that a load is later than any other use */
        index_record_encode(&record, &bytes[at]);
    }
    std::fstream(index, std::ios::binary | std::ios::in | std::ios::out)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    for (unsigned i = 0; i < count / 2; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.load(small_id(i)));
    for (unsigned i = 0; i < 100; ++i)
        ASSERT_EQ(INGOT_SUCCESS, put_small(store, next++));
    EXPECT_LE(200u, store.stats().evictions);
    for (unsigned i = 0; i < count / 2; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.load(small_id(i))) << i;
    for (unsigned i = count; i < next; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.load(small_id(i))) << i;
}

/*
 * memory_cache_test.cpp - tests what the in-memory cache finds, keeps and evicts when a single thread uses it. The
 * order of evictions, and what groups take along, are compared with a model in memory_cache_model_test.cpp.
 */
#include "support/cache_harness.h"

#include <thread>

using cache_harness::Eviction;
using cache_harness::Harness;
using cache_harness::Limits;

static void expect_all_gone(const Harness &harness)
{
    EXPECT_EQ(harness.created(), harness.destroyed());
    EXPECT_EQ(0u, harness.destroyed_twice());
    EXPECT_EQ(0u, harness.evicted_when_dead());
}

TEST(MemoryCache, ComparesKeysOfEqualHash)
{
    Harness harness;
    harness.hash = [](int) { return hash128{7, 7}; };
    for (int key = 0; key < 300; ++key)
        EXPECT_FALSE(harness.touch(key));
    for (int key = 0; key < 300; ++key)
        EXPECT_TRUE(harness.touch(key));
    EXPECT_FALSE(harness.contains(300));
}

TEST(MemoryCache, CountsMoreHitsOfAnEntryThanItsCellHolds)
{
    Harness harness;
    cache_memo memo = {};
    harness.touch(1, nullptr, 0, &memo);
    constexpr uint64_t kHits = 5 * 8192 + 3; /* the cell is emptied after each 8,192 */
    for (uint64_t i = 0; i < kHits; ++i)
        cache_entry_release(cache_memo_lookup(&memo));
    EXPECT_EQ(kHits, harness.counts().hits);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(kHits, harness.counts().hits) << "those of what is gone count on";
}

TEST(MemoryCache, DoesNotReturnWhatWasEvictedNorWhatTookItsPlace)
{
    Harness harness({1, 0, 0});
    cache_memo memo{};
    harness.touch(1, nullptr, 0, &memo);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(nullptr, cache_memo_lookup(&memo));
    for (int key = 2; key < 100; ++key) { /* entries are recycled, so a new one gets the place of key 1 */
        harness.touch(key);
        EXPECT_EQ(nullptr, cache_memo_lookup(&memo));
    }
    EXPECT_FALSE(harness.touch(1, nullptr, 0, &memo)); /* makes key 1 again, in another place, and updates the memo */
    cache_entry *entry = cache_memo_lookup(&memo);
    harness.check(entry, 1);
    cache_entry_release(entry);
}

TEST(MemoryCache, DoesNotLookUpByAMemoOfMixedHalves)
{
    Harness harness;
    cache_memo first{}, second{};
    harness.touch(1, nullptr, 0, &first);
    harness.touch(2, nullptr, 0, &second);
    cache_memo mixed{};
    mixed.entry = first.entry.load();
    mixed.serial = second.serial.load();
    EXPECT_EQ(nullptr, cache_memo_lookup(&mixed));
}

TEST(MemoryCache, DoesNotKeepAnEntryThatIsKeptAlready)
{
    Harness harness, other;
    cache_entry *entry = nullptr, *again = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, harness.get_or_make(1, harness.make(1), &entry));
    const Harness::Maker hand_on = [&](cache_entry **made, size_t *) {
        cache_entry_retain(entry);
        *made = entry;
        return INGOT_SUCCESS;
    };
    cache_memo memo{};
    ASSERT_EQ(INGOT_SUCCESS, harness.get_or_make(2, hand_on, &again, nullptr, nullptr, &memo));
    EXPECT_EQ(entry, again);
    cache_entry_release(again);
    EXPECT_EQ(nullptr, cache_memo_lookup(&memo));
    ASSERT_EQ(INGOT_SUCCESS, other.get_or_make(1, hand_on, &again, nullptr, nullptr, &memo));
    cache_entry_release(again);
    EXPECT_EQ(nullptr, cache_memo_lookup(&memo));
    EXPECT_EQ(1u, harness.counts().entries);
    EXPECT_EQ(0u, other.counts().entries);
    cache_entry_release(entry);
}

/* ---- limits ---- */

TEST(MemoryCacheLimits, OrderHoldsOverManyHitsBetweenInsertions)
{
    Harness harness({3, 0, 0});
    cache_memo memos[3] = {};
    for (int key = 0; key < 3; ++key)
        harness.touch(key, nullptr, 0, &memos[key]);
    const auto hit = [&](int key) { cache_entry_release(cache_memo_lookup(&memos[key])); };
    hit(2);
    hit(0);
    for (int i = 0; i < 1500000; ++i) /* more hits than the cache can number between two insertions */
        hit(1);
    hit(2);
    hit(0);
    harness.touch(3);
    EXPECT_EQ(nullptr, cache_memo_lookup(&memos[1]));
    hit(2);
    harness.touch(4); /* 0 was used before 2 and 3 */
    EXPECT_EQ((std::vector<int>{2, 3, 4}), harness.present(9));
}

TEST(MemoryCacheLimits, BytesNeverOverflow)
{
    Harness harness;
    harness.touch(1, nullptr, SIZE_MAX / 2);
    harness.touch(2, nullptr, SIZE_MAX / 2);
    harness.touch(3, nullptr, SIZE_MAX);
    EXPECT_TRUE(harness.contains(1));
    EXPECT_GE(harness.counts().bytes, SIZE_MAX / 2);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(0u, harness.counts().bytes);
    harness.restart(Limits{100, 100000, 0});
    harness.touch(4);
    harness.touch(5, nullptr, SIZE_MAX);
    harness.touch(6, nullptr, SIZE_MAX - 100);
    EXPECT_EQ((std::vector<int>{4}), harness.present(9));
}

TEST(MemoryCacheClear, ClosedCacheServesAndKeepsNothing)
{
    Harness harness;
    harness.touch(1, "a");
    memory_cache_close(harness.get());
    EXPECT_EQ(0u, harness.counts().entries);
    EXPECT_TRUE(harness.evictions().empty());
    EXPECT_FALSE(harness.touch(1));
    EXPECT_FALSE(harness.touch(1));
    EXPECT_EQ(3u, harness.destroyed());
}

TEST(MemoryCacheClear, EvictionCallbackMayCallTheCache)
{
    Harness harness({4, 0, 0});
    int calls = 0;
    harness.on_eviction = [&](const Eviction &eviction) {
        ++calls;
        if (eviction.key < 100)
            harness.touch(eviction.key + 100);
        EXPECT_FALSE(harness.contains(eviction.key));
    };
    for (int key = 0; key < 20; ++key)
        harness.touch(key);
    EXPECT_EQ(4u, harness.counts().entries);
    EXPECT_GE(calls, 20);
}

/* ---- failed allocations ---- */

TEST(MemoryCacheMemory, CreateFailsCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) { return Harness({16, 0, 0}, allocator).status(); });
}

/* Requests enough entries that the cache needs more memory of every kind. Returns how many requests failed. */
static int fill(Harness &harness, int begin, int end)
{
    int failures = 0;
    for (int key = begin; key < end; ++key) {
        cache_entry *entry = nullptr;
        const std::string group = std::to_string(key);
        const ingot_status_t status = harness.get_or_make(key, harness.make(key), &entry, nullptr, group.c_str());
        if (status == INGOT_SUCCESS) {
            Harness::check(entry, key);
            cache_entry_release(entry);
        } else {
            EXPECT_EQ(INGOT_OUT_OF_MEMORY, status);
            EXPECT_STRNE("", ingot_last_error_detail());
            ++failures;
        }
    }
    return failures;
}

TEST(MemoryCacheMemory, OneFailedAllocationFailsNoRequest)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator;
        bool failed = false;
        {
            Harness harness({1000, 0, 0}, allocator.table());
            allocator.fail_from_now(n);
            ASSERT_EQ(0, fill(harness, 0, 150)) << "allocation " << n;
            failed = allocator.failed();
            EXPECT_EQ(0, fill(harness, 0, 150));
            harness.destroy_cache();
            expect_all_gone(harness);
        }
        ASSERT_EQ(0u, allocator.live_count()) << "allocation " << n;
        if (!failed)
            return;
    }
}

TEST(MemoryCacheMemory, NoMemoryFromSomePointOnIsAStatus)
{
    for (size_t n = 0; n < 450; ++n) {
        FailingAllocator allocator(FailingAllocator::kNever, true);
        {
            Harness harness({1000, 0, 0}, allocator.table());
            allocator.fail_from_now(n);
            fill(harness, 0, 150);
            allocator.stop_failing();
            EXPECT_EQ(0, fill(harness, 0, 150));
            harness.destroy_cache();
            expect_all_gone(harness);
        }
        ASSERT_EQ(0u, allocator.live_count()) << "allocation " << n;
    }
}

TEST(MemoryCacheRecount, CountsAnewAndEvictsWhatIsOver)
{
    Harness harness({100, 100000, 0});
    for (const int key : {1, 2, 3})
        harness.touch(key, nullptr, 10000);
    const size_t before = harness.counts().bytes;
    cache_entry *entry = harness.find(2);
    memory_cache_recount(harness.get(), entry, 15000);
    EXPECT_EQ(before + 5000, harness.counts().bytes);
    memory_cache_recount(harness.get(), entry, 80000); /* evicts the least recently used */
    EXPECT_EQ(std::vector<int>({2, 3}), harness.present(4));
    EXPECT_EQ(1u, harness.counts().evictions[EVICTED_BYTES]);
    memory_cache_recount(harness.get(), entry, 200000); /* too large by itself, so the others stay */
    EXPECT_EQ(std::vector<int>({3}), harness.present(4));
    const size_t left = harness.counts().bytes;
    memory_cache_recount(harness.get(), entry, 1); /* `entry` is not in the cache anymore */
    memory_cache_recount(harness.get(), entry, SIZE_MAX);
    EXPECT_EQ(left, harness.counts().bytes);
    cache_entry_release(entry);
    entry = harness.find(3);
    memory_cache_recount(harness.get(), entry, SIZE_MAX); /* the total would overflow, so nothing changes */
    EXPECT_EQ(left, harness.counts().bytes);
    cache_entry_release(entry);
}

TEST(MemoryCacheGroups, WaiterInAnotherGroupJoinsItsOwn)
{
    Harness harness;
    const Harness::Maker wait_then_make = [&](cache_entry **entry, size_t *) {
        harness.wait_for_waiters(1);
        return harness.create(1, entry);
    };
    cache_entry *made = nullptr;
    std::thread maker([&] { EXPECT_EQ(INGOT_SUCCESS, harness.get_or_make(1, wait_then_make, &made, nullptr, "a")); });
    while (harness.counts().misses == 0)
        std::this_thread::yield();
    harness.touch(1, "b");
    maker.join();
    cache_entry_release(made);
    EXPECT_EQ(2u, harness.counts().groups);
    memory_cache_clear(harness.get(), "a", EVICTED_CLEAR);
    EXPECT_TRUE(harness.contains(1));
}

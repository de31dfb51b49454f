/*
 * memory_cache_test.cpp - tests what the in-memory cache finds, keeps and evicts when a single thread uses it. The
 * order of evictions, and what groups take along, are compared with a plain model, step by step.
 */
#include "support/cache_harness.h"

#include <algorithm>
#include <list>
#include <random>
#include <set>
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

/* ---- the model ---- */

class MemoryCacheModel : public ::testing::TestWithParam<unsigned>
{
};

TEST_P(MemoryCacheModel, AgreesWithAPlainLru)
{
    struct Known {
        int key;
        size_t bytes;
        /* Contains "" if the entry was requested without a group. Dropping a group then never drops the entry. */
        std::set<std::string> groups;
    };
    std::mt19937 random(GetParam());
    const auto pick = [&](size_t end) { return static_cast<size_t>(random() % end); };
    Harness measured;
    measured.touch(0);
    const size_t own = measured.counts().bytes; /* what the cache adds to an entry's bytes */
    Harness harness({8, 0, 0});
    memory_cache_limits limits = Limits{8, 0, 0};
    std::list<Known> lru; /* the least recently used first */
    std::list<std::string> groups;
    std::map<std::pair<int, std::string>, cache_memo> memos; /* one for each key and group, as in a descriptor */

    const auto is_empty = [&](const std::string &group) {
        return std::none_of(lru.begin(), lru.end(), [&](const Known &one) { return one.groups.count(group) != 0; });
    };
    const auto drop = [&](std::list<Known>::iterator known) {
        const auto next = lru.erase(known);
        groups.remove_if(is_empty);
        return next;
    };
    const auto drop_group = [&](const std::string group) { /* copied, because the list of groups changes */
                                                           for (auto known = lru.begin(); known != lru.end();) {
                                                               if (known->groups.erase(group) != 0 &&
                                                                   known->groups.empty())
                                                                   known = lru.erase(known);
                                                               else
                                                                   ++known;
                                                           }
                                                           groups.remove(group);
    };
    const auto first_to_go = [&] {
        const auto last_use = [&](const std::string &group) {
            ptrdiff_t position = -1;
            for (auto known = lru.begin(); known != lru.end(); ++known)
                position = known->groups.count(group) != 0 ? std::distance(lru.begin(), known) : position;
            return position;
        };
        return !limits.drops_least_used_group
                   ? groups.front()
                   : *std::min_element(groups.begin(), groups.end(), [&](const auto &one, const auto &other) {
                         return last_use(one) < last_use(other);
                     });
    };
    const auto model_bytes = [&] {
        size_t sum = 0;
        for (const Known &known : lru)
            sum += known.bytes;
        return sum;
    };
    const auto fit = [&] {
        while (!lru.empty() &&
               (lru.size() > limits.max_entries || (limits.max_bytes != 0 && model_bytes() > limits.max_bytes)))
            drop(lru.begin());
    };
    const auto fit_groups = [&] {
        while (limits.max_groups != 0 && groups.size() > limits.max_groups)
            drop_group(first_to_go());
    };

    for (int step = 0; step < 3000; ++step) {
        if (step % 200 == 199) {
            limits = Limits{pick(16), pick(2) * (own + 300) * pick(12), pick(5)};
            limits.drops_least_used_group = pick(2) != 0;
            harness.restart(limits);
            memos.clear();
            lru.clear();
            groups.clear();
        }
        const int key = static_cast<int>(pick(24));
        const size_t action = pick(100);
        if (action < 95) {
            const auto known = std::find_if(lru.begin(), lru.end(), [&](const Known &one) { return one.key == key; });
            const std::string group = pick(4) == 0 ? "" : std::string(1, static_cast<char>('a' + pick(5)));
            const size_t bytes = pick(500);
            cache_memo *memo = pick(3) == 0 ? nullptr : &memos[{key, group}];
            ASSERT_EQ(known != lru.end(), harness.touch(key, group.c_str(), bytes, memo)) << step;
            if (known != lru.end()) {
                lru.splice(lru.end(), lru, known);
                if (known->groups.insert(group).second && !group.empty() &&
                    std::find(groups.begin(), groups.end(), group) == groups.end()) {
                    groups.push_back(group);
                    fit_groups();
                }
                continue;
            }
            const size_t whole = bytes + own;
            if (limits.max_entries == 0 || (limits.max_bytes != 0 && whole > limits.max_bytes))
                continue;
            lru.push_back({key, whole, {group}}); /* the newest entry and the newest group make no room */
            if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) {
                groups.push_back(group);
                fit_groups();
            }
            fit();
        } else if (action < 98) {
            const std::string group(1, static_cast<char>('a' + pick(5)));
            memory_cache_clear(harness.get(), group.c_str(), EVICTED_CLEAR);
            drop_group(group);
        } else if (action == 98) {
            memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
            lru.clear();
            groups.clear();
        }
        const memory_cache_counts counts = harness.counts();
        ASSERT_EQ(lru.size(), counts.entries) << step;
        ASSERT_EQ(model_bytes(), counts.bytes) << step;
        ASSERT_EQ(groups.size(), counts.groups) << step;
        ASSERT_EQ(harness.created() - harness.destroyed(), counts.entries) << step;
    }
    harness.destroy_cache();
    EXPECT_EQ(harness.created(), harness.destroyed());
    EXPECT_EQ(0u, harness.destroyed_twice());
    EXPECT_EQ(0u, harness.evicted_when_dead());
}
INSTANTIATE_TEST_SUITE_P(Seeds, MemoryCacheModel, ::testing::Range(0u, 24u));

/*
 * cache_stress.cpp - tests the in-memory cache with many threads that use all its functions at once, in an order that
 * depends on a seed.
 *
 * During the run, threads check what must always hold: a request gets a live value of its own key, at most one maker
 * runs per key, no value that a thread holds is destroyed, and no value is destroyed twice. Between rounds no thread
 * runs, and the cache's counts (misses, hits, entries, bytes, groups) must agree with what the threads counted. Then
 * one thread continues alone, and the order of eviction must be exact.
 *
 * A second test does the same while allocations fail at random. Requests may then fail, and the number of misses is not
 * exact, but the numbers of live, destroyed and freed values are.
 *
 *   cache_stress [--seed N] [--rounds N] [--seconds N] [--threads N] [--steps N]
 *
 * With --seconds each run takes that long, and --rounds is ignored.
 */
#include <algorithm>
#include <chrono>
#include <list>
#include <random>

#include "support/cache_harness.h"
#include "support/threads.h"

using cache_harness::Harness;
using cache_harness::kAlive;
using cache_harness::Limits;

namespace
{

struct Settings {
    unsigned seed = 1;
    unsigned rounds = 10;
    unsigned seconds = 0;
    unsigned threads = 64;
    unsigned steps = 400;
} settings;

constexpr int kKeys = 48;
constexpr Limits kFewEntries = {7, 0, 0};
constexpr Limits kFewBytesAndGroups = {32, 8000, 3};
constexpr size_t kHeld = 6;

/* Counts live allocations. While set_failing(true) is in effect, fails about one allocation in 16. */
class UnreliableAllocator
{
public:
    const ingot_allocator_t *table() const { return &table_; }
    void set_failing(bool failing) { failing_ = failing; }
    size_t live_count() const { return live_count_; }

private:
    static void *allocate(void *user, size_t size, size_t alignment)
    {
        static thread_local unsigned random = settings.seed;
        auto *self = static_cast<UnreliableAllocator *>(user);
        random = random * 1664525u + 1013904223u;
        void *memory = nullptr;
        if ((self->failing_ && random >> 28 == 0) ||
            posix_memalign(&memory, std::max(alignment, sizeof(void *)), size) != 0)
            return nullptr;
        ++self->live_count_;
        return memory;
    }

    static void deallocate(void *user, void *memory, size_t size)
    {
        --static_cast<UnreliableAllocator *>(user)->live_count_;
        memset(memory, 0x5a, size);
        free(memory);
    }

    const ingot_allocator_t table_ = {allocate, deallocate, this};
    std::atomic<bool> failing_{false};
    std::atomic<size_t> live_count_{0};
};

struct Tally {
    uint64_t hits = 0;
    uint64_t makings = 0;
    uint64_t waits = 0;
};

class Stress
{
public:
    Stress(bool memory_is_short, Limits limits)
        : memory_is_short_(memory_is_short), limits_(limits), harness_(limits, allocator_.table())
    {
    }

    void run()
    {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point end = Clock::now() + std::chrono::seconds(settings.seconds);
        const auto goes_on = [&](unsigned round) {
            return settings.seconds != 0 ? Clock::now() < end : round < settings.rounds;
        };
        unsigned round = 0;
        for (; goes_on(round) && !::testing::Test::HasFailure(); ++round) {
            allocator_.set_failing(memory_is_short_);
            std::vector<Tally> tallies(settings.threads);
            in_threads(settings.threads, [this, round, &tallies](size_t i) { work(round * 1000 + i, &tallies[i]); });
            allocator_.set_failing(false);
            check_at_rest(tallies);
            walk_alone(round);
        }
        printf("%u rounds of %u threads, seed %u: %zu values made\n", round, settings.threads, settings.seed,
               harness_.created());
        harness_.destroy_cache();
        EXPECT_EQ(0u, allocator_.live_count());
        EXPECT_EQ(harness_.created(), harness_.destroyed());
        EXPECT_EQ(0u, harness_.destroyed_twice());
        EXPECT_EQ(0u, harness_.evicted_when_dead());
    }

private:
    using Random = std::mt19937;

    static std::string group_of(int key)
    {
        return key % 6 == 0 ? "" : std::string(1, static_cast<char>('a' + key % 6));
    }

    Harness::Maker maker(int key, Random &random, Tally *tally, int depth)
    {
        return [this, key, &random, tally, depth](cache_entry **entry, size_t *bytes) {
            EXPECT_FALSE(making_[key].exchange(true)) << "two makers of one key";
            ++tally->makings;
            const ingot_status_t status = make(key, random, tally, depth, entry);
            *bytes = static_cast<size_t>(key) * 10;
            EXPECT_TRUE(making_[key].exchange(false));
            return status;
        };
    }

    ingot_status_t make(int key, Random &random, Tally *tally, int depth, cache_entry **entry)
    {
        const unsigned chance = random() % 100;
        if (chance < 4)
            return ingot_set_error_detail(INGOT_BUILD_FAILED, "log of %d", key);
        if (chance < 7)
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "lost %d", key);
        if (chance < 9)
            return ingot_set_error_detail(INGOT_BLOB_STALE, "stale %d", key);
        if (chance < 20)
            sched_yield();
        if (chance >= 90 && depth < 3) {
            /* never a lower key: makers that request each other's keys wait forever */
            const int other_key = key + static_cast<int>(random() % static_cast<unsigned>(kKeys - key));
            cache_entry *other = get(other_key, random, tally, depth + 1);
            if (other != nullptr)
                cache_entry_release(other);
        }
        return harness_.create(key, entry);
    }

    cache_entry *get(int key, Random &random, Tally *tally, int depth)
    {
        cache_entry *entry = nullptr;
        cache_outcome outcome = CACHE_HIT;
        const std::string group = group_of(key);
        cache_memo *memo = random() % 4 == 0 ? nullptr : &memos_[key];
        const ingot_status_t status =
            harness_.get_or_make(key, maker(key, random, tally, depth), &entry, &outcome, group.c_str(), memo);
        if (status != INGOT_SUCCESS) {
            check_failure(status, key, depth);
            return nullptr;
        }
        Harness::check(entry, key);
        tally->hits += outcome == CACHE_HIT;
        tally->waits += outcome == CACHE_WAITED;
        return entry;
    }

    void check_failure(ingot_status_t status, int key, int depth) const
    {
        const std::string detail = ingot_last_error_detail();
        switch (status) {
        case INGOT_OUT_OF_MEMORY: EXPECT_TRUE(memory_is_short_); break;
        case INGOT_BUILD_FAILED: check_detail("log of " + std::to_string(key), detail); break;
        case INGOT_BACKEND_ERROR: check_detail("lost " + std::to_string(key), detail); break;
        case INGOT_BLOB_STALE: EXPECT_EQ("stale " + std::to_string(key), detail); break;
        default:
            EXPECT_EQ(INGOT_DEADLOCK, status);
            EXPECT_GT(depth, 0) << "only a nested request can be for the key that is being made: " << detail;
        }
    }

    void check_detail(const std::string &expected, const std::string &detail) const
    {
        EXPECT_TRUE(expected == detail || (memory_is_short_ && detail.find("out of memory") == 0)) << detail;
    }

    void work(unsigned number, Tally *tally)
    {
        Random random(settings.seed * 1000003u + number);
        std::vector<std::pair<int, cache_entry *>> held;

        for (unsigned step = 0; step < settings.steps; ++step) {
            const int key = static_cast<int>(std::min(random() % kKeys, random() % kKeys));
            const unsigned action = random() % 1000;
            cache_entry *entry = nullptr;
            if (action < 500)
                entry = get(key, random, tally, 0);
            else if (action < 800)
                entry = cache_memo_lookup(&memos_[key]);
            else if (action < 940)
                entry = harness_.find(key, &memos_[key]);
            else
                disturb(action, key, random, tally);
            if (action >= 500 && entry != nullptr) {
                Harness::check(entry, key);
                ++tally->hits;
            }
            if (entry != nullptr)
                held.emplace_back(key, entry);
            if (random() % 8 == 0 && !held.empty()) { /* takes a second reference and drops it at once */
                cache_entry_retain(held.back().second);
                cache_entry_release(held.back().second);
            }
            while (held.size() > kHeld)
                drop(held, random() % held.size());
        }
        while (!held.empty())
            drop(held, held.size() - 1);
    }

    /* Leaves a held entry in a shared slot, for another thread to release, and releases the entry that was there. */
    void drop(std::vector<std::pair<int, cache_entry *>> &held, size_t index)
    {
        Harness::check(held[index].second, held[index].first);
        cache_entry *other = handed_over_.exchange(held[index].second);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
        if (other != nullptr) {
            EXPECT_EQ(kAlive, Harness::value_of(other)->state.load());
            cache_entry_release(other);
        }
    }

    void disturb(unsigned action, int key, Random &random, Tally *tally)
    {
        if (action < 970)
            memory_cache_clear(harness_.get(), group_of(key).c_str(), EVICTED_CLEAR);
        else if (action < 975)
            memory_cache_clear(harness_.get(), nullptr, random() % 2 != 0 ? EVICTED_CLEAR : EVICTED_MEMORY);
        else if (action < 980)
            put(key);
        else if (action < 984)
            take(key, tally);
        else
            harness_.counts();
    }

    void put(int key)
    {
        const std::string group = group_of(key);
        const cache_request request = harness_.request(&key, group.c_str(), nullptr);
        cache_entry *entry = nullptr;
        if (harness_.create(key, &entry) != INGOT_SUCCESS)
            return;
        memory_cache_put(harness_.get(), &request, entry, static_cast<size_t>(key) * 10);
        Harness::check(entry, key);
        cache_entry_release(entry);
    }

    void take(int key, Tally *tally)
    {
        const cache_request request = harness_.request(&key, nullptr, &memos_[key]);
        cache_entry *entry = memory_cache_take(harness_.get(), &request);
        if (entry == nullptr)
            return;
        ++tally->hits;
        Harness::check(entry, key);
        cache_entry_release(entry);
    }

    void check_at_rest(const std::vector<Tally> &tallies)
    {
        cache_entry *left = handed_over_.exchange(nullptr);
        if (left != nullptr)
            cache_entry_release(left);
        for (const Tally &tally : tallies) {
            expected_.hits += tally.hits;
            expected_.makings += tally.makings;
            expected_.waits += tally.waits;
        }
        const memory_cache_counts counts = harness_.counts();
        EXPECT_EQ(expected_.hits, counts.hits);
        if (memory_is_short_) /* a request that runs out of memory is made again */
            EXPECT_GE(expected_.makings, counts.misses);
        else
            EXPECT_EQ(expected_.makings, counts.misses);
        /* The cache also counts waits after which the request failed or made the value itself. */
        EXPECT_LE(expected_.waits, counts.waits);
        EXPECT_EQ(harness_.created() - harness_.destroyed(), counts.entries);
        EXPECT_LE(counts.entries, limits_.entries);
        EXPECT_TRUE(limits_.bytes == 0 || counts.bytes <= limits_.bytes) << counts.bytes;
        EXPECT_TRUE(limits_.groups == 0 || counts.groups <= limits_.groups) << counts.groups;
        EXPECT_EQ(harness_.created() - harness_.destroyed(), harness_.present(kKeys).size());
        expected_.hits = harness_.counts().hits;
    }

    /* With one thread, the order of eviction must be exact, whatever happened before. */
    void walk_alone(unsigned round)
    {
        Random random(settings.seed + round);
        std::list<int> lru;

        memory_cache_clear(harness_.get(), nullptr, EVICTED_CLEAR);
        for (int step = 0; step < 300; ++step) {
            const int key = static_cast<int>(random() % 12);
            const auto known = std::find(lru.begin(), lru.end(), key);
            ASSERT_EQ(known != lru.end(), harness_.touch(key, nullptr, 0, &memos_[key])) << "step " << step;
            if (known != lru.end())
                lru.erase(known);
            else if (lru.size() == limits_.entries)
                lru.pop_front();
            lru.push_back(key);
        }
        expected_.hits = harness_.counts().hits;
        expected_.makings = harness_.counts().misses;
    }

    const bool memory_is_short_;
    const Limits limits_;
    UnreliableAllocator allocator_;
    Harness harness_;
    cache_memo memos_[kKeys] = {};
    std::atomic<bool> making_[kKeys] = {};
    std::atomic<cache_entry *> handed_over_{nullptr};
    Tally expected_;
};

} /* namespace */

TEST(CacheStress, HoldsInEveryOrder)
{
    Stress(false, kFewEntries).run();
    Stress(false, kFewBytesAndGroups).run();
}

TEST(CacheStress, HoldsWhenMemoryIsShort)
{
    Stress(true, kFewEntries).run();
    Stress(true, kFewBytesAndGroups).run();
}

int main(int argc, char **argv)
{
    ::testing::InitGoogleTest(&argc, argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        const auto value = static_cast<unsigned>(strtoul(argv[i + 1], nullptr, 10));
        if (strcmp(argv[i], "--seed") == 0)
            settings.seed = value;
        else if (strcmp(argv[i], "--rounds") == 0)
            settings.rounds = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            settings.seconds = value;
        else if (strcmp(argv[i], "--threads") == 0)
            settings.threads = value;
        else if (strcmp(argv[i], "--steps") == 0)
            settings.steps = value;
    }
    return RUN_ALL_TESTS();
}

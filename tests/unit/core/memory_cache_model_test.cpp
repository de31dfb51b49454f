/*
 * memory_cache_model_test.cpp - compares the in-memory cache with a plain model of it, step by step, in one thread.
 */
#include "support/cache_harness.h"

#include <algorithm>
#include <list>
#include <random>
#include <set>

using cache_harness::Harness;
using cache_harness::Limits;

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

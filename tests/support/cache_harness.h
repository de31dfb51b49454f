/*
 * cache_harness.h - an in-memory cache whose values record when they are created and destroyed, for tests of the cache
 * alone.
 */
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <ingot/backend.h>

extern "C" {
#include "core/memory_cache/memory_cache.h"
}

#include "support/failing_allocator.h"

namespace cache_harness
{

constexpr uint32_t kAlive = 0x600dbeef;
constexpr uint32_t kDead = 0xdeadbeef;

/* A cached value. It is not freed while the harness lives, so that a second destruction is detected instead of
 * crashing. */
struct Value {
    int key = 0;
    std::atomic<uint32_t> state{kAlive};
    std::atomic<int> evictions{0};
    std::string group;
};

struct Eviction {
    int key;
    size_t bytes;
    eviction_reason reason;
};

/* The limits that most tests need. */
struct Limits {
    size_t entries;
    size_t bytes;
    size_t groups;

    operator memory_cache_limits() const { return {entries, bytes, groups, 0, false}; }
};

class Harness
{
public:
    explicit Harness(Limits wanted = {1024, 0, 0}, const ingot_allocator_t *allocator = nullptr)
        : allocator_(allocator != nullptr ? allocator : counted_.table())
    {
        restart(wanted);
    }
    ~Harness()
    {
        destroy_cache();
        for (Value *value : values_)
            delete value;
    }

    void destroy_cache()
    {
        memory_cache_destroy(std::exchange(cache_, nullptr));
        EXPECT_EQ(0u, counted_.live_count());
    }

    /* Makes an empty cache with other limits. Memos of the earlier one must not be used. */
    void restart(const memory_cache_limits &limits)
    {
        static const memory_cache_ops ops = {matches, destroy, evicted, same_key, false, nullptr};
        memory_cache_destroy(std::exchange(cache_, nullptr));
        status_ = memory_cache_create(&cache_, allocator_, &ops, this, &limits);
    }

    ingot_status_t status() const { return status_; }
    memory_cache *get() const { return cache_; }

    /* Returns the hash of a key. Tests of collisions set another function. */
    std::function<hash128(int)> hash = [](int key) { return hash128_of(sizeof(key), &key); };
    /* Called for each eviction, in addition to recording it. */
    std::function<void(const Eviction &)> on_eviction;

    cache_request request(const int *key, const char *group = nullptr, cache_memo *memo = nullptr) const
    {
        return {hash(*key), key, memo, group, false};
    }

    using Maker = std::function<ingot_status_t(cache_entry **, size_t *)>;

    ingot_status_t get_or_make(int key, const Maker &maker, cache_entry **entry, cache_outcome *outcome = nullptr,
                               const char *group = nullptr, cache_memo *memo = nullptr)
    {
        cache_outcome ignored;
        const cache_request wanted = request(&key, group, memo);
        const cache_maker call = [](cache_entry **made, size_t *size, void *user) {
            return (*static_cast<const Maker *>(user))(made, size);
        };
        return memory_cache_get_or_make(cache_, &wanted, call, const_cast<Maker *>(&maker), entry,
                                        outcome != nullptr ? outcome : &ignored);
    }

    /* Gets or makes an entry, and releases it. Returns true if it was a hit. */
    bool touch(int key, const char *group = nullptr, size_t bytes = 0, cache_memo *memo = nullptr)
    {
        cache_entry *entry = nullptr;
        cache_outcome outcome = CACHE_WAITED;
        EXPECT_EQ(INGOT_SUCCESS, get_or_make(key, make(key, bytes), &entry, &outcome, group, memo));
        check(entry, key);
        cache_entry_release(entry);
        return outcome == CACHE_HIT;
    }

    cache_entry *find(int key, cache_memo *memo = nullptr) const
    {
        const cache_request wanted = request(&key, nullptr, memo);
        return memory_cache_lookup(cache_, &wanted);
    }

    bool contains(int key) const
    {
        cache_entry *entry = find(key);
        if (entry != nullptr)
            cache_entry_release(entry);
        return entry != nullptr;
    }

    std::vector<int> present(int end) const
    {
        std::vector<int> keys;
        for (int key = 0; key < end; ++key) {
            if (contains(key))
                keys.push_back(key);
        }
        return keys;
    }

    /* Returns a maker that succeeds. */
    Maker make(int key, size_t bytes = 0)
    {
        return [this, key, bytes](cache_entry **entry, size_t *size) {
            *size = bytes;
            return create(key, entry);
        };
    }

    ingot_status_t create(int key, cache_entry **entry)
    {
        auto *value = new Value;
        value->key = key;
        *entry = cache_entry_create(cache_, value);
        if (*entry == nullptr) {
            delete value;
            return INGOT_OUT_OF_MEMORY;
        }
        std::lock_guard<std::mutex> guard(mutex_);
        values_.push_back(value);
        return INGOT_SUCCESS;
    }

    static Value *value_of(const cache_entry *entry) { return static_cast<Value *>(cache_entry_value(entry)); }

    static void check(const cache_entry *entry, int key)
    {
        ASSERT_NE(nullptr, entry);
        EXPECT_EQ(kAlive, value_of(entry)->state.load());
        EXPECT_EQ(key, value_of(entry)->key);
    }

    memory_cache_counts counts() const
    {
        memory_cache_counts counts;
        memory_cache_get_counts(cache_, &counts);
        return counts;
    }

    size_t created() const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return values_.size();
    }
    size_t destroyed() const { return destroyed_; }
    size_t destroyed_twice() const { return destroyed_twice_; }
    size_t evicted_when_dead() const { return evicted_when_dead_; }

    std::vector<Eviction> evictions() const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return evictions_;
    }

    /* Waits until the cache has counted `count` waits for a maker. It counts a wait when it begins. */
    void wait_for_waiters(uint64_t count) const
    {
        while (counts().waits < count)
            sched_yield();
    }

private:
    static bool matches(const void *value, const void *key)
    {
        const auto *known = static_cast<const Value *>(value);
        EXPECT_EQ(kAlive, known->state.load());
        return known->key == *static_cast<const int *>(key);
    }

    static bool same_key(const void *key, const void *other)
    {
        return *static_cast<const int *>(key) == *static_cast<const int *>(other);
    }

    static void destroy(void *user, void *value)
    {
        auto *self = static_cast<Harness *>(user);
        if (static_cast<Value *>(value)->state.exchange(kDead) != kAlive)
            ++self->destroyed_twice_;
        ++self->destroyed_;
    }

    static void evicted(void *user, void *value, size_t bytes, eviction_reason reason)
    {
        auto *self = static_cast<Harness *>(user);
        auto *known = static_cast<Value *>(value);
        if (known->state != kAlive || known->evictions++ != 0)
            ++self->evicted_when_dead_;
        const Eviction eviction = {known->key, bytes, reason};
        if (self->on_eviction)
            self->on_eviction(eviction);
        std::lock_guard<std::mutex> guard(self->mutex_);
        self->evictions_.push_back(eviction);
    }

    FailingAllocator counted_;
    const ingot_allocator_t *allocator_;
    memory_cache *cache_ = nullptr;
    ingot_status_t status_;
    mutable std::mutex mutex_;
    std::vector<Value *> values_;
    std::vector<Eviction> evictions_;
    std::atomic<size_t> destroyed_{0};
    std::atomic<size_t> destroyed_twice_{0};
    std::atomic<size_t> evicted_when_dead_{0};
};

} /* namespace cache_harness */

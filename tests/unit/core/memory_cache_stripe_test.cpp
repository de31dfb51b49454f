/*
 * memory_cache_stripe_test.cpp - tests reference counts that are split into cells, one for each stripe, which is a
 * group of threads. A thread that evicts an entry must find all references, whatever other threads do in the meantime.
 */
#include "support/cache_harness.h"

#include "support/forked_child.h"
#include "support/threads.h"

using cache_harness::Harness;
using cache_harness::kAlive;

namespace
{

/* A thread that stays alive and runs the functions that it is given. */
class Worker
{
public:
    Worker() : thread_([this] { work(); }) {}
    ~Worker()
    {
        stop_ = true;
        thread_.join();
    }

    void run(std::function<void()> task)
    {
        task_ = std::move(task);
        wanted_ = true;
        while (wanted_)
            sched_yield();
    }

private:
    void work()
    {
        for (; !stop_; sched_yield()) {
            if (wanted_) {
                task_();
                wanted_ = false;
            }
        }
    }

    std::atomic<bool> wanted_{false};
    std::atomic<bool> stop_{false};
    std::function<void()> task_;
    std::thread thread_;
};

/* Expects that a value held by two threads is destroyed when the second one releases it, and not before. */
void expect_exact_counts(Harness *harness, Worker *first, Worker *second)
{
    cache_entry *held[3] = {};
    cache_memo memo = {};

    harness->touch(1, nullptr, 0, &memo);
    const size_t before = harness->destroyed();
    first->run([&] { held[0] = harness->find(1, &memo); });
    second->run([&] { held[1] = harness->find(1, &memo); });
    first->run([&] { held[2] = cache_memo_lookup(&memo); });
    memory_cache_clear(harness->get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(nullptr, cache_memo_lookup(&memo));
    for (cache_entry *entry : held) {
        ASSERT_NE(nullptr, entry);
        EXPECT_EQ(before, harness->destroyed());
        second->run([&] { cache_entry_release(entry); });
    }
    EXPECT_EQ(before + 1, harness->destroyed());
    EXPECT_EQ(0u, harness->destroyed_twice());
}

} /* namespace */

TEST(MemoryCacheStripe, CountsExactly)
{
    Harness harness;
    Worker first;
    Worker second;
    for (int i = 0; i < 100; ++i)
        expect_exact_counts(&harness, &first, &second);
}

/* Entries are allocated in chunks. The first thread of a stripe that finds an entry of a chunk adds cells for its
 * stripe to the chunk. At that time, some of the chunk's entries are cached and some are not. */
TEST(MemoryCacheStripe, CountsExactlyInCellsThatAreAddedLater)
{
    constexpr int kKeys = 50;
    Harness harness;
    std::vector<cache_entry *> held;
    for (int key = 0; key < kKeys; ++key)
        harness.touch(key);
    for (int key = 0; key < kKeys; key += 3) {
        held.push_back(harness.find(key));
        memory_cache_forget(harness.get(), held.back());
    }
    for (int i = 0; i < 20; ++i) {
        std::thread([&] {
            for (int key = 0; key < kKeys; ++key) {
                cache_entry *entry = harness.find(key);
                ASSERT_EQ(key % 3 == 0, entry == nullptr);
                if (entry != nullptr)
                    cache_entry_release(entry);
            }
            for (cache_entry *entry : held)
                cache_entry_retain(entry);
        }).join();
    }
    EXPECT_EQ(0u, harness.destroyed());
    for (cache_entry *entry : held) {
        for (int i = 0; i < 21; ++i)
            cache_entry_release(entry);
    }
    EXPECT_EQ(held.size(), harness.destroyed());
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(static_cast<size_t>(kKeys), harness.destroyed());
}

/* On a machine with fewer processors than threads, some threads are interrupted in the middle of counting. */
TEST(MemoryCacheStripe, CountsExactlyWhileEntriesComeAndGo)
{
    constexpr int kLives = 2000;
    constexpr unsigned kUsers = 4;
    Harness harness;
    cache_memo memo = {};
    std::atomic<bool> stop{false};
    /* The life of the latest hit. Threads only store it: counting their hits would take so long that they would seldom
     * coincide with an eviction. */
    std::atomic<int> last_hit_life{-1};
    Threads users;

    harness.touch(-1);
    for (unsigned i = 0; i < kUsers; ++i) {
        users.start([&] {
            cache_entry_release(harness.find(-1)); /* the first hit in a stripe adds the stripe's cells */
            while (!stop) {
                cache_entry *entry = cache_memo_lookup(&memo);
                if (entry == nullptr)
                    continue;
                EXPECT_EQ(kAlive, Harness::value_of(entry)->state.load());
                last_hit_life.store(Harness::value_of(entry)->key, std::memory_order_relaxed);
                cache_entry_release(entry);
            }
        });
    }
    for (int life = 0; life < kLives; ++life) {
        harness.touch(life, nullptr, 0, &memo);
        while (last_hit_life.load(std::memory_order_relaxed) != life) {
        }
        cache_entry *entry = harness.find(life);
        memory_cache_forget(harness.get(), entry);
        cache_entry_release(entry);
    }
    stop = true;
    users.join();
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(harness.created(), harness.destroyed());
    EXPECT_EQ(0u, harness.destroyed_twice());
}

TEST(MemoryCacheStripe, CountsInAChildProcess)
{
    Harness harness;
    cache_memo memo = {};
    std::atomic<bool> ready{false};
    std::atomic<bool> stop{false};

    harness.touch(1, nullptr, 0, &memo);
    cache_entry *held = cache_memo_lookup(&memo);
    ASSERT_NE(nullptr, held);
    std::thread user([&] { /* this thread spends most of its time in a hit */
                           cache_entry_release(harness.find(1));
                           for (ready = true; !stop;) {
                               cache_entry *entry = cache_memo_lookup(&memo);
                               ASSERT_NE(nullptr, entry);
                               cache_entry_release(entry);
                           }
    });
    while (!ready)
        sched_yield();
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(0, forked_child::run([&] {
                      cache_entry *entry = cache_memo_lookup(&memo);
                      EXPECT_NE(nullptr, entry);
                      cache_entry_release(entry);
                      memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
                      EXPECT_EQ(0u, harness.destroyed()) << "it is held";
                      return ::testing::Test::HasFailure() ? 1 : 0;
                  }));
    }
    stop = true;
    user.join();
    cache_entry_release(held);
    EXPECT_EQ(0u, harness.destroyed());
}

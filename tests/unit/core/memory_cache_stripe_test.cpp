/*
 * memory_cache_stripe_test.cpp - threads that own a stripe, and count without atomic additions: which threads get one,
 * and that an evicting thread finds their counts, whatever happens to them.
 */
#include "support/cache_harness.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <thread>

using cache_harness::Harness;
using cache_harness::kAlive;

extern "C" {
/* of core/memory_cache/stripe.h, which is C11 */
extern __thread unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));
/* of core/os.h */
void os_barrier_on_all_threads(void);
uint64_t os_now_ns(void);
}

namespace
{

constexpr unsigned kShared = 16;
constexpr unsigned kOwned = 16;
constexpr unsigned kUsesToOwn = 16384;
constexpr unsigned kHitsInSlot = 8192;

bool owns()
{
    return stripe_plus_one > kShared;
}

/* A thread that was joined may still be there, to the system, for a moment. */
void own_in_the_end()
{
    while (!stripe_own())
        sched_yield();
}

/* Threads that do as they are told, and stay. */
class Owner
{
public:
    Owner() : thread_([this] { work(); })
    {
        run([] { own_in_the_end(); });
    }
    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;
    ~Owner()
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

void refuse_membarrier(int error)
{
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

    ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    ASSERT_EQ(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    ASSERT_EQ(-1, syscall(SYS_membarrier, 0, 0, 0));
    ASSERT_EQ(error, errno);
}

/* Each millisecond one, as a profiler has it. */
void be_interrupted_all_the_time()
{
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ASSERT_EQ(0, sigaction(SIGALRM, &action, nullptr));
    const itimerval timer = {{0, 1000}, {0, 1000}};
    ASSERT_EQ(0, setitimer(ITIMER_REAL, &timer, nullptr));
}

/* Ends the process, in a test that runs in one of its own. */
[[noreturn]] void exit_with_result()
{
    _exit(::testing::Test::HasFailure() ? 1 : 0);
}

void expect_good_end_of_child(pid_t child)
{
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
}

/* What two threads hold is destroyed when the second of them lets go, not before. */
void expect_exact_counts(Harness *harness, Owner *first, Owner *second)
{
    cache_entry *held[3] = {};
    cache_memo memo = {};

    harness->touch(1, nullptr, 0, &memo);
    const size_t before = harness->destroyed();
    first->run([&] { held[0] = memory_cache_recall(harness->get(), &memo); });
    second->run([&] { held[1] = memory_cache_recall(harness->get(), &memo); });
    first->run([&] { held[2] = memory_cache_recall(harness->get(), &memo); });
    memory_cache_clear(harness->get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(nullptr, memory_cache_recall(harness->get(), &memo));
    for (cache_entry *entry : held) {
        ASSERT_NE(nullptr, entry);
        EXPECT_EQ(before, harness->destroyed());
        second->run([&] { cache_entry_release(entry); });
    }
    EXPECT_EQ(before + 1, harness->destroyed());
    EXPECT_EQ(0u, harness->destroyed_twice());
}

} /* namespace */

TEST(MemoryCacheStripe, IsOwnedAfterMuchUse)
{
    Harness harness;
    std::thread([&] {
        cache_memo memo = {};
        harness.touch(1, nullptr, 0, &memo);
        for (unsigned i = 0; i + 1 < kUsesToOwn; ++i)
            ASSERT_TRUE(harness.touch(1, nullptr, 0, &memo));
        EXPECT_FALSE(owns());
        ASSERT_TRUE(harness.touch(1, nullptr, 0, &memo));
        EXPECT_TRUE(owns());
        for (unsigned i = 0; i < 10; ++i)
            ASSERT_TRUE(harness.touch(1, nullptr, 0, &memo));
    }).join();
    EXPECT_EQ(kUsesToOwn + 10, harness.counts().hits);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(kUsesToOwn + 10, harness.counts().hits);
    EXPECT_EQ(1u, harness.destroyed());
}

TEST(MemoryCacheStripe, LosesNoHitWhenASlotIsFull)
{
    constexpr unsigned kHits = 5 * kHitsInSlot + 3;
    Harness harness;
    std::thread([&] {
        cache_memo memo = {};
        own_in_the_end();
        harness.touch(1, nullptr, 0, &memo);
        for (unsigned i = 0; i < kHits; ++i)
            ASSERT_TRUE(harness.touch(1, nullptr, 0, &memo));
    }).join();
    EXPECT_EQ(kHits, harness.counts().hits);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(kHits, harness.counts().hits);
    EXPECT_EQ(1u, harness.destroyed());
}

TEST(MemoryCacheStripe, PassesOnWhenItsOwnerHasEnded)
{
    Harness harness;
    cache_memo memo = {};
    harness.touch(1, nullptr, 0, &memo);
    for (unsigned i = 0; i < 3 * kOwned; ++i) {
        std::thread([&] {
            own_in_the_end();
            EXPECT_TRUE(harness.touch(1, nullptr, 0, &memo));
        }).join();
    }
    EXPECT_EQ(3u * kOwned, harness.counts().hits);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    EXPECT_EQ(1u, harness.destroyed());
}

/* Nothing orders these threads but the stripe itself; ThreadSanitizer watches what they write of it. */
TEST(MemoryCacheStripe, PassesOnBetweenThreadsThatAreNotOrdered)
{
    std::atomic<unsigned> owners{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3 * kOwned; ++i) {
        threads.emplace_back([&] {
            own_in_the_end();
            if (owns())
                owners.fetch_add(1, std::memory_order_relaxed);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(3u * kOwned, owners);
}

TEST(MemoryCacheStripe, IsNotTakenFromTheLiving)
{
    std::vector<std::unique_ptr<Owner>> owners;
    for (unsigned i = 0; i < kOwned; ++i)
        owners.push_back(std::make_unique<Owner>());
    std::thread([] {
        EXPECT_FALSE(stripe_own());
        EXPECT_FALSE(owns());
    }).join();
    owners.pop_back();
    std::thread(own_in_the_end).join();
}

TEST(MemoryCacheStripe, CountsExactly)
{
    Harness harness;
    Owner first;
    Owner second;
    for (int i = 0; i < 100; ++i)
        expect_exact_counts(&harness, &first, &second);
}

TEST(MemoryCacheStripe, KeepsTheOrderOfUseWhenAThreadGetsIt)
{
    Harness harness({2, 0, 0});
    std::thread([&] {
        for (int key : {1, 2, 1, 2, 2, 2})
            harness.touch(key);
        own_in_the_end();
        EXPECT_TRUE(harness.touch(1));
        EXPECT_FALSE(harness.touch(3));
        EXPECT_TRUE(harness.contains(1));
        EXPECT_FALSE(harness.contains(2));
    }).join();
}

/* More threads than processors, so that some are interrupted in the middle of counting. */
TEST(MemoryCacheStripe, CountsExactlyWhileEntriesComeAndGo)
{
    constexpr int kLives = 2000;
    constexpr unsigned kUsers = 4;
    Harness harness;
    cache_memo memo = {};
    std::atomic<bool> stop{false};
    std::atomic<int> last_hit_life{-1}; /* stored, not counted, which would keep the users from meeting the evictions */
    std::vector<std::thread> users;

    for (unsigned i = 0; i < kUsers; ++i) {
        users.emplace_back([&] {
            own_in_the_end();
            while (!stop) {
                cache_entry *entry = memory_cache_recall(harness.get(), &memo);
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
        memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    }
    stop = true;
    for (std::thread &user : users)
        user.join();
    EXPECT_EQ(harness.created(), harness.destroyed());
    EXPECT_EQ(0u, harness.destroyed_twice());
}

TEST(MemoryCacheStripe, StaysOwnedInAChildProcess)
{
    Harness harness;
    cache_memo memo = {};
    harness.touch(1, nullptr, 0, &memo);
    std::thread([&] {
        own_in_the_end();
        cache_entry *held = memory_cache_recall(harness.get(), &memo);
        ASSERT_NE(nullptr, held);
        const pid_t child = fork();
        if (child == 0) {
            EXPECT_TRUE(harness.touch(1, nullptr, 0, &memo));
            memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
            EXPECT_EQ(0u, harness.destroyed());
            cache_entry_release(held);
            EXPECT_EQ(1u, harness.destroyed());
            exit_with_result();
        }
        expect_good_end_of_child(child);
        cache_entry_release(held);
    }).join();
    EXPECT_EQ(0u, harness.destroyed());
}

TEST(MemoryCacheStripe, IsNotWaitedForInAChildProcess)
{
    Harness harness;
    cache_memo memo = {};
    std::atomic<bool> stop{false};

    harness.touch(1, nullptr, 0, &memo);
    std::thread user([&] { /* most of the time in the middle of a hit */
                           own_in_the_end();
                           while (!stop) {
                               cache_entry *entry = memory_cache_recall(harness.get(), &memo);
                               ASSERT_NE(nullptr, entry);
                               cache_entry_release(entry);
                           }
    });
    for (int i = 0; i < 100; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
            exit_with_result();
        }
        expect_good_end_of_child(child);
    }
    stop = true;
    user.join();
}

TEST(MemoryCacheStripeDeathTest, WorksWhereTheBarrierIsRefusedLater)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto work = [] {
        Harness harness;
        Owner first;
        Owner second;
        expect_exact_counts(&harness, &first, &second);
        refuse_membarrier(EPERM);
        expect_exact_counts(&harness, &first, &second);
        exit_with_result();
    };
    EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

TEST(MemoryCacheStripeDeathTest, SleepsLongEnoughForABarrierWhateverSignalsCome)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto work = [] {
        refuse_membarrier(EPERM);
        be_interrupted_all_the_time();
        const uint64_t start = os_now_ns();
        os_barrier_on_all_threads();
        EXPECT_GE(os_now_ns() - start, 20000000u);
        exit_with_result();
    };
    EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

TEST(MemoryCacheStripeDeathTest, IsSharedWhereThereIsNoBarrier)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto work = [] {
        Harness harness;
        cache_memo memo = {};
        refuse_membarrier(ENOSYS);
        EXPECT_FALSE(stripe_own());
        harness.touch(1, nullptr, 0, &memo);
        for (unsigned i = 0; i < 2 * kUsesToOwn; ++i)
            ASSERT_TRUE(harness.touch(1, nullptr, 0, &memo));
        EXPECT_FALSE(owns());
        EXPECT_EQ(2 * kUsesToOwn, harness.counts().hits);
        exit_with_result();
    };
    EXPECT_EXIT(work(), ::testing::ExitedWithCode(0), "");
}

/*
 * Tests turns: which thread of which process makes an artifact, and what the others get.
 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include <atomic>
#include <csignal>
#include <deque>

#include "support/artifact_fixture.h"
#include "support/forked_child.h"
#include "support/store_fixture.h"
#include "support/threads.h"

using artifact_fixture::Cache;
using artifact_fixture::Key;
using artifact_fixture::take;

namespace
{

constexpr uint64_t kForever = INGOT_UNLIMITED;
constexpr int kThreads = 8;

/* Starts a child process, like forked_child::start. If the test's process ends, the child is killed. */
pid_t start_process(const std::function<int()> &work)
{
    return forked_child::start([&] {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return work();
    });
}

/* Numbers that processes share. */
template <typename T> class Shared : NotCopied
{
public:
    Shared()
        : value_(static_cast<std::atomic<T> *>(
              mmap(nullptr, sizeof(std::atomic<T>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
    {
        new (value_) std::atomic<T>(0);
    }
    ~Shared() { munmap(value_, sizeof(*value_)); }
    std::atomic<T> *operator->() { return value_; }
    std::atomic<T> &operator*() { return *value_; }

private:
    std::atomic<T> *value_;
};

/* The result of ingot_artifact_begin. */
struct Begun {
    ingot_status_t status = INGOT_SUCCESS;
    ingot_turn_t turn = nullptr;
    std::string value;
};

Begun begin(Cache *cache, const Key &key, uint64_t max_wait_ms)
{
    Begun begun;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    begun.status = ingot_artifact_begin(cache->get(), key.get(), max_wait_ms, &value, &begun.turn);
    begun.value = take(&value);
    return begun;
}

ingot_status_t finish(ingot_turn_t turn, const std::string &value)
{
    return ingot_turn_finish(turn, nullptr, value.size(), value.data());
}

class ArtifactTurn : public testing::Test
{
protected:
    ArtifactTurn()
    {
        info_.path = path_.c_str();
        info_.lock_timeout_ms = 60000;
    }

    /* Starts a process that begins a turn, opens begun_, and calls `work` with the turn. */
    pid_t start_maker(const std::function<int(Cache *, ingot_turn_t)> &work)
    {
        return start_process([&] {
            Cache cache(info_);
            const Begun begun = begin(&cache, key_, kForever);
            if (begun.turn == nullptr)
                return 100;
            begun_.open();
            return work(&cache, begun.turn);
        });
    }

    const Key key_{"a"};
    const Gate begun_;
    const Gate go_;
    ScratchDirectory scratch_{store_fixture::fast_volume()};
    std::string path_ = (scratch_.path() / "store").string();
    ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
};

} // namespace

TEST_F(ArtifactTurn, OneOfManyThreadsMakesTheArtifact)
{
    Cache cache(info_);
    for (int round = 0; round < 20; ++round) {
        const Key key("round " + std::to_string(round));
        std::atomic<int> made{0};
        in_threads(kThreads, [&](size_t) {
            int count = 0;
            EXPECT_EQ("value", cache.make(key, "value", &count));
            made += count;
        });
        EXPECT_EQ(1, made);
    }
}

TEST_F(ArtifactTurn, OneOfManyProcessesMakesTheArtifact)
{
    constexpr int kProcesses = 6;
    constexpr int kKeys = 10;
    Shared<int> made;
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i)
        children.push_back(start_process([&] {
            Cache cache(info_);
            std::atomic<int> wrong{0};
            in_threads(2, [&](size_t) {
                for (int k = 0; k < kKeys; ++k) {
                    int count = 0;
                    wrong += cache.make(Key("k" + std::to_string(k)), "value", &count) != "value";
                    *made += count;
                }
            });
            return wrong.load();
        }));
    for (const pid_t child : children)
        EXPECT_EQ(0, forked_child::wait_for(child));
    EXPECT_EQ(kKeys, made->load());
}

TEST_F(ArtifactTurn, ATurnEndsInAnyThreadAndWaitersGetTheArtifact)
{
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, 0);
    ASSERT_NE(nullptr, begun.turn);
    Threads waiters;
    std::atomic<int> got{0};
    for (int i = 0; i < kThreads; ++i)
        waiters.start([&] { got += begin(&cache, key_, kForever).value == "made"; });
    std::thread([&] { EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "made")); }).join();
    waiters.join();
    EXPECT_EQ(kThreads, got);
}

TEST_F(ArtifactTurn, ATurnMeasuresTheTimeOfMaking)
{
    Cache cache(info_);
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    EXPECT_EQ(INGOT_SUCCESS, finish(begin(&cache, key_, 0).turn, "made"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_get(cache.get(), key_.get(), &value));
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_get_info(&value, &info));
    EXPECT_NE(0u, info.make_time_ms);
    EXPECT_EQ("made", take(&value));
}

/* Calls begin in another thread, which ends then. */
Begun begin_elsewhere(Cache *cache, const Key &key, uint64_t max_wait_ms)
{
    Begun begun;
    std::thread([&] { begun = begin(cache, key, max_wait_ms); }).join();
    return begun;
}

TEST_F(ArtifactTurn, IsBusyWithoutAWait)
{
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, 0);
    EXPECT_EQ(INGOT_BUSY, begin(&cache, key_, 0).status);
    EXPECT_EQ(INGOT_BUSY, begin_elsewhere(&cache, key_, 20).status);
    Cache same_store(info_);
    EXPECT_EQ(INGOT_BUSY, begin(&same_store, key_, 0).status);
    EXPECT_EQ(INGOT_BUSY, begin_elsewhere(&same_store, key_, 20).status);
    EXPECT_EQ(INGOT_BUSY, forked_child::run([&] {
                  Cache other(info_);
                  const Begun asked = begin(&other, key_, 0);
                  return asked.status == begin(&other, key_, 20).status ? static_cast<int>(asked.status) : 100;
              }));
    const Key other_key("b");
    const Begun other = begin(&cache, other_key, 0);
    EXPECT_EQ(INGOT_SUCCESS, other.status);
    ingot_turn_abandon(other.turn, 1);
    EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "made"));
    EXPECT_EQ("made", begin(&same_store, key_, 0).value);
}

TEST_F(ArtifactTurn, AThreadThatRequestsWhatItMakesIsToldAtOnce)
{
    Cache cache(info_);
    Cache same_store(info_);
    const Begun begun = begin(&cache, key_, kForever);
    ASSERT_NE(nullptr, begun.turn);
    ASSERT_EQ(INGOT_DEADLOCK, begin(&cache, key_, 20).status); /* first, because it ends in any case */
    EXPECT_EQ(INGOT_DEADLOCK, begin(&cache, key_, kForever).status);
    EXPECT_STREQ("this thread requested the artifact that it is making", ingot_last_error_detail());
    ASSERT_EQ(INGOT_DEADLOCK, begin(&same_store, key_, kForever).status);
    /* another store's turn for the same key is a different one */
    info_.path = (path_ += "2").c_str();
    Cache other(info_);
    ingot_turn_abandon(begin(&other, key_, kForever).turn, 1);
    EXPECT_EQ(INGOT_DEADLOCK, begin(&cache, key_, kForever).status);
    /* a turn that a thread began is not that of a later thread */
    const Key key("b");
    const Begun elsewhere = begin_elsewhere(&cache, key, 0);
    EXPECT_EQ(INGOT_BUSY, begin_elsewhere(&cache, key, 1).status);
    ingot_turn_abandon(elsewhere.turn, 1);
    EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "made"));
    EXPECT_EQ("made", begin(&cache, key_, kForever).value);
}

TEST_F(ArtifactTurn, AMakerThatRequestsItsOwnArtifactIsTold)
{
    struct Nested {
        Cache cache;
        const Key &key;
        ingot_status_t inner = INGOT_SUCCESS;
    } nested{Cache(info_), key_};
    const auto make = [](void *user, ingot_artifact_info_t *, ingot_buffer_t *made) {
        auto *at = static_cast<Nested *>(user);
        at->inner = begin(&at->cache, at->key, 20).status;
        *made = {4, reinterpret_cast<const uint8_t *>("made"), nullptr, nullptr};
        return INGOT_SUCCESS;
    };
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_artifact_get_or_create(nested.cache.get(), key_.get(), make, &nested, &value, nullptr));
    EXPECT_EQ(INGOT_DEADLOCK, nested.inner);
    EXPECT_EQ("made", take(&value));
}

TEST_F(ArtifactTurn, AnAbandonedTurnGoesToOneOther)
{
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, 0);
    std::atomic<int> turns{0};
    Threads waiters;
    for (int i = 0; i < kThreads; ++i)
        waiters.start([&] {
            const Begun mine = begin(&cache, key_, kForever);
            if (mine.turn == nullptr) {
                EXPECT_EQ("made", mine.value);
                return;
            }
            ++turns;
            EXPECT_EQ(INGOT_SUCCESS, finish(mine.turn, "made"));
        });
    ingot_turn_abandon(begun.turn, 1);
    waiters.join();
    EXPECT_EQ(1, turns);
}

/* The waiting threads and processes all hold their turns at the same time. */
TEST_F(ArtifactTurn, AUselessTurnWakesAll)
{
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, 0);
    Gate waiting;
    const pid_t child = start_process([&] {
        Cache other(info_);
        waiting.open();
        const Begun mine = begin(&other, key_, kForever);
        begun_.open();
        go_.wait();
        ingot_turn_abandon(mine.turn, 1);
        return mine.turn != nullptr ? 0 : 1;
    });
    waiting.wait();
    Threads waiters;
    for (int i = 0; i < kThreads; ++i)
        waiters.start([&] {
            waiting.open();
            const Begun mine = begin(&cache, key_, kForever);
            EXPECT_NE(nullptr, mine.turn);
            begun_.open();
            go_.wait();
            ingot_turn_abandon(mine.turn, 0);
        });
    for (int i = 0; i < kThreads; ++i)
        waiting.wait();
    ingot_turn_abandon(begun.turn, 0);
    for (int i = 0; i < kThreads + 1; ++i)
        begun_.wait();
    for (int i = 0; i < kThreads + 1; ++i)
        go_.open();
    waiters.join();
    EXPECT_EQ(0, forked_child::wait_for(child));
}

/* Threads and processes that come later do not wait either, although turns of others are open. */
TEST_F(ArtifactTurn, AfterAUselessTurnNobodyWaits)
{
    const auto get_two = [&] {
        Cache cache(info_);
        const Begun first = begin(&cache, key_, 0);
        const Begun second = begin(&cache, key_, kForever);
        begun_.open();
        go_.wait();
        ingot_turn_abandon(first.turn, 1);
        ingot_turn_abandon(second.turn, 1);
        return first.turn != nullptr && second.turn != nullptr ? 0 : 1;
    };
    Cache cache(info_);
    ingot_turn_abandon(begin(&cache, key_, 0).turn, 0);
    std::vector<pid_t> children = {start_process(get_two), start_process(get_two)};
    for (size_t i = 0; i < children.size(); ++i)
        begun_.wait();
    const Begun first = begin(&cache, key_, 0);
    const Begun second = begin(&cache, key_, 0);
    EXPECT_NE(nullptr, first.turn);
    EXPECT_NE(nullptr, second.turn);
    ingot_turn_abandon(first.turn, 1);
    EXPECT_EQ(INGOT_SUCCESS, finish(second.turn, "made"));
    EXPECT_EQ("made", begin(&cache, key_, 0).value);
    for (size_t i = 0; i < children.size(); ++i)
        go_.open();
    for (const pid_t child : children)
        EXPECT_EQ(0, forked_child::wait_for(child));
}

TEST_F(ArtifactTurn, AFailedMakerIsNotCachedAndItsStatusIsReturned)
{
    Cache cache(info_);
    int count = 0;
    EXPECT_EQ("-INGOT_BUILD_FAILED", cache.make(key_, "", &count, INGOT_BUILD_FAILED));
    EXPECT_EQ("-INGOT_BACKEND_ERROR", cache.make(key_, "", &count, INGOT_BACKEND_ERROR));
    EXPECT_EQ("made", cache.make(key_, "made", &count));
    EXPECT_EQ("made", cache.make(key_, "other", &count));
    EXPECT_EQ(3, count);
}

/* The maker has lost its turn, or is stuck. */
TEST_F(ArtifactTurn, AThreadWaitsForAnotherForALimitedTime)
{
    info_.build_wait_ms = 30;
    Cache cache(info_);
    const Begun stuck = begin(&cache, key_, 0);
    const Begun next = begin_elsewhere(&cache, key_, kForever);
    ASSERT_NE(nullptr, next.turn);
    const Begun third = begin_elsewhere(&cache, key_, 0); /* no longer busy for those who poll */
    ASSERT_NE(nullptr, third.turn);
    EXPECT_EQ(INGOT_SUCCESS, finish(next.turn, "next"));
    EXPECT_EQ("next", begin(&cache, key_, 0).value);
    ingot_turn_abandon(third.turn, 1);
    EXPECT_EQ(INGOT_SUCCESS, finish(stuck.turn, "late"));
    EXPECT_EQ("late", cache.load(key_));
}

/* The maker is killed. Exactly one of two waiting processes takes over. */
TEST_F(ArtifactTurn, AKilledMakersTurnPassesOn)
{
    constexpr int kTrials = 25;
    for (int trial = 0; trial < kTrials; ++trial) {
        const Key key("trial " + std::to_string(trial));
        Shared<int> takeovers;
        const pid_t maker = start_process([&] {
            Cache cache(info_);
            const Begun begun = begin(&cache, key, kForever);
            begun_.open();
            go_.wait(); /* until it is killed */
            return begun.turn != nullptr ? 1 : 2;
        });
        begun_.wait();
        std::vector<pid_t> waiters;
        for (int i = 0; i < 2; ++i)
            waiters.push_back(start_process([&] {
                Cache cache(info_);
                begun_.open();
                int count = 0;
                const bool is_right = cache.make(key, "made", &count) == "made";
                *takeovers += count;
                return is_right ? 0 : 1;
            }));
        begun_.wait();
        begun_.wait();
        kill(maker, SIGKILL);
        EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(maker));
        for (const pid_t waiter : waiters)
            EXPECT_EQ(0, forked_child::wait_for(waiter));
        EXPECT_EQ(1, takeovers->load());
    }
}

TEST_F(ArtifactTurn, AStoppedMakerCostsABoundedTime)
{
    const pid_t maker = start_maker([&](Cache *, ingot_turn_t turn) {
        go_.wait();
        return finish(turn, "late") == INGOT_SUCCESS ? 0 : 1;
    });
    begun_.wait();
    kill(maker, SIGSTOP);
    int status = 0;
    ASSERT_EQ(maker, waitpid(maker, &status, WUNTRACED));
    info_.build_wait_ms = 30;
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, kForever);
    ASSERT_NE(nullptr, begun.turn);
    EXPECT_EQ(1u, cache.stats().wait_timeouts);
    EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "made"));
    EXPECT_EQ("made", cache.load(key_));
    kill(maker, SIGCONT);
    go_.open();
    EXPECT_EQ(0, forked_child::wait_for(maker));
    EXPECT_EQ("late", cache.load(key_));
}

/* One thread polls many keys in turn, or one with short waits, as one that must return often. All its waits for a key
 * count as one, and the age of a wait does not depend on the others. */
TEST_F(ArtifactTurn, ShortWaitsForManyKeysOfAStoppedMakerEnd)
{
    constexpr size_t kKeys = 100;
    constexpr int kRounds = 1000; /* far more than the limit takes */
    std::deque<Key> keys;
    for (size_t i = 0; i <= kKeys; ++i)
        keys.emplace_back("key " + std::to_string(i));
    const pid_t maker = start_process([&] {
        Cache cache(info_);
        bool has_all = true;
        for (const Key &key : keys)
            has_all = has_all && begin(&cache, key, 0).turn != nullptr;
        begun_.open();
        go_.wait();
        return has_all ? 0 : 1;
    });
    begun_.wait();
    kill(maker, SIGSTOP);
    info_.build_wait_ms = 30;
    Cache cache(info_);
    std::map<size_t, ingot_turn_t> turns;
    const auto poll = [&](size_t first, size_t end, uint64_t wait_ms) {
        for (int round = 0; round < kRounds && turns.size() < end; ++round)
            for (size_t i = first; i < end; ++i)
                if (turns.count(i) == 0)
                    if (const Begun begun = begin(&cache, keys[i], wait_ms); begun.turn != nullptr)
                        turns[i] = begun.turn;
    };
    poll(0, kKeys, 0);
    poll(kKeys, kKeys + 1, 2);
    EXPECT_EQ(keys.size(), turns.size());
    for (const auto &each : turns)
        ingot_turn_abandon(each.second, 1);
    kill(maker, SIGCONT);
    go_.open();
    EXPECT_EQ(0, forked_child::wait_for(maker));
}

TEST_F(ArtifactTurn, AForkedChildDoesNotOwnItsParentsTurns)
{
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, 0);
    EXPECT_EQ(0, forked_child::run([&] {
                  ingot_turn_abandon(begun.turn, 1);
                  return 0;
              }));
    EXPECT_EQ(INGOT_BUSY, begin(&cache, key_, 0).status);
    EXPECT_EQ(INGOT_BUSY, forked_child::run([&] {
                  Cache own(info_);
                  return static_cast<int>(begin(&own, key_, 0).status);
              }));
    /* with its parent's cache, the child makes what it needs, and stores nothing */
    EXPECT_EQ(0, forked_child::run([&] {
                  int count = 0;
                  (void)finish(begun.turn, "child's");
                  return cache.make(key_, "child's", &count) == "child's" && count == 1 ? 0 : 1;
              }));
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(key_));
    EXPECT_EQ(INGOT_BUSY, begin(&cache, key_, 0).status);
    EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "parent's"));
    EXPECT_EQ("parent's", cache.load(key_));
}

/* A process that forks and dies leaves a child behind, which does not keep the turn. */
TEST_F(ArtifactTurn, AForkedChildDoesNotKeepItsDeadParentsTurn)
{
    Shared<pid_t> grandchild;
    Gate forked;
    const pid_t maker = start_maker([&](Cache *, ingot_turn_t) {
        *grandchild = start_process([&] {
            prctl(PR_SET_PDEATHSIG, 0);
            forked.open();
            go_.wait();
            return 0;
        });
        pause();
        return 0;
    });
    begun_.wait();
    forked.wait();
    kill(maker, SIGKILL);
    EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(maker));
    Cache cache(info_);
    const Begun begun = begin(&cache, key_, kForever);
    EXPECT_NE(nullptr, begun.turn);
    EXPECT_EQ(0u, cache.stats().wait_timeouts);
    ingot_turn_abandon(begun.turn, 1);
    go_.open();
}

TEST_F(ArtifactTurn, ThreadsWithAStoreThatIsOffDoNotWait)
{
    Cache cache(info_);
    ASSERT_EQ(INGOT_SUCCESS, set_setting(cache.storage(), &ingot_persist_settings_t::is_off, 1));
    const Begun first = begin(&cache, key_, 0);
    const Begun second = begin(&cache, key_, 0);
    EXPECT_NE(nullptr, first.turn);
    EXPECT_NE(nullptr, second.turn);
    EXPECT_EQ(INGOT_READ_ONLY, finish(first.turn, "x"));
    ingot_turn_abandon(second.turn, 1);
}

/* ---- machines ---- */

namespace
{

/* A server that other machines share. It gives one lease. */
struct Server : Kept {
    bool is_leased = false;
    std::atomic<bool> is_failing{false};
    const Gate asked; /* for a load that fails */
    const Gate fails;
    std::vector<int> lease_ends;

    static ingot_status_t load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
    {
        auto *server = static_cast<Server *>(self);
        if (!server->is_failing)
            return Kept::load(self, id_size, id, blob);
        server->asked.open();
        server->fails.wait();
        return INGOT_IO_ERROR;
    }
    static ingot_lease_answer_t take_lease(void *self, size_t id_size, const uint8_t *id, void **lease)
    {
        auto *server = static_cast<Server *>(self);
        const std::lock_guard<std::mutex> guard(server->mutex);
        if (server->blobs.count({id, id + id_size}) != 0)
            return INGOT_LEASE_STORED;
        if (server->is_leased)
            return INGOT_LEASE_BUSY;
        server->is_leased = true;
        *lease = &server->lease_ends;
        return INGOT_LEASE_TAKEN;
    }
    static void end_lease(void *self, void *, int may_others_take)
    {
        auto *server = static_cast<Server *>(self);
        const std::lock_guard<std::mutex> guard(server->mutex);
        server->is_leased = false;
        server->lease_ends.push_back(may_others_take);
    }
    /* The storage of a machine: a store of its own in front of the server. */
    HeldStorage machine(const std::string &path)
    {
        ingot_storage_ops_t ops = operations();
        ops.load = load;
        ops.take_lease = take_lease;
        ops.end_lease = end_lease;
        const HeldStorage own = open_directory(path);
        const HeldStorage shared = open(ops);
        EXPECT_EQ(INGOT_SUCCESS, set_setting(shared.get(), &ingot_persist_settings_t::write_through, 1));
        return chain_of({own.get(), shared.get()});
    }
};

} // namespace

TEST_F(ArtifactTurn, AThreadWhoseServerFailsFindsWhatWasStoredMeanwhile)
{
    Server server;
    Cache cache(server.machine(path_));
    const Begun begun = begin(&cache, key_, 0);
    server.is_failing = true;
    std::thread late([&] { EXPECT_EQ("made", begin(&cache, key_, kForever).value); });
    server.asked.wait();
    EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "made"));
    server.fails.open();
    late.join();
}

TEST_F(ArtifactTurn, AnAbandonedLeaseSaysWhetherOthersMayTakeIt)
{
    Server server;
    Cache cache(server.machine(path_));
    ingot_turn_abandon(begin(&cache, key_, 0).turn, 1);
    ingot_turn_abandon(begin(&cache, key_, 0).turn, 0);
    EXPECT_EQ((std::vector<int>{1, 0}), server.lease_ends);
}

/* A storage without locks still has one maker per process. */
TEST_F(ArtifactTurn, ThreadsWaitForEachOtherWithAnyStorage)
{
    Kept server;
    Cache cache(server.open());
    const Begun begun = begin(&cache, key_, 0);
    EXPECT_EQ(INGOT_BUSY, begin(&cache, key_, 0).status);
    std::thread waiter([&] { EXPECT_EQ("made", begin(&cache, key_, kForever).value); });
    EXPECT_EQ(INGOT_SUCCESS, finish(begun.turn, "made"));
    waiter.join();
    const Key other("b");
    ingot_turn_abandon(begin(&cache, other, 0).turn, 0);
    const Begun two[] = {begin(&cache, other, 0), begin(&cache, other, 0)};
    for (const Begun &each : two) {
        EXPECT_NE(nullptr, each.turn);
        ingot_turn_abandon(each.turn, 1);
    }
}

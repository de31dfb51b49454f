/*
 * Tests prewarming: what is loaded ahead, which requests get it, what ends it, and that it never compiles.
 */
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <numeric>
#include <random>
#include <thread>

#include <ingot/prewarm.h>

#include "support/failing_allocator.h"
#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

using Prewarm = Handle<ingot_prewarm_t, ingot_prewarm_release>;

class PersistPrewarm : public testing::Test
{
protected:
    Store &store() { return *store_; }

    ingot_persist_info_t store_info() const
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root_.c_str();
        info.store_mode = INGOT_PERSIST_STORE_NOW;
        return info;
    }

    /* Records a previous run, which requested numbered programs. */
    void SetUp() override { record(12); }

    void record(int count)
    {
        Store first(store_info());
        ingot_persist_record_info_t info = INGOT_PERSIST_RECORD_INFO_INIT;
        info.path = manifest_.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_record(first.get(), &info));
        Session session;
        for (int number = 0; number < count; ++number)
            session.create(session.describe(numbered_source(number)), first);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(first.get()));
    }

    ingot_prewarm_info_t info(uint32_t thread_count = 1)
    {
        ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
        info.manifest = manifest_.c_str();
        info.thread_count = thread_count;
        return info;
    }

    Prewarm start(const Session &session, const ingot_prewarm_info_t &info)
    {
        ingot_prewarm_t prewarm = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_start(&prewarm, session.context.get(), store().get(), &info))
            << ingot_last_error_detail();
        return Prewarm(prewarm);
    }

    static ingot_prewarm_progress_t wait(const Prewarm &prewarm)
    {
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm.get(), &progress));
        return progress;
    }

    static ingot_prewarm_progress_t progress_of(const Prewarm &prewarm)
    {
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_get_progress(prewarm.get(), &progress));
        return progress;
    }

    ScratchDirectory scratch_;
    std::string root_ = (scratch_.path() / "store").string();
    std::string manifest_ = (scratch_.path() / "manifest").string();
    std::unique_ptr<Store> store_ = std::make_unique<Store>(store_info());
};

/* A gate that holds a driver's loads until it is opened. */
class Gate
{
public:
    void open()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    void pass()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
    }
    void wait_for_arrival(int count = 1)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return arrived_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
    int arrived_ = 0;
};

} // namespace

TEST_F(PersistPrewarm, LoadsWhatThePreviousRunAskedFor)
{
    Session session;
    const Prewarm prewarm = start(session, info(3));
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(INGOT_PREWARM_COMPLETE, progress.state);
    EXPECT_EQ(INGOT_SUCCESS, progress.manifest_status);
    EXPECT_EQ(12u, progress.total);
    EXPECT_EQ(12u, progress.done);
    EXPECT_EQ(12u, progress.loaded);
    EXPECT_EQ(12u, session.counts.loads);
    EXPECT_EQ(0u, stats_of(session.context).programs);
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_PREWARM, INGOT_SUCCESS));
    for (int number = 0; number < 12; ++number) {
        const Desc desc = session.describe(numbered_source(number));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
        EXPECT_EQ(INGOT_ORIGIN_MEMORY, session.create(desc, store()));
    }
    EXPECT_EQ(12u, session.counts.loads);
    EXPECT_EQ(0u, session.counts.builds);
    EXPECT_EQ(12u, progress_of(prewarm).taken);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store().get()));
    EXPECT_EQ(0u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
}

TEST_F(PersistPrewarm, GivesItsProgramsToTheGroupOfWhoAsks)
{
    Session session;
    const Prewarm prewarm = start(session, info());
    wait(prewarm);
    const Desc desc = session.describe(numbered_source(3), 0, "3x224x224");
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
    EXPECT_EQ(1u, stats_of(session.context).groups);
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(session.context.get(), "3x224x224"));
    EXPECT_EQ(0u, stats_of(session.context).programs);
    EXPECT_EQ(12u, session.counts.loads);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
    EXPECT_EQ(13u, session.counts.loads) << "it was given once";
}

TEST_F(PersistPrewarm, WhoAsksWaitsForThatOneLoadOnly)
{
    Session session;
    Gate gate;
    std::atomic<bool> is_first{true};
    session.hook = [&](const char *operation) {
        if (std::string(operation) == "load" && is_first.exchange(false))
            gate.pass();
        return INGOT_SUCCESS;
    };
    const Desc loading = session.describe(numbered_source(0));
    const Desc later = session.describe(numbered_source(7));
    std::thread::id asking;
    session.on_event = [&](const ingot_event_t &event) {
        if (event.kind == INGOT_EVENT_MISS && std::this_thread::get_id() == asking)
            gate.open();
    };
    const Prewarm prewarm = start(session, info());
    gate.wait_for_arrival();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(later, store())) << "its turn had not come";
    EXPECT_EQ(1u, progress_of(prewarm).overtaken);
    EXPECT_EQ(0u, progress_of(prewarm).loaded);
    asking = std::this_thread::get_id(); /* the next miss opens the gate */
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(loading, store()));
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(12u, session.counts.loads) << "nothing was loaded twice";
    EXPECT_EQ(11u, progress.loaded);
    EXPECT_EQ(1u, progress.taken);
    EXPECT_EQ(0u, session.counts.builds);
}

TEST_F(PersistPrewarm, EndsInTheMiddleWhenItsCallbackSaysSo)
{
    Session session;
    ingot_prewarm_info_t wanted = info();
    wanted.on_progress = [](const ingot_prewarm_progress_t *progress, void *) { return progress->loaded < 3 ? 1 : 0; };
    const Prewarm prewarm = start(session, wanted);
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(INGOT_PREWARM_CANCELLED, progress.state);
    EXPECT_EQ(3u, progress.loaded);
    EXPECT_EQ(3u, progress.done);
    EXPECT_EQ(3u, session.counts.loads);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(numbered_source(2)), store()));
    EXPECT_EQ(3u, session.counts.loads);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(numbered_source(3)), store()));
    EXPECT_EQ(4u, session.counts.loads);
}

TEST_F(PersistPrewarm, CancellingWaitsForTheLoadThatGoesOnAndForNoOther)
{
    Session session;
    Gate gate;
    session.hook = [&](const char *operation) {
        if (std::string(operation) == "load")
            gate.pass();
        return INGOT_SUCCESS;
    };
    const Prewarm prewarm = start(session, info(2));
    gate.wait_for_arrival(2);
    std::thread canceller([&] { EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_cancel(prewarm.get())); });
    while (progress_of(prewarm).state != INGOT_PREWARM_CANCELLED)
        std::this_thread::yield();
    gate.open();
    canceller.join();
    EXPECT_EQ(2u, session.counts.loads);
    EXPECT_EQ(2u, progress_of(prewarm).loaded);
    EXPECT_EQ(INGOT_PREWARM_CANCELLED, wait(prewarm).state);
}

TEST_F(PersistPrewarm, CallbacksCanCancelAndCannotWait)
{
    Session session;
    struct Known {
        std::atomic<ingot_prewarm_t> prewarm{nullptr};
        std::atomic<int> calls{0};
    } known_calls;
    ingot_prewarm_info_t wanted = info();
    wanted.on_progress_user = &known_calls;
    wanted.on_progress = [](const ingot_prewarm_progress_t *, void *user) {
        auto *known = static_cast<Known *>(user);
        while (known->prewarm == nullptr)
            std::this_thread::yield();
        EXPECT_EQ(INGOT_BUSY, ingot_prewarm_wait(known->prewarm, nullptr));
        EXPECT_EQ(INGOT_BUSY, ingot_prewarm_cancel(known->prewarm));
        ++known->calls;
        return 1;
    };
    const Prewarm prewarm = start(session, wanted);
    known_calls.prewarm = prewarm.get();
    EXPECT_EQ(INGOT_PREWARM_CANCELLED, wait(prewarm).state);
    EXPECT_EQ(1, known_calls.calls);
}

TEST_F(PersistPrewarm, AnEventsCallbackMayAskForWhatIsLoading)
{
    Session session;
    std::atomic<int> asked{0};
    const Desc desc = session.describe(numbered_source(0));
    session.on_event = [&](const ingot_event_t &event) {
        if (event.kind == INGOT_EVENT_STORAGE_LOAD && asked.fetch_add(1) == 0) {
            EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
        }
    };
    const Prewarm prewarm = start(session, info());
    EXPECT_EQ(12u, wait(prewarm).loaded);
    EXPECT_EQ(13u, session.counts.loads);
}

/* A thread that makes a program waits for the prewarm's load of it. In the load's thread, an event callback requests
 * the same program. */
TEST_F(PersistPrewarm, AnEventsCallbackMayAskForWhatSomebodyMakesWhoWaitsForTheLoad)
{
    for (const bool callback_waits_first : {true, false}) {
        Session session;
        const Desc desc = session.describe(numbered_source(0));
        std::atomic<bool> is_loading{false};
        std::atomic<bool> is_made{false};
        std::atomic<bool> has_asked{false};
        std::atomic<int> answer{-1};
        session.on_event = [&](const ingot_event_t &event) {
            if (event.kind == INGOT_EVENT_MISS && callback_waits_first) {
                is_made = true;
                while (stats_of(session.context).waits == 0) /* the callback below waits for this thread */
                    std::this_thread::yield();
            } else if (event.kind == INGOT_EVENT_MISS) {
                is_made = true;
            } else if (event.kind == INGOT_EVENT_STORAGE_LOAD && !has_asked.exchange(true)) {
                is_loading = true;
                while (!is_made)
                    std::this_thread::yield();
                ingot_program_t program = nullptr;
                answer = ingot_persist_program_create(&program, desc.get(), store().get(), nullptr);
                ingot_program_release(program);
            }
        };
        const Prewarm prewarm = start(session, info());
        while (!is_loading)
            std::this_thread::yield();
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
        EXPECT_EQ(12u, wait(prewarm).loaded);
        if (callback_waits_first) {
            EXPECT_EQ(INGOT_SUCCESS, answer);
            EXPECT_EQ(13u, session.counts.loads) << "who made it did not wait and loaded it by itself";
        } else {
            EXPECT_TRUE(answer == INGOT_SUCCESS || answer == INGOT_INVALID_ARGUMENTS) << answer;
        }
        EXPECT_EQ(0u, session.counts.builds);
    }
}

/* A builder waits for the end of a prewarm, while one of the prewarm's threads waits for that builder. */
TEST_F(PersistPrewarm, CannotBeWaitedForByABuilderThatItWaitsFor)
{
    Session session;
    const Desc desc = session.describe(numbered_source(0));
    struct Known {
        std::atomic<ingot_prewarm_t> prewarm{nullptr};
        const Session *session;
    } known{{nullptr}, &session};
    std::atomic<bool> has_asked{false};
    session.on_event = [&](const ingot_event_t &event) {
        if (event.kind != INGOT_EVENT_STORAGE_LOAD || has_asked.exchange(true))
            return;
        while (stats_of(session.context).misses == 0)
            std::this_thread::yield();
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_create(&program, desc.get()));
        ingot_program_release(program);
    };
    const Prewarm prewarm = start(session, info());
    known.prewarm = prewarm.get();
    const ingot_program_builder_t build = [](ingot_program_t *program, const_ingot_program_desc_t wanted, void *user) {
        auto *self = static_cast<Known *>(user);
        while (stats_of(self->session->context).waits == 0)
            std::this_thread::yield();
        EXPECT_EQ(INGOT_BUSY, ingot_prewarm_wait(self->prewarm, nullptr));
        return ingot_program_build(program, wanted);
    };
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_or_create(&program, desc.get(), build, &known));
    ingot_program_release(program);
    EXPECT_EQ(12u, wait(prewarm).loaded);
}

TEST_F(PersistPrewarm, KeepsItsLimitOfBytes)
{
    Session measured;
    const uint64_t all = wait(start(measured, info())).bytes;
    Session session;
    ingot_prewarm_info_t wanted = info();
    wanted.max_bytes = all / 2;
    const Prewarm prewarm = start(session, wanted);
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(INGOT_PREWARM_OUT_OF_BYTES, progress.state);
    EXPECT_LE(progress.bytes, wanted.max_bytes);
    EXPECT_GT(progress.loaded, 3u);
    EXPECT_LT(progress.loaded, 12u);
    EXPECT_EQ(progress.loaded, session.counts.loads);
    for (int number = 0; number < 12; ++number)
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(numbered_source(number)), store()));
    EXPECT_EQ(12u, session.counts.loads);
}

TEST_F(PersistPrewarm, KeepsItsLimitOfTime)
{
    Session session;
    ingot_prewarm_info_t wanted = info();
    wanted.max_time_ns = 1;
    const Prewarm prewarm = start(session, wanted);
    EXPECT_EQ(INGOT_PREWARM_OUT_OF_TIME, wait(prewarm).state);
    EXPECT_EQ(0u, session.counts.loads);
}

TEST_F(PersistPrewarm, SkipsOneThatIsMissingAndOneThatIsDamaged)
{
    Session session;
    const Desc missing = session.describe(numbered_source(4));
    const Desc damaged = session.describe(numbered_source(5));
    ASSERT_EQ(INGOT_SUCCESS, store().remove(id_of(missing)));
    ASSERT_EQ(INGOT_SUCCESS, store().put(id_of(damaged), bytes_of("sound for the store, no blob for the core")));
    const Prewarm prewarm = start(session, info(2));
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(INGOT_PREWARM_COMPLETE, progress.state);
    EXPECT_EQ(10u, progress.loaded);
    EXPECT_EQ(1u, progress.missing);
    EXPECT_EQ(1u, progress.failed);
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_NOT_FOUND));
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_LOAD, INGOT_BLOB_CORRUPT));
    EXPECT_EQ(0u, session.counts.builds);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(missing, store()));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(damaged, store()));
}

TEST_F(PersistPrewarm, SkipsAtOnceWhatIsOfAnotherDriver)
{
    Session session(false, "2");
    const Prewarm prewarm = start(session, info());
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(12u, progress.stale);
    EXPECT_EQ(0u, session.counts.loads);
    EXPECT_EQ(0u, session.counts.builds);
    EXPECT_EQ(0u, session.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_SUCCESS));
    EXPECT_EQ(12u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BLOB_STALE));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(0)), store()));
}

TEST_F(PersistPrewarm, AManifestThatIsDamagedIsAnEventAndAMissingOneIsNot)
{
    Bytes bad = read_file(manifest_);
    bad[100] ^= 1;
    write_file(manifest_, bad);
    Session session;
    const Prewarm prewarm = start(session, info());
    ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, progress.manifest_status);
    EXPECT_EQ(INGOT_PREWARM_COMPLETE, progress.state);
    EXPECT_EQ(0u, progress.total);
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BLOB_CORRUPT));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(numbered_source(0)), store()));
    fs::remove(manifest_);
    progress = wait(start(session, info()));
    EXPECT_EQ(INGOT_NOT_FOUND, progress.manifest_status);
    EXPECT_EQ(0u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NOT_FOUND)) << "so it is in a first run";
}

TEST_F(PersistPrewarm, LetsGoOfWhatNobodyAskedFor)
{
    Session session;
    Prewarm prewarm = start(session, info(2));
    wait(prewarm);
    Program kept;
    session.create(session.describe(numbered_source(1)), store(), &kept);
    EXPECT_EQ(12, session.counts.live_programs);
    prewarm.reset();
    EXPECT_EQ(1, session.counts.live_programs);
    EXPECT_EQ(42, run(create_kernel(kept, "twice"), 21));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(session.context.get(), nullptr));
    kept.reset();
    EXPECT_EQ(0, session.counts.live_programs);
}

TEST_F(PersistPrewarm, HoldsItsStorageAndContext)
{
    auto session = std::make_unique<Session>();
    Prewarm prewarm = start(*session, info(2));
    session->context.reset();
    store_.reset();
    EXPECT_EQ(12u, wait(prewarm).loaded);
    EXPECT_EQ(0u, session->counts.states_destroyed);
    prewarm.reset();
    EXPECT_EQ(1u, session->counts.states_destroyed);
}

TEST_F(PersistPrewarm, ServesEachContextByItsOwn)
{
    Session first;
    Session second;
    const Prewarm one = start(first, info());
    const Prewarm other = start(second, info(2));
    wait(one);
    wait(other);
    for (int number = 0; number < 12; ++number) {
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, first.create(first.describe(numbered_source(number)), store()));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, second.create(second.describe(numbered_source(number)), store()));
    }
    EXPECT_EQ(12u, first.counts.loads);
    EXPECT_EQ(12u, second.counts.loads);
    EXPECT_EQ(12u, progress_of(one).taken);
    EXPECT_EQ(12u, progress_of(other).taken);
}

TEST_F(PersistPrewarm, NothingIsLoadedTwiceWhenThreadsAskMeanwhile)
{
    constexpr int kPrograms = 60;
    record(kPrograms);
    Session session;
    std::vector<Desc> descs;
    for (int number = 0; number < kPrograms; ++number)
        descs.push_back(session.describe(numbered_source(number)));
    const Prewarm prewarm = start(session, info(4));
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 8; ++seed)
        threads.emplace_back([&, seed] {
            std::vector<size_t> order(kPrograms);
            std::iota(order.begin(), order.end(), 0u);
            std::shuffle(order.begin(), order.end(), std::mt19937(seed));
            for (const size_t number : order)
                EXPECT_NE(INGOT_ORIGIN_BUILD, session.create(descs[number], store()));
        });
    for (std::thread &thread : threads)
        thread.join();
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(static_cast<uint64_t>(kPrograms), session.counts.loads);
    EXPECT_EQ(static_cast<uint64_t>(kPrograms), progress.taken + progress.overtaken);
    EXPECT_EQ(0u, session.counts.builds);
}

TEST_F(PersistPrewarm, MayBeReleasedWhileThreadsAsk)
{
    for (int round = 0; round < 20; ++round) {
        Session session;
        Prewarm prewarm = start(session, info(3));
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&, thread] {
                for (int number = 0; number < 12; ++number)
                    session.create(session.describe(numbered_source((number + 3 * thread) % 12)), store());
            });
        prewarm.reset();
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_EQ(0u, session.counts.builds);
    }
}

TEST_F(PersistPrewarm, IsOverInAForkedChild)
{
    Session session;
    Gate gate;
    session.hook = [&](const char *operation) {
        if (std::string(operation) == "load")
            gate.pass();
        return INGOT_SUCCESS;
    };
    Prewarm prewarm = start(session, info(2));
    gate.wait_for_arrival(2);
    const pid_t child = fork();
    if (child == 0) {
        session.hook = nullptr;
        const uint64_t loads = session.counts.loads;
        /* In the parent, the load of this program hangs. */
        session.create(session.describe(numbered_source(0)), store());
        const ingot_status_t status = ingot_prewarm_cancel(prewarm.get());
        prewarm.reset();
        _exit(status == INGOT_SUCCESS && session.counts.loads == loads + 1 && !HasFailure() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    gate.open();
    EXPECT_EQ(12u, wait(prewarm).loaded);
}

TEST_F(PersistPrewarm, EveryFailedAllocationIsClean)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n, true);
        ingot_storage_t storage = nullptr;
        ingot_persist_info_t open = store_info();
        open.allocator = allocator.table();
        ingot_status_t status = ingot_persist_open(&storage, &open);
        if (status == INGOT_SUCCESS) {
            Session session;
            const ingot_prewarm_info_t wanted = info();
            ingot_prewarm_t prewarm = nullptr;
            status = ingot_prewarm_start(&prewarm, session.context.get(), storage, &wanted);
            if (status == INGOT_SUCCESS) {
                EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm, nullptr));
            }
            ingot_prewarm_release(prewarm);
            ingot_storage_release(storage);
            EXPECT_EQ(0u, session.counts.builds);
        }
        ASSERT_EQ(0u, allocator.live_count()) << n;
        ASSERT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY) << n << ": " << status;
        if (!allocator.failed())
            return;
    }
}

TEST_F(PersistPrewarm, RefusesMalformedArguments)
{
    Session session;
    ingot_prewarm_t prewarm = nullptr;
    ingot_prewarm_info_t wanted = info();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(nullptr, session.context.get(), store().get(), &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, nullptr, store().get(), &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, session.context.get(), nullptr, &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, session.context.get(), store().get(), nullptr));
    wanted.thread_count = 65;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, session.context.get(), store().get(), &wanted));
    wanted = info();
    wanted.manifest = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, session.context.get(), store().get(), &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_wait(nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_cancel(nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_get_progress(nullptr, nullptr));
    const Prewarm running = start(session, info());
    ingot_prewarm_progress_t unset{};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_wait(running.get(), &unset));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_get_progress(running.get(), &unset));
    EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(running.get(), nullptr));
    ingot_prewarm_release(nullptr);
}

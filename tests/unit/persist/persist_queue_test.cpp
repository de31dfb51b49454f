/*
 * Tests the queue of programs to store, and the thread of a storage, which stores them at a flush with a time limit:
 * neither a fork nor an exit hangs, and exit() finds no thread of Ingot in a driver.
 */
#include <gtest/gtest.h>
#include <ingot/directory.h>
#include <ingot/private/recipe.h>
#include <ingot/recipe.h>
#include <ingot/trust.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "support/forked_child.h"
#include "support/own_storage.h"
#include "support/reference_context.h"
#include "support/storage_settings.h"
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

/* An empty storage. Threads that store in it wait until its gate is open. */
class GatedStorage
{
public:
    explicit GatedStorage(ingot_status_t result = INGOT_SUCCESS) : result_(result)
    {
        const ingot_storage_ops_t ops = own_storage::operations(store, own_storage::find_nothing, destroy);
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, this));
        ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
        settings.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
        settings.exit_time_ms = 1;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(storage, &settings));
    }
    GatedStorage(const GatedStorage &) = delete;
    GatedStorage &operator=(const GatedStorage &) = delete;
    ~GatedStorage()
    {
        open();
        ingot_storage_release(storage);
    }
    void open()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    void wait_until_someone_waits()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        changed_.wait(guard, [this] { return waiting_ != 0; });
    }
    bool has_nobody_waiting()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return waiting_ == 0;
    }
    size_t stored()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return threads_.size();
    }
    void forget()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        threads_.clear();
    }
    bool all_in_one_other_thread()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return std::set<std::thread::id>(threads_.begin(), threads_.end()).size() == 1 &&
               threads_.front() != std::this_thread::get_id();
    }

    ingot_storage_t storage = nullptr;
    std::function<void()> at_store;
    std::function<void()> at_end;

private:
    static void destroy(void *user)
    {
        auto *self = static_cast<GatedStorage *>(user);
        if (self->at_end)
            self->at_end();
    }
    static ingot_status_t store(void *user, size_t, const uint8_t *, size_t, const uint8_t *)
    {
        auto *self = static_cast<GatedStorage *>(user);
        std::unique_lock<std::mutex> guard(self->mutex_);
        ++self->waiting_;
        self->changed_.notify_all();
        self->changed_.wait(guard, [self] { return self->is_open_; });
        --self->waiting_;
        self->threads_.push_back(std::this_thread::get_id());
        guard.unlock();
        if (self->at_store)
            self->at_store();
        return self->result_;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
    unsigned waiting_ = 0;
    const ingot_status_t result_;
    std::vector<std::thread::id> threads_;
};

/* Flushes with a time limit, so that the storage's thread stores. */
ingot_status_t flush_in_thread(ingot_storage_t storage, uint64_t time_ms = 600000)
{
    ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
    info.max_time_ms = time_ms;
    return ingot_persist_flush(storage, &info, nullptr);
}

class PersistQueue : public testing::Test
{
protected:
    PersistQueue()
    {
        static const char *const targets[] = {"alpha"};
        reference_info_t reference{};
        reference.device_count = 1;
        reference.targets = targets;
        reference.driver_version = "1";
        reference.counts = &counts_;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        ingot_context_t made = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, reference_context_create(&made, &reference, &info));
        context_ = Context(made);
    }
    /* Builds a program that is different for each number. */
    void create(ingot_storage_t storage, int number)
    {
        ProgramText text;
        text.sources = {"kernel twice x 2 *\nkernel n" + std::to_string(number) + " x\n"};
        text.flags = INGOT_PROGRAM_NO_MEMORY_CACHE;
        const Desc desc = text.make(context_);
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, &origin));
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin);
        ingot_program_release(program);
    }

private:
    reference_counts_t counts_{};
    Context context_;
};

} // namespace

TEST_F(PersistQueue, OneThreadStoresThemInTurn)
{
    GatedStorage gated;
    gated.open();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 20; ++i)
            ASSERT_NO_FATAL_FAILURE(create(gated.storage, 20 * round + i));
        EXPECT_EQ(INGOT_SUCCESS, flush_in_thread(gated.storage));
        EXPECT_EQ(20u, gated.stored());
        EXPECT_TRUE(gated.all_in_one_other_thread());
        gated.forget();
    }
}

TEST_F(PersistQueue, FlushTellsTheFirstFailureOnce)
{
    GatedStorage gated(INGOT_NO_SPACE);
    gated.open();
    ASSERT_NO_FATAL_FAILURE(create(gated.storage, 1));
    ASSERT_NO_FATAL_FAILURE(create(gated.storage, 2));
    EXPECT_EQ(INGOT_NO_SPACE, ingot_persist_flush(gated.storage, nullptr, nullptr));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(gated.storage, nullptr, nullptr));
}

TEST_F(PersistQueue, HowManyWaitIsBounded)
{
    GatedStorage gated;
    gated.open();
    for (int i = 0; i < 256; ++i)
        ASSERT_NO_FATAL_FAILURE(create(gated.storage, i));
    EXPECT_EQ(0u, gated.stored());
    ASSERT_NO_FATAL_FAILURE(create(gated.storage, 256));
    EXPECT_EQ(1u, gated.stored());
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(gated.storage, nullptr, nullptr));
    EXPECT_EQ(257u, gated.stored());
}

/* An application may build a program again and again. Each one in the queue would keep a native program. */
TEST_F(PersistQueue, HasAProgramOnce)
{
    GatedStorage gated;
    gated.open();
    for (int i = 0; i < 10; ++i)
        ASSERT_NO_FATAL_FAILURE(create(gated.storage, i % 2));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(gated.storage, nullptr, nullptr));
    EXPECT_EQ(2u, gated.stored());
    ASSERT_NO_FATAL_FAILURE(create(gated.storage, 0)); /* the storage did not keep it */
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(gated.storage, nullptr, nullptr));
    EXPECT_EQ(3u, gated.stored());
}

TEST_F(PersistQueue, TheLastReleaseStoresWhatWaits)
{
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    {
        Store store(root);
        ASSERT_EQ(INGOT_SUCCESS,
                  set_setting(store.get(), &ingot_persist_settings_t::store_mode, INGOT_PERSIST_STORE_ON_FLUSH));
        for (int i = 0; i < 30; ++i)
            ASSERT_NO_FATAL_FAILURE(create(store.get(), i));
        EXPECT_EQ(0u, entries_of(root).size());
    }
    EXPECT_EQ(30u, entries_of(root).size());
}

/* Expects that all functions that look at or change a storage refuse it. */
void expect_refused(ingot_storage_t storage)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
    ingot_recipe_record_info_t recipe = INGOT_RECIPE_RECORD_INFO_INIT;
    ingot_persist_verification_t found = INGOT_PERSIST_VERIFICATION_INIT;
    recipe.path = "/dev/null/none";
    const uint8_t id = 1;
    const ingot_status_t all[] = {
        ingot_persist_get_settings(storage, &settings),
        ingot_persist_set_settings(storage, &settings),
        ingot_persist_get_stats(storage, &stats),
        ingot_persist_set_trust(storage, nullptr),
        ingot_persist_verify(storage, 0, nullptr, nullptr, &found),
        ingot_persist_evict(storage, &limits, nullptr, nullptr),
        ingot_persist_clear(storage),
        ingot_persist_recount(storage, &count),
        ingot_storage_remove(storage, sizeof(id), &id),
        ingot_recipe_record(storage, &recipe),
    };
    for (size_t i = 0; i < std::size(all); ++i)
        EXPECT_EQ(INGOT_READ_ONLY, all[i]) << i;
}

/* Its parent's storage is off, whatever another thread was doing with it at the fork. */
TEST_F(PersistQueue, AForkedChildOpensAnotherStorage)
{
    GatedStorage gated;
    for (int i = 0; i < 3; ++i)
        ASSERT_NO_FATAL_FAILURE(create(gated.storage, i));
    std::thread flushing([&] { EXPECT_EQ(INGOT_SUCCESS, flush_in_thread(gated.storage)); });
    gated.wait_until_someone_waits();
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    auto parents = std::make_unique<Store>(root);
    EXPECT_EQ(0, forked_child::run([&] {
                  const Bytes id(4, 1);
                  if (ingot_persist_flush(gated.storage, nullptr, nullptr) != INGOT_READ_ONLY)
                      return 1;               /* must not wait for the parent's programs */
                  create(parents->get(), 99); /* compiles */
                  if (parents->load(id) != INGOT_NOT_FOUND || strstr(ingot_last_error_detail(), "forked") == nullptr ||
                      parents->put(id, Bytes(9)) != INGOT_READ_ONLY)
                      return 2;
                  expect_refused(parents->get());
                  const ingot_storage_t tier = parents->get();
                  ingot_storage_t chain = nullptr;
                  EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, &tier));
                  EXPECT_EQ(INGOT_READ_ONLY, ingot_recipe_record_waiting(chain, nullptr));
                  ingot_storage_release(chain);
                  const Store own(root);
                  create(own.get(), 100);
                  if (ingot_persist_flush(own.get(), nullptr, nullptr) != INGOT_SUCCESS || entries_of(root).size() != 1)
                      return 3;
                  ingot_storage_release(gated.storage);
                  parents.reset();
                  return testing::Test::HasFailure() ? 4 : 0;
              }));
    gated.open();
    flushing.join();
    EXPECT_EQ(3u, gated.stored());
}

/* As in nested containers, whose first processes all have the id 1. */
TEST_F(PersistQueue, AForkedChildWithTheIdOfItsParentIsAnotherProcess)
{
    const ScratchDirectory scratch;
    const int result = forked_child::run([&] {
        const auto run_as_first = [](const std::function<int()> &work) {
            const bool is_apart = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
            return is_apart ? forked_child::run(work) : 77;
        };
        return run_as_first([&] {
            const Store store(scratch.path() / "store");
            return run_as_first(
                [&] { return getpid() == 1 && store.put(Bytes(4, 1), Bytes(9)) == INGOT_READ_ONLY ? 0 : 1; });
        });
    });
    if (result == 77)
        GTEST_SKIP() << "this machine allows no namespaces of process ids";
    EXPECT_EQ(0, result);
}

TEST_F(PersistQueue, AnExitDoesNotWaitForWhatWaits)
{
    const auto leave_three = [&] {
        auto *gated = new GatedStorage; /* its gate stays closed */
        for (int i = 0; i < 3; ++i)
            create(gated->storage, i);
        std::thread([gated] { (void)flush_in_thread(gated->storage); }).detach();
        gated->wait_until_someone_waits();
    };
    EXPECT_EQ(7, forked_child::run([&] {
                  leave_three();
                  return 7;
              }));
    EXPECT_EQ(0, forked_child::run([&]() -> int {
                  leave_three();
                  std::quick_exit(0);
              }));
}

/* A callback in the storage's thread releases the last reference: here, the store operation, after the flush that
 * started the thread has ended. */
TEST_F(PersistQueue, TheLastReferenceMayBeReleasedInTheStoragesThread)
{
    struct Kept {
        GatedStorage gated;
        std::promise<void> destroyed;
    };
    /* The thread may use these objects after the end of the test, also if the test is repeated. */
    static std::vector<Kept *> &all = *new std::vector<Kept *>;
    all.push_back(new Kept);
    Kept *kept = all.back();
    GatedStorage &gated = kept->gated;
    ASSERT_NO_FATAL_FAILURE(create(gated.storage, 1));
    while (gated.has_nobody_waiting())
        EXPECT_EQ(INGOT_BUSY, flush_in_thread(gated.storage, 1));
    gated.at_store = [kept] { ingot_storage_release(kept->gated.storage); };
    gated.at_end = [kept] { kept->destroyed.set_value(); };
    gated.open();
    kept->destroyed.get_future().wait();
}

/* The same, but the process exits while the thread still works. exit() must not start another thread for the storage,
 * which would destroy it a second time. */
TEST_F(PersistQueue, ExitLeavesAStorageAloneThatEndsInItsOwnThread)
{
    const int result = forked_child::run([&]() -> int {
        static std::atomic<bool> is_released;
        static GatedStorage &gated = *new GatedStorage;
        if (set_setting(gated.storage, &ingot_persist_settings_t::exit_time_ms, 600000) != INGOT_SUCCESS)
            return 1;
        create(gated.storage, 1);
        create(gated.storage, 2);
        while (gated.has_nobody_waiting())
            (void)flush_in_thread(gated.storage, 1);
        gated.at_store = [] {
            const auto count_threads = [] {
                return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
            };
            const auto before = count_threads();
            ingot_storage_release(gated.storage);
            is_released = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(100)); /* long enough for exit() to find it */
            _exit(count_threads() == before ? 7 : 3);
        };
        gated.open();
        while (!is_released)
            std::this_thread::yield();
        std::exit(0);
    });
    EXPECT_EQ(7, result);
}

/* A driver that shuts down in a handler of exit(). Like real drivers, it registers the handler before its first
 * context is made. */
struct ExitingDriver {
    const char *operation = nullptr; /* the driver executes this operation when the process exits */
    std::atomic<int> calls_inside{0};
    std::atomic<int> calls_done{0};
    std::atomic<bool> is_exiting{false};
    reference_counts_t counts{};
    Context context;
    ingot_storage_t storage = nullptr;

    static ExitingDriver *self;
    /* Exits with 7 if at least one call had been made and had ended, no thread was still in the driver, and no new call
     * is made. */
    static void shut_down()
    {
        const int calls_before = self->calls_done;
        const bool is_left_alone = self->calls_inside == 0 && calls_before != 0;
        const ingot_status_t flushed = ingot_persist_flush(self->storage, nullptr, nullptr);
        const bool is_refused = self->calls_done == calls_before && (flushed == INGOT_BUSY || calls_before == 3);
        _exit(!is_left_alone ? 1 : !is_refused ? 2 : 7);
    }
    static ingot_status_t hook(void *, const char *name)
    {
        if (strcmp(name, self->operation) != 0)
            return INGOT_SUCCESS;
        ++self->calls_inside;
        while (!self->is_exiting)
            std::this_thread::yield();
        for (int i = 0; i < 100; ++i)
            std::this_thread::yield(); /* by now, the main thread is in Ingot's handler of exit() */
        ++self->calls_done;
        --self->calls_inside;
        return INGOT_SUCCESS;
    }
    static void create_programs()
    {
        for (int i = 0; i < 3; ++i) {
            ProgramText text;
            text.sources = {"kernel n" + std::to_string(i) + " x\n"};
            ingot_program_t program = nullptr;
            if (ingot_persist_program_create(&program, text.make(self->context).get(), self->storage, nullptr) !=
                INGOT_SUCCESS)
                _exit(4);
            ingot_program_release(program);
        }
    }
    [[noreturn]] static void run(const std::string &root, const char *operation)
    {
        self = new ExitingDriver;
        self->operation = operation;
        std::atexit(shut_down);
        ReferenceDevice device;
        device.hook = hook;
        self->context = device.make();
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root.c_str();
        info.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
        info.exit_time_ms = INGOT_NONE;
        if (ingot_persist_open(&self->storage, &info) != INGOT_SUCCESS)
            _exit(3);
        create_programs();
        std::thread([] { (void)flush_in_thread(self->storage); }).detach();
        while (self->calls_inside == 0)
            std::this_thread::yield();
        /* The destructor is the first function that exit() calls: Ingot's is another thread-local one. */
        struct Leaving {
            ~Leaving() { self->is_exiting = true; }
        };
        static thread_local Leaving leaving;
        (void)leaving;
        std::exit(5);
    }
};
ExitingDriver *ExitingDriver::self;

TEST_F(PersistQueue, AnExitWaitsForWhatIsInTheDriverAndLetsNothingElseIn)
{
    ScratchDirectory scratch;
    const std::string path = scratch.path().string();
    EXPECT_EQ(7, forked_child::run([&]() -> int { ExitingDriver::run(path + "/store", "get_binary"); }));
}

TEST_F(PersistQueue, ACallbackOfTheThreadMayFlush)
{
    struct Flushing {
        ingot_storage_t storage = nullptr;
        std::atomic<int> flush_count{0};
    } flushing;
    ScratchDirectory scratch;
    const std::string path = (scratch.path() / "store").string();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path.c_str();
    info.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    info.on_event = [](const ingot_event_t *event, void *user) {
        auto *self = static_cast<Flushing *>(user);
        if (event->kind == INGOT_EVENT_STORAGE_STORE)
            self->flush_count += ingot_persist_flush(self->storage, nullptr, nullptr) == INGOT_SUCCESS;
    };
    info.on_event_user = &flushing;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open(&flushing.storage, &info));
    ASSERT_NO_FATAL_FAILURE(create(flushing.storage, 1));
    EXPECT_EQ(INGOT_SUCCESS, flush_in_thread(flushing.storage));
    EXPECT_EQ(1, flushing.flush_count);
    ingot_storage_release(flushing.storage);
}

/* A callback flushes while its own thread, or another one, is settings. It must wait for neither. */
TEST_F(PersistQueue, ACallbackOfAThreadThatFlushesMayFlush)
{
    struct Flushing {
        std::atomic<ingot_storage_t> storage{nullptr};
        std::atomic<int> inside{0};
        std::atomic<int> busy_count{0};
        std::atomic<int> flush_count{0};
        int thread_count = 1;
    };
    for (const int thread_count : {1, 2}) {
        Flushing flushing;
        flushing.thread_count = thread_count;
        ScratchDirectory scratch;
        const std::string path = (scratch.path() / "store").string();
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = path.c_str();
        info.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
        info.on_event_user = &flushing;
        info.on_event = [](const ingot_event_t *event, void *user) {
            auto *self = static_cast<Flushing *>(user);
            if (event->kind != INGOT_EVENT_STORAGE_STORE || event->status != INGOT_SUCCESS)
                return;
            for (++self->inside; self->inside < self->thread_count;) /* until each thread is in a callback */
                std::this_thread::yield();
            const ingot_status_t status = ingot_persist_flush(self->storage, nullptr, nullptr);
            EXPECT_TRUE(status == INGOT_SUCCESS || status == INGOT_BUSY) << ingot_status_name(status);
            self->busy_count += status == INGOT_BUSY;
            for (++self->flush_count; self->flush_count < self->thread_count;)
                std::this_thread::yield();
        };
        ingot_storage_t storage = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open(&storage, &info));
        flushing.storage = storage;
        for (int i = 0; i < thread_count; ++i)
            ASSERT_NO_FATAL_FAILURE(create(storage, 10 * thread_count + i));
        std::vector<std::thread> threads;
        for (int i = 0; i < thread_count; ++i)
            threads.emplace_back([&] { EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage, nullptr, nullptr)); });
        for (auto &thread : threads)
            thread.join();
        EXPECT_EQ(thread_count, flushing.flush_count);
        EXPECT_EQ(thread_count == 1 ? 0 : 2, flushing.busy_count) << "another thread was storing";
        ingot_storage_release(storage);
    }
}

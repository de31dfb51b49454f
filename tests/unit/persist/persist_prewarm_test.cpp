/*
 * Tests prewarming: which blobs are read ahead, which loads get them, and what ends it.
 */
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include <ingot/prewarm.h>

#include "support/failing_allocator.h"
#include "support/persist_session.h"
#include "support/storage_settings.h"

using namespace store_fixture;

namespace
{

using Prewarm = Handle<ingot_prewarm_t, ingot_prewarm_release>;
constexpr int kPrograms = 40;

/* True: the library's clock stands still, far ahead. So a load waits for its blob however busy the machine is. */
std::atomic<bool> is_clock_held{true};

} // namespace

/* The linker redirects the library's calls to this function. */
extern "C" {
uint64_t __real_files_steady_clock_ns(void);
uint64_t __wrap_files_steady_clock_ns(void);

uint64_t __wrap_files_steady_clock_ns(void)
{
    static const uint64_t held_ns = __real_files_steady_clock_ns() + UINT64_C(3600000000000);
    return is_clock_held ? held_ns : __real_files_steady_clock_ns();
}
}

namespace
{

/* A door that holds loads until it is opened. */
class Door
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
        has_arrived_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
    }
    void wait_for_arrival()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return has_arrived_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
    bool has_arrived_ = false;
};

/* An application's storage in front of a directory store. Counts the blobs that it has given out and that were not
 * released yet, and notes how many blobs each request was for. */
class Outer
{
public:
    explicit Outer(const Store &store, bool loads_many = false) : store_(store)
    {
        ingot_storage_ops_t ops{};
        ops.struct_size = sizeof(ops);
        ops.load = load;
        ops.remove = remove;
        if (loads_many)
            ops.load_many = load_many;
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage_, &ops, this));
    }
    Outer(const Outer &) = delete;
    Outer &operator=(const Outer &) = delete;
    ~Outer() { ingot_storage_release(storage_); }

    ingot_storage_t get() const { return storage_; }
    ingot_status_t load_from(const Bytes &id) const
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        const ingot_status_t status = ingot_storage_load(storage_, id.size(), id.data(), &blob);
        if (status == INGOT_SUCCESS)
            blob.release(&blob);
        return status;
    }
    std::vector<size_t> groups() const { return groups_; }

    std::function<void(const Bytes &id)> on_load;
    std::function<void(const Bytes &id)> on_loaded;
    std::atomic<int> loads{0};
    std::atomic<int> live_blobs{0};

private:
    static ingot_status_t load(void *user, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
    {
        auto *self = static_cast<Outer *>(user);
        Bytes bytes;
        ++self->loads;
        if (self->on_load)
            self->on_load(Bytes(id, id + id_size));
        const ingot_status_t status = self->store_.load(Bytes(id, id + id_size), &bytes);
        if (status != INGOT_SUCCESS)
            return status;
        auto *copy = static_cast<uint8_t *>(std::malloc(bytes.size()));
        std::copy(bytes.begin(), bytes.end(), copy);
        *blob = {bytes.size(), copy, release, self};
        ++self->live_blobs;
        if (self->on_loaded)
            self->on_loaded(Bytes(id, id + id_size));
        return INGOT_SUCCESS;
    }
    static ingot_status_t remove(void *user, size_t id_size, const uint8_t *id)
    {
        return static_cast<Outer *>(user)->store_.remove(Bytes(id, id + id_size));
    }
    static void release(ingot_buffer_t *blob)
    {
        --static_cast<Outer *>(blob->owner)->live_blobs;
        std::free(const_cast<uint8_t *>(blob->bytes));
    }
    static void load_many(void *user, size_t count, const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded,
                          void *receiver)
    {
        static_cast<Outer *>(user)->groups_.push_back(count);
        for (size_t i = 0; i < count; ++i) {
            ingot_buffer_t blob = INGOT_BUFFER_INIT;
            const ingot_status_t status = load(user, ids[i].size, ids[i].bytes, &blob);
            if (on_loaded(i, status, &blob, receiver) != INGOT_SUCCESS)
                return;
        }
    }

    const Store &store_;
    ingot_storage_t storage_ = nullptr;
    std::vector<size_t> groups_;
};

class PersistPrewarm : public testing::Test
{
protected:
    Store &store() { return *store_; }

    ingot_persist_info_t store_info()
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root_.c_str();
        info.store_mode = INGOT_PERSIST_STORE_NOW;
        info.on_event = [](const ingot_event_t *event, void *user) { static_cast<Seen *>(user)->remember(event); };
        info.on_event_user = &seen_;
        return info;
    }

    /* Records a previous run, which requested numbered programs. */
    void SetUp() override
    {
        Store first(store_info());
        ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
        info.path = manifest_.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(first.get(), &info));
        Session session;
        for (int number = 0; number < kPrograms; ++number) {
            const Desc desc = session.describe(numbered_source(number));
            session.create(desc, first);
            ids_.push_back(id_of(desc));
        }
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(first.get(), nullptr, nullptr));
    }

    ingot_prewarm_info_t info()
    {
        ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
        info.manifest = manifest_.c_str();
        return info;
    }

    Prewarm start(ingot_storage_t storage, const ingot_prewarm_info_t &info)
    {
        ingot_prewarm_t prewarm = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_start(&prewarm, storage, &info)) << ingot_last_error_detail();
        return Prewarm(prewarm);
    }
    Prewarm start() { return start(store().get(), info()); }

    static ingot_prewarm_progress_t wait(const Prewarm &prewarm)
    {
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm.get(), &progress));
        return progress;
    }

    ScratchDirectory scratch_;
    std::string root_ = (scratch_.path() / "store").string();
    std::string manifest_ = (scratch_.path() / "manifest").string();
    Seen seen_; /* the events of the store */
    std::vector<Bytes> ids_;
    std::unique_ptr<Store> store_ = std::make_unique<Store>(store_info());
};

} // namespace

TEST_F(PersistPrewarm, ReadsWhatThePreviousRunRequested)
{
    const Prewarm prewarm = start();
    ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(INGOT_SUCCESS, progress.manifest_status);
    EXPECT_EQ(uint64_t{kPrograms}, progress.total);
    EXPECT_EQ(uint64_t{kPrograms}, progress.loaded);
    EXPECT_EQ(uint64_t{kPrograms}, store().stats().hits);
    EXPECT_EQ(1u, seen_.count(INGOT_EVENT_PREWARM, INGOT_SUCCESS));
    Session session;
    for (int number = 0; number < kPrograms; ++number)
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(numbered_source(number)), store()));
    EXPECT_EQ(uint64_t{kPrograms}, session.counts.loads);
    EXPECT_EQ(uint64_t{kPrograms}, session.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_SUCCESS));
    EXPECT_EQ(0u, session.counts.builds);
    EXPECT_EQ(uint64_t{kPrograms}, store().stats().hits) << "nothing was read again";
    progress = wait(prewarm);
    EXPECT_EQ(uint64_t{kPrograms}, progress.taken);
    EXPECT_EQ(0u, progress.overtaken);
}

TEST_F(PersistPrewarm, GivesEachBlobOnce)
{
    const Prewarm prewarm = start();
    wait(prewarm);
    Bytes first, second;
    EXPECT_EQ(INGOT_SUCCESS, store().load(ids_[3], &first));
    EXPECT_EQ(uint64_t{kPrograms}, store().stats().hits);
    EXPECT_EQ(INGOT_SUCCESS, store().load(ids_[3], &second));
    EXPECT_EQ(uint64_t{kPrograms} + 1, store().stats().hits);
    EXPECT_EQ(first, second);
    EXPECT_EQ(1u, wait(prewarm).taken);
}

TEST_F(PersistPrewarm, ReadsGroupsOnlyFromAStorageThatCanLoadThem)
{
    Outer many(store(), true);
    EXPECT_EQ(uint64_t{kPrograms}, wait(start(many.get(), info())).loaded);
    EXPECT_EQ((std::vector<size_t>{32, kPrograms - 32}), many.groups());
    Outer single(store());
    EXPECT_EQ(uint64_t{kPrograms}, wait(start(single.get(), info())).loaded);
    EXPECT_EQ(kPrograms, single.loads);
}

TEST_F(PersistPrewarm, ALoadWaitsForItsBlobAndNotForLaterOnes)
{
    Outer outer(store(), true);
    Door door;
    outer.on_load = [&](const Bytes &id) {
        if (id == ids_[0])
            door.pass();
    };
    const Prewarm prewarm = start(outer.get(), info());
    door.wait_for_arrival();
    std::thread loading([&] { EXPECT_EQ(INGOT_SUCCESS, outer.load_from(ids_[0])); });
    EXPECT_EQ(INGOT_SUCCESS, outer.load_from(ids_[35])) << "it is in the next group";
    door.open();
    loading.join();
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(1u, progress.overtaken);
    EXPECT_EQ(uint64_t{kPrograms} - 1, progress.loaded);
    EXPECT_EQ(1u, progress.taken);
    EXPECT_EQ(kPrograms, outer.loads) << "nothing was read twice";
}

/* A load that waits too long reads the blob itself: an event callback in the prewarm's thread may wait for it. */
TEST_F(PersistPrewarm, ALoadDoesNotWaitForever)
{
    Outer outer(store());
    Door door;
    std::atomic<bool> is_first{true};
    outer.on_load = [&](const Bytes &id) {
        if (id == ids_[0] && is_first.exchange(false))
            door.pass();
    };
    const Prewarm prewarm = start(outer.get(), info());
    door.wait_for_arrival();
    is_clock_held = false;
    EXPECT_EQ(INGOT_SUCCESS, outer.load_from(ids_[0]));
    is_clock_held = true;
    door.open();
    EXPECT_EQ(1u, wait(prewarm).overtaken);
    EXPECT_EQ(kPrograms + 1, outer.loads);
    EXPECT_EQ(kPrograms - 1, outer.live_blobs) << "the blob that arrived too late was released";
}

TEST_F(PersistPrewarm, TheThreadItselfMayLoadButNotWait)
{
    Outer outer(store());
    std::atomic<ingot_prewarm_t> known{nullptr};
    std::atomic<bool> is_first{true};
    outer.on_load = [&](const Bytes &id) {
        if (!is_first.exchange(false))
            return;
        while (known == nullptr)
            std::this_thread::yield();
        EXPECT_EQ(INGOT_BUSY, ingot_prewarm_wait(known, nullptr));
        EXPECT_EQ(INGOT_SUCCESS, outer.load_from(id));
    };
    const Prewarm prewarm = start(outer.get(), info());
    known = prewarm.get();
    const ingot_prewarm_progress_t progress = wait(prewarm);
    EXPECT_EQ(1u, progress.overtaken);
    EXPECT_EQ(uint64_t{kPrograms} - 1, progress.loaded);
}

TEST_F(PersistPrewarm, KeepsItsLimitOfBytes)
{
    const uint64_t all = wait(start()).bytes;
    for (const bool loads_many : {false, true}) {
        Outer outer(store(), loads_many);
        ingot_prewarm_info_t wanted = info();
        wanted.max_bytes = all / 2;
        const Prewarm prewarm = start(outer.get(), wanted);
        const ingot_prewarm_progress_t progress = wait(prewarm);
        EXPECT_LE(progress.bytes, wanted.max_bytes);
        EXPECT_GT(progress.loaded, 10u);
        EXPECT_LT(progress.loaded, uint64_t{kPrograms});
        EXPECT_EQ(progress.loaded, uint64_t(outer.live_blobs));
        for (const Bytes &id : ids_)
            EXPECT_EQ(INGOT_SUCCESS, outer.load_from(id));
        EXPECT_EQ(kPrograms + 1, outer.loads) << "one blob was too large for what was left";
    }
}

TEST_F(PersistPrewarm, LeavesOutWhatIsMissingOrDamaged)
{
    ASSERT_EQ(INGOT_SUCCESS, store().remove(ids_[4]));
    const fs::path damaged = entries_of(root_)[0] / "kernel.bin";
    Bytes bytes = read_file(damaged);
    bytes[bytes.size() / 2] ^= 1;
    write_file(damaged, bytes);
    const ingot_prewarm_progress_t progress = wait(start());
    EXPECT_EQ(uint64_t{kPrograms} - 2, progress.loaded);
    EXPECT_EQ(1u, progress.missing);
    EXPECT_EQ(1u, progress.failed);
}

TEST_F(PersistPrewarm, AProgramThatIsRefusedIsCompiled)
{
    Session session;
    const Desc desc = session.describe(numbered_source(5));
    ASSERT_EQ(INGOT_SUCCESS, store().put(ids_[5], bytes_of("sound for the store, no blob for the core")));
    const Prewarm prewarm = start();
    EXPECT_EQ(uint64_t{kPrograms}, wait(prewarm).loaded);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(desc, store()));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(session.context.get(), nullptr));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
}

TEST_F(PersistPrewarm, ForgetsWhatIsStoredOrRemoved)
{
    const Prewarm prewarm = start();
    wait(prewarm);
    ASSERT_EQ(INGOT_SUCCESS, store().remove(ids_[1]));
    EXPECT_EQ(INGOT_NOT_FOUND, store().load(ids_[1]));
    ASSERT_EQ(INGOT_SUCCESS, store().put(ids_[2], bytes_of("another blob")));
    Bytes found;
    ASSERT_EQ(INGOT_SUCCESS, store().load(ids_[2], &found));
    EXPECT_EQ(bytes_of("another blob"), found);
    EXPECT_EQ(0u, wait(prewarm).taken);
}

TEST_F(PersistPrewarm, ForgetsWhatIsRemovedWhileItIsRead)
{
    Outer outer(store());
    Door door;
    std::atomic<bool> is_first{true};
    outer.on_loaded = [&](const Bytes &id) {
        if (id == ids_[0] && is_first.exchange(false))
            door.pass();
    };
    const Prewarm prewarm = start(outer.get(), info());
    door.wait_for_arrival();
    EXPECT_EQ(INGOT_SUCCESS, ingot_storage_remove(outer.get(), ids_[0].size(), ids_[0].data()));
    door.open();
    EXPECT_EQ(1u, wait(prewarm).overtaken);
    EXPECT_EQ(INGOT_NOT_FOUND, outer.load_from(ids_[0]));
    EXPECT_EQ(kPrograms - 1, outer.live_blobs);
}

TEST_F(PersistPrewarm, ServesNothingOfAStorageThatIsOff)
{
    const Prewarm prewarm = start();
    wait(prewarm);
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store().get(), &ingot_persist_settings_t::is_off, 1));
    EXPECT_EQ(INGOT_NOT_FOUND, store().load(ids_[0]));
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store().get(), &ingot_persist_settings_t::is_off, 0));
    EXPECT_EQ(INGOT_SUCCESS, store().load(ids_[0]));
    EXPECT_EQ(1u, wait(prewarm).taken);
}

TEST_F(PersistPrewarm, ADamagedManifestIsAnEventAndAMissingOneIsNot)
{
    Bytes bad = read_file(manifest_);
    bad[100] ^= 1;
    write_file(manifest_, bad);
    ingot_prewarm_progress_t progress = wait(start());
    EXPECT_EQ(INGOT_BLOB_CORRUPT, progress.manifest_status);
    EXPECT_EQ(0u, progress.total);
    EXPECT_EQ(1u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BLOB_CORRUPT));
    EXPECT_EQ(INGOT_SUCCESS, store().load(ids_[0]));
    fs::remove(manifest_);
    progress = wait(start());
    EXPECT_EQ(INGOT_NOT_FOUND, progress.manifest_status);
    EXPECT_EQ(0u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NOT_FOUND)) << "so it is in a first run";
}

TEST_F(PersistPrewarm, ReleasesTheBlobsThatWereNotRequested)
{
    Outer outer(store(), true);
    Prewarm prewarm = start(outer.get(), info());
    wait(prewarm);
    EXPECT_EQ(INGOT_SUCCESS, outer.load_from(ids_[1]));
    EXPECT_EQ(kPrograms - 1, outer.live_blobs);
    prewarm.reset();
    EXPECT_EQ(0, outer.live_blobs);
}

TEST_F(PersistPrewarm, AReleaseEndsTheReading)
{
    Outer outer(store());
    Door door;
    outer.on_load = [&](const Bytes &) { door.pass(); };
    Prewarm prewarm = start(outer.get(), info());
    door.wait_for_arrival();
    std::thread releasing([&] { prewarm.reset(); });
    door.open();
    releasing.join();
    EXPECT_LE(outer.loads, kPrograms);
    EXPECT_EQ(0, outer.live_blobs);
}

TEST_F(PersistPrewarm, HoldsItsStorage)
{
    Prewarm prewarm = start();
    store_.reset();
    EXPECT_EQ(uint64_t{kPrograms}, wait(prewarm).loaded);
    prewarm.reset();
}

TEST_F(PersistPrewarm, SeveralServeAsManyLoads)
{
    const Prewarm one = start();
    const Prewarm other = start();
    wait(one);
    wait(other);
    for (const Bytes &id : ids_) {
        EXPECT_EQ(INGOT_SUCCESS, store().load(id));
        EXPECT_EQ(INGOT_SUCCESS, store().load(id));
    }
    EXPECT_EQ(2u * kPrograms, store().stats().hits);
    EXPECT_EQ(uint64_t{kPrograms}, wait(one).taken);
    EXPECT_EQ(uint64_t{kPrograms}, wait(other).taken);
}

TEST_F(PersistPrewarm, NothingIsReadTwiceWhenThreadsRequestPrograms)
{
    Session session;
    std::vector<Desc> descs;
    for (int number = 0; number < kPrograms; ++number)
        descs.push_back(session.describe(numbered_source(number)));
    const Prewarm prewarm = start();
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
    EXPECT_EQ(uint64_t{kPrograms}, store().stats().hits);
    EXPECT_EQ(uint64_t{kPrograms}, progress.taken + progress.overtaken);
    EXPECT_EQ(0u, session.counts.builds);
}

TEST_F(PersistPrewarm, MayBeReleasedWhileThreadsLoad)
{
    for (int round = 0; round < 20; ++round) {
        Prewarm prewarm = start();
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&, thread] {
                for (int number = 0; number < kPrograms; ++number)
                    EXPECT_EQ(INGOT_SUCCESS, store().load(ids_[size_t((number + 10 * thread) % kPrograms)]));
            });
        prewarm.reset();
        for (std::thread &thread : threads)
            thread.join();
    }
}

TEST_F(PersistPrewarm, IsOverInAForkedChild)
{
    Outer outer(store());
    Door door;
    outer.on_load = [&](const Bytes &) { door.pass(); };
    Prewarm prewarm = start(outer.get(), info());
    door.wait_for_arrival();
    const pid_t child = fork();
    if (child == 0) {
        const ingot_status_t status = outer.load_from(ids_[0]); /* in the parent, this load hangs */
        const ingot_status_t waited = ingot_prewarm_wait(prewarm.get(), nullptr);
        prewarm.reset();
        _exit(status == INGOT_NOT_FOUND && waited == INGOT_SUCCESS ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    door.open();
    EXPECT_EQ(uint64_t{kPrograms}, wait(prewarm).loaded);
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
            const ingot_prewarm_info_t wanted = info();
            ingot_prewarm_t prewarm = nullptr;
            status = ingot_prewarm_start(&prewarm, storage, &wanted);
            if (status == INGOT_SUCCESS) {
                EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm, nullptr));
            }
            ingot_prewarm_release(prewarm);
            ingot_storage_release(storage);
        }
        ASSERT_EQ(0u, allocator.live_count()) << n;
        ASSERT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY) << n << ": " << status;
        if (!allocator.failed())
            return;
    }
}

TEST_F(PersistPrewarm, RefusesMalformedArguments)
{
    ingot_prewarm_t prewarm = nullptr;
    ingot_prewarm_info_t wanted = info();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(nullptr, store().get(), &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, nullptr, &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, store().get(), nullptr));
    wanted.manifest = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_start(&prewarm, store().get(), &wanted));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_wait(nullptr, nullptr));
    const Prewarm running = start();
    ingot_prewarm_progress_t unset{};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_prewarm_wait(running.get(), &unset));
    EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(running.get(), nullptr));
    ingot_prewarm_release(nullptr);
}

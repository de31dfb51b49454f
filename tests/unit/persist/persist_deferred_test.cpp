/*
 * Tests when storages store: at once, or at a flush or the last release those that wait. Always in the caller's thread,
 * and never in exit() or in a forked child.
 */
#include <ingot/private/persist.h>
#include <ingot/trust.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "support/forked_child.h"
#include "support/persist_session.h"

using namespace store_fixture;
using PersistDeferred = StoreTest;

namespace
{

using Ids = std::vector<std::vector<uint8_t>>;

/* An empty storage that records what was stored, and in which threads. */
class Recording
{
public:
    explicit Recording(ingot_persist_store_mode_t mode = INGOT_PERSIST_STORE_AUTO)
    {
        const ingot_storage_ops_t ops = own_storage::operations(store);
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, this));
        EXPECT_EQ(INGOT_SUCCESS, set_setting(storage, &ingot_persist_settings_t::store_mode, mode));
    }
    ~Recording() { ingot_storage_release(storage); }

    Ids ids(size_t from = 0)
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return Ids(ids_.begin() + static_cast<std::ptrdiff_t>(from), ids_.end());
    }
    ingot_status_t flush(ingot_persist_flush_progress_t *progress = nullptr, uint64_t max_time_ms = 0) const
    {
        ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
        info.max_time_ms = max_time_ms;
        return ingot_persist_flush(storage, &info, progress);
    }

    ingot_storage_t storage = nullptr;
    ingot_status_t result = INGOT_SUCCESS;
    std::function<void()> at_store;
    std::atomic<bool> is_alone{true}; /* false: another thread than the first one stored */

private:
    static ingot_status_t store(void *user, size_t id_size, const uint8_t *id, size_t, const uint8_t *)
    {
        auto *self = static_cast<Recording *>(user);
        {
            const std::lock_guard<std::mutex> guard(self->mutex_);
            self->ids_.emplace_back(id, id + id_size);
            if (std::this_thread::get_id() != self->thread_)
                self->is_alone = false;
        }
        if (self->at_store)
            self->at_store();
        return self->result;
    }

    std::mutex mutex_;
    Ids ids_;
    const std::thread::id thread_ = std::this_thread::get_id();
};

std::string source_of(int number, int kernel_count = 9)
{
    std::string source;
    for (int i = 0; i < kernel_count; ++i)
        source += "kernel k" + std::to_string(i) + "_" + std::to_string(number) + " x\n";
    return source;
}

/* Builds a program that is different for each number. Returns its id. */
std::vector<uint8_t> create(const Session &session, ingot_storage_t storage, int number, int kernel_count = 9)
{
    const Desc desc = session.describe(source_of(number, kernel_count), INGOT_PROGRAM_NO_MEMORY_CACHE);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_of(desc, storage));
    return id_of(desc);
}

constexpr auto kOnFlush = INGOT_PERSIST_STORE_ON_FLUSH;

} // namespace

/* A program of few kernels of such a device is stored once more if launches have added to it. */
TEST_F(PersistDeferred, ProgramsAreStoredAtOnceUnlessTheirDeviceGeneratesCodeAtLaunchForManyKernels)
{
    const struct {
        bool generates_code;
        ingot_persist_store_mode_t mode;
        int kernel_count;
        bool is_at_once;
        bool is_again;
    } cases[] = {{false, INGOT_PERSIST_STORE_AUTO, 300, true, false},
                 {true, INGOT_PERSIST_STORE_AUTO, 1, true, true},
                 {true, INGOT_PERSIST_STORE_AUTO, 6, true, true},
                 {true, INGOT_PERSIST_STORE_AUTO, 7, false, false},
                 {true, INGOT_PERSIST_STORE_NOW, 300, true, true},
                 {false, INGOT_PERSIST_STORE_NOW, 300, true, false},
                 {false, kOnFlush, 1, false, false},
                 {true, kOnFlush, 1, false, false}};
    for (const auto &each : cases) {
        Session session(each.generates_code);
        Recording recording(each.mode);
        for (const uint32_t launched_bytes : {0u, 8u}) {
            session.launched_bytes = 0;
            const size_t before = recording.ids().size();
            const auto id = create(session, recording.storage, static_cast<int>(launched_bytes), each.kernel_count);
            EXPECT_EQ(each.is_at_once ? 1u : 0u, recording.ids().size() - before) << each.kernel_count;
            session.launched_bytes = launched_bytes;
            ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
            EXPECT_EQ(INGOT_SUCCESS, recording.flush(&progress));
            const bool is_again = each.is_again && launched_bytes != 0;
            EXPECT_EQ(!each.is_at_once || is_again ? 1u : 0u, progress.stored_count) << each.kernel_count;
            EXPECT_EQ(Ids(is_again ? 2 : 1, id), recording.ids(before));
            EXPECT_EQ(INGOT_SUCCESS, recording.flush(&progress)) << "nothing waits";
            EXPECT_EQ(0u, progress.stored_count);
        }
        EXPECT_TRUE(recording.is_alone);
    }
}

/* The first blob stays if the driver or the storage fails later. */
TEST_F(PersistDeferred, AProgramThatCannotBeStoredOnceMoreKeepsItsEntry)
{
    Session session(true);
    const Store store(root_);
    const auto id = create(session, store.get(), 1, 1);
    Bytes first;
    ASSERT_EQ(INGOT_SUCCESS, store.load(id, &first));
    session.launched_bytes = 8;
    session.fail("get_binary", INGOT_BACKEND_ERROR);
    EXPECT_EQ(INGOT_BACKEND_ERROR, ingot_persist_flush(store.get(), nullptr, nullptr));
    Bytes now;
    EXPECT_EQ(INGOT_SUCCESS, store.load(id, &now));
    EXPECT_EQ(first, now);
}

TEST_F(PersistDeferred, AFlushStoresInItsThreadTheOldestFirst)
{
    const Session session(true);
    Recording recording;
    Ids ids;
    for (int i = 0; i < 20; ++i)
        ids.push_back(create(session, recording.storage, i));
    ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    EXPECT_EQ(INGOT_BUSY, recording.flush(&progress, INGOT_NONE)) << "no time";
    EXPECT_EQ(20u, progress.waiting_count);
    EXPECT_TRUE(recording.ids().empty());
    EXPECT_EQ(INGOT_SUCCESS, recording.flush(&progress, 600000));
    EXPECT_EQ(0u, progress.waiting_count);
    EXPECT_EQ(20u, progress.stored_count);
    EXPECT_LT(20u, progress.stored_bytes);
    EXPECT_EQ(ids, recording.ids());
    EXPECT_TRUE(recording.is_alone);
}

TEST_F(PersistDeferred, TheListHasAProgramOnceAndIsBounded)
{
    Session session;
    Recording recording(kOnFlush);
    for (int i = 0; i < 512; ++i)
        create(session, recording.storage, i % 256, 1);
    EXPECT_EQ(0u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    create(session, recording.storage, 256, 1);
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    EXPECT_EQ(INGOT_SUCCESS, recording.flush());
    EXPECT_EQ(256u, recording.ids().size());
    create(session, recording.storage, 0, 1); /* the storage did not keep it */
    EXPECT_EQ(INGOT_SUCCESS, recording.flush());
    EXPECT_EQ(257u, recording.ids().size());
}

/* Programs that are stored already leave the list to those that are not. */
TEST_F(PersistDeferred, AFullListDropsTheOldestProgramThatIsStored)
{
    Session session(true);
    Recording recording;
    Ids expected;
    for (int i = 0; i < 257; ++i) {
        expected.push_back(create(session, recording.storage, i, 1));
        EXPECT_EQ(expected, recording.ids());
    }
    expected = Ids(expected.begin() + 2, expected.begin() + 256);
    for (int i = 257; i < 259; ++i)
        expected.push_back(create(session, recording.storage, i));
    EXPECT_EQ(0u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    session.launched_bytes = 8;
    EXPECT_EQ(INGOT_SUCCESS, recording.flush());
    EXPECT_EQ(expected, recording.ids(257));
}

TEST_F(PersistDeferred, AFlushTellsTheFirstFailureAndGoesOn)
{
    const Session session;
    Recording recording(kOnFlush);
    recording.result = INGOT_NO_SPACE;
    create(session, recording.storage, 1);
    create(session, recording.storage, 2);
    ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    EXPECT_EQ(INGOT_NO_SPACE, recording.flush(&progress));
    EXPECT_EQ(2u, progress.failed_count);
    EXPECT_EQ(INGOT_SUCCESS, recording.flush());
}

/* The included file changes before the compiler gets it. The compiler then includes the file by itself, and the program
 * is not cacheable. */
TEST_F(PersistDeferred, AProgramThatIsNotCacheableIsNoFailure)
{
    const fs::path file = scratch_.path() / "changing.h";
    for (const auto mode : {INGOT_PERSIST_STORE_NOW, kOnFlush}) {
        Session session;
        Recording recording(mode);
        write_file(file, bytes_of("kernel first x\n"));
        ProgramText text;
        text.sources = {"#include \"changing.h\"\nkernel f x\n"};
        text.compile_options = "-I" + scratch_.path().string();
        const Desc desc = text.make(session.context);
        write_file(file, bytes_of("kernel second x\n"));
        ASSERT_EQ(INGOT_SUCCESS, request_through(desc, recording.storage));
        ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, recording.flush(&progress));
        EXPECT_EQ(0u, progress.stored_count + progress.failed_count);
        EXPECT_TRUE(recording.ids().empty());
        EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_NOT_CACHEABLE));
    }
}

/* A flush waits neither for the operation that calls it, nor for another thread, which may wait for it. */
TEST_F(PersistDeferred, ACallbackMayFlushAndNoFlushWaitsForAnother)
{
    const Session session;
    Recording recording(kOnFlush);
    std::atomic<int> inside{0};
    std::atomic<int> busy_count{0};
    recording.at_store = [&] {
        for (++inside; inside < 2;) /* until both threads store */
            std::this_thread::yield();
        busy_count += recording.flush() == INGOT_BUSY;
    };
    create(session, recording.storage, 1);
    create(session, recording.storage, 2);
    std::thread other([&] { (void)recording.flush(); });
    (void)recording.flush();
    other.join();
    EXPECT_EQ(2, busy_count);
    EXPECT_EQ(INGOT_SUCCESS, recording.flush());
    EXPECT_EQ(2u, recording.ids().size());
}

/* A driver may end the process when it loads a damaged binary, so whoever wants to know tries the blob first. */
TEST_F(PersistDeferred, ABlobThatIsCheckedIsLoadedBeforeItIsStored)
{
    Session session;
    Recording recording;
    ingot_persist_set_builder(recording.storage);
    create(session, recording.storage, 1);
    EXPECT_EQ(1u, recording.ids().size());
    session.fail("load", INGOT_BLOB_REJECTED);
    create(session, recording.storage, 2);
    EXPECT_EQ(1u, recording.ids().size());
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_BLOB_REJECTED));
}

TEST_F(PersistDeferred, ALoadNeverCompilesAndNeverStores)
{
    const Session session(true);
    const Desc desc = session.describe(source_of(1), INGOT_PROGRAM_NO_MEMORY_CACHE);
    ingot_program_t program = nullptr;
    {
        const Store store(root_);
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_program_load(&program, desc.get(), store.get(), nullptr));
    }
    EXPECT_EQ(0u, session.counts.builds);
    EXPECT_TRUE(entries_of(root_).empty());
    {
        const Store store(root_);
        create(session, store.get(), 1);
    }
    const Store store(root_);
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_load(&program, desc.get(), store.get(), &origin));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin);
    ingot_program_release(program);
    EXPECT_EQ(1u, session.counts.builds);
}

TEST_F(PersistDeferred, AChainStoresAsTheTierThatItStoresTo)
{
    const ingot_storage_ops_t shipped_ops = own_storage::operations();
    const HeldStorage shipped =
        opened([&](ingot_storage_t *made) { return ingot_storage_create(made, &shipped_ops, nullptr); });
    const Session session(true);
    Recording own(INGOT_PERSIST_STORE_NOW);
    {
        const HeldStorage chain = chain_of({shipped.get(), own.storage});
        const HeldStorage outer = chain_of({chain.get()});
        EXPECT_EQ(INGOT_PERSIST_STORE_NOW, ingot_persist_get_store_mode(outer.get()));
        create(session, chain.get(), 1);
        EXPECT_EQ(1u, own.ids().size());
        create(session, outer.get(), 2);
        EXPECT_EQ(2u, own.ids().size());
        ASSERT_EQ(INGOT_SUCCESS, set_setting(chain.get(), &ingot_persist_settings_t::store_mode, kOnFlush))
            << "overrides it";
        create(session, chain.get(), 3);
        EXPECT_EQ(2u, own.ids().size());
    }
    EXPECT_EQ(3u, own.ids().size());
}

TEST_F(PersistDeferred, EveryStorageHasAModeAndStatistics)
{
    const Session session;
    const Bytes id = bytes_of("an id");
    const Bytes blob = bytes_of("a blob");
    const HeldStorage single = open_file(scratch_.path() / "file");
    const HeldStorage chain = chain_of({single.get()});
    EXPECT_EQ(INGOT_NOT_FOUND, chain.load(id));
    EXPECT_EQ(INGOT_SUCCESS, chain.put(id, blob));
    EXPECT_EQ(INGOT_SUCCESS, chain.load(id));
    for (const HeldStorage *storage : {&chain, &single}) {
        EXPECT_EQ(1u, storage->stats().hits);
        EXPECT_EQ(1u, storage->stats().misses);
        EXPECT_EQ(1u, storage->stats().stores);
        EXPECT_EQ(0u, storage->stats().failures);
    }
    const Store store(root_);
    ASSERT_EQ(INGOT_SUCCESS, store.put(id, blob));
    const HeldStorage shipped = bundle_of(store, scratch_.path() / "bundle");
    ASSERT_EQ(INGOT_SUCCESS, shipped.load(id)) << ingot_last_error_detail();
    EXPECT_EQ(1u, shipped.stats().hits);
    ASSERT_EQ(INGOT_SUCCESS, set_setting(single.get(), &ingot_persist_settings_t::store_mode, kOnFlush));
    create(session, single.get(), 1);
    EXPECT_EQ(1u, single.stats().waiting);
}

TEST_F(PersistDeferred, RefusesWhatMakesNoSense)
{
    const Recording recording;
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_settings(nullptr, &settings));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_settings(recording.storage, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_get_settings(recording.storage, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_get_settings(nullptr, &settings));
    settings.store_mode = static_cast<ingot_persist_store_mode_t>(77);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_settings(recording.storage, &settings));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_flush(nullptr, nullptr, nullptr));
    settings.store_mode = kOnFlush;
    settings.max_bytes = 7;
    settings.struct_size = offsetof(ingot_persist_settings_t, max_bytes); /* as from an older caller */
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(recording.storage, &settings));
    settings = INGOT_PERSIST_SETTINGS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_settings(recording.storage, &settings));
    EXPECT_EQ(kOnFlush, settings.store_mode);
    EXPECT_EQ(0u, settings.max_bytes);
}

/* ---- the end of the process, and other processes ---- */

/* The driver has perhaps shut down before a handler of exit() runs, so it must not be called there. */
TEST_F(PersistDeferred, AnExitNeitherStoresNorCallsTheDriver)
{
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  auto *session = new Session(true);
                  ingot_persist_info_t info = info_at(root_);
                  ingot_storage_t storage = nullptr;
                  if (ingot_persist_open(&storage, &info) != INGOT_SUCCESS)
                      return 1;
                  create(*session, storage, 1);
                  session->before = [](const std::string &) -> ingot_status_t { _exit(2); };
                  std::exit(7);
              }));
    EXPECT_TRUE(entries_of(root_).empty());
}

/* Expects that all functions that look at or change a storage refuse it. */
static void expect_refused(ingot_storage_t storage)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    ingot_persist_count_t count = {};
    ingot_persist_verification_t found = {};
    const uint8_t id = 1;
    const ingot_status_t all[] = {
        ingot_persist_get_settings(storage, &settings),
        ingot_persist_set_settings(storage, &settings),
        ingot_persist_get_stats(storage, &stats),
        ingot_persist_set_trust(storage, nullptr),
        ingot_persist_verify(storage, 0, nullptr, nullptr, &found),
        ingot_persist_evict(storage, &limits, nullptr, nullptr),
        clear_store(storage),
        ingot_persist_recount(storage, &count),
        ingot_storage_remove(storage, sizeof(id), &id),
    };
    for (size_t i = 0; i < std::size(all); ++i)
        EXPECT_EQ(INGOT_READ_ONLY, all[i]) << i;
}

/* Its parent's storage is off, whatever another thread was doing with it at the fork. */
TEST_F(PersistDeferred, AForkedChildOpensAnotherStorage)
{
    const Session session;
    Recording recording(kOnFlush);
    std::atomic<bool> is_inside{false};
    std::atomic<bool> is_open{false};
    recording.at_store = [&] {
        for (is_inside = true; !is_open;)
            std::this_thread::yield();
    };
    for (int i = 0; i < 3; ++i)
        create(session, recording.storage, i);
    std::thread flushing([&] { EXPECT_EQ(INGOT_SUCCESS, recording.flush()); });
    while (!is_inside)
        std::this_thread::yield();
    auto parents = std::make_unique<Store>(root_);
    EXPECT_EQ(0, forked_child::run([&] {
                  const Bytes id(4, 1);
                  if (recording.flush() != INGOT_READ_ONLY)
                      return 1;                        /* must not store the parent's programs */
                  create(session, parents->get(), 99); /* compiles */
                  if (parents->load(id) != INGOT_NOT_FOUND || strstr(ingot_last_error_detail(), "forked") == nullptr ||
                      parents->put(id, Bytes(9)) != INGOT_READ_ONLY)
                      return 2;
                  expect_refused(parents->get());
                  const Store own(root_);
                  create(session, own.get(), 100);
                  if (ingot_persist_flush(own.get(), nullptr, nullptr) != INGOT_SUCCESS ||
                      entries_of(root_).size() != 1)
                      return 3;
                  ingot_storage_release(recording.storage);
                  parents.reset();
                  return testing::Test::HasFailure() ? 4 : 0;
              }));
    is_open = true;
    flushing.join();
    EXPECT_EQ(3u, recording.ids().size());
}

/* As in nested containers, whose first processes all have the id 1. */
TEST_F(PersistDeferred, AForkedChildWithTheIdOfItsParentIsAnotherProcess)
{
    const int result = forked_child::run([&] {
        const auto run_as_first = [](const std::function<int()> &work) {
            const bool is_apart = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
            return is_apart ? forked_child::run(work) : 77;
        };
        return run_as_first([&] {
            const Store store(root_);
            return run_as_first(
                [&] { return getpid() == 1 && store.put(Bytes(4, 1), Bytes(9)) == INGOT_READ_ONLY ? 0 : 1; });
        });
    });
    if (result == 77)
        GTEST_SKIP() << "this machine allows no namespaces of process ids";
    EXPECT_EQ(0, result);
}

/*
 * Tests when storages store: immediately, at a flush with or without a time limit, and while the process ends.
 */
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "support/forked_child.h"
#include "support/own_storage.h"
#include "support/persist_session.h"
#include "support/store_fixture.h"

extern "C" {
#include "persist/base/files.h"
}

using namespace store_fixture;

namespace
{

/* The library's clock is ahead of the system's. It may also go more slowly, or stand still, from a moment on. */
std::atomic<uint64_t> clock_lead_ns;
std::atomic<uint64_t> slow_since_ns; /* 0: it goes as fast as the system's */
std::atomic<uint64_t> slowness;      /* how many times as long its seconds are; 0: it stands still */

} // namespace

/* The linker redirects the library's calls to this function. */
extern "C" {
uint64_t __real_files_steady_clock_ns(void);
uint64_t __wrap_files_steady_clock_ns(void);

uint64_t __wrap_files_steady_clock_ns(void)
{
    const uint64_t now_ns = __real_files_steady_clock_ns();
    const uint64_t since_ns = slow_since_ns;
    const uint64_t passed_ns = slowness != 0 ? (now_ns - since_ns) / slowness : 0;
    return (since_ns != 0 ? since_ns + passed_ns : now_ns) + clock_lead_ns;
}
}

namespace
{

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kMinute = 60000 * kMs; /* no pause of the scheduler is that long */

/* Slows the library's clock down, so that a busy machine has time for what the library expects to be done soon. */
void slow_clock(uint64_t times)
{
    slowness = times;
    slow_since_ns = __real_files_steady_clock_ns();
}

/* Stops the library's clock, which then shows only what is added to its lead. */
void hold_clock()
{
    slow_clock(0);
}

/* Resets the library's clock at the end of a test. */
struct ClockReset {
    ~ClockReset() { slow_since_ns = slowness = clock_lead_ns = 0; }
};

void spin(std::chrono::milliseconds time)
{
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
}

/* An empty storage that records what was stored, and in which thread. */
class Recording
{
public:
    Recording()
    {
        const ingot_storage_ops_t ops = own_storage::operations(store);
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, this));
    }
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;
    ~Recording() { ingot_storage_release(storage); }

    void set(ingot_persist_store_mode_t mode)
    {
        ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
        settings.store_mode = mode;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(storage, &settings));
    }
    size_t count()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return ids_.size();
    }
    void wait_for(size_t wanted)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        changed_.wait(guard, [&] { return ids_.size() >= wanted; });
    }
    std::vector<std::vector<uint8_t>> ids()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return ids_;
    }
    std::thread::id last_thread()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        return thread_;
    }

    ingot_storage_t storage = nullptr;

private:
    static ingot_status_t store(void *user, size_t id_size, const uint8_t *id, size_t, const uint8_t *)
    {
        auto *self = static_cast<Recording *>(user);
        const std::lock_guard<std::mutex> guard(self->mutex_);
        self->ids_.emplace_back(id, id + id_size);
        self->thread_ = std::this_thread::get_id();
        self->changed_.notify_all();
        return INGOT_SUCCESS;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::vector<uint8_t>> ids_;
    std::thread::id thread_;
};

/* A backend whose builds take a configurable time of the library's clock. Make it before a storage, which calls this
 * object's callback until the storage is released. */
struct Slow {
    ClockReset reset;
    uint64_t build_minutes = 0;
    std::atomic<int> takes{0};
    Session session{true};

    Slow()
    {
        session.hook = [this](const char *operation) {
            if (strcmp(operation, "build") == 0)
                clock_lead_ns += build_minutes * kMinute;
            takes += strcmp(operation, "get_binary") == 0;
            return INGOT_SUCCESS;
        };
    }
    std::vector<uint8_t> create(ingot_storage_t storage, int number, uint64_t minutes)
    {
        build_minutes = minutes;
        const Desc desc = session.describe(numbered_source(number));
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, nullptr));
        ingot_program_release(program);
        return id_of(desc);
    }
};

ingot_persist_flush_info_t within(uint64_t time_ms)
{
    ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
    info.max_time_ms = time_ms;
    return info;
}

} // namespace

TEST(PersistStoring, ACheapBlobIsStoredBeforeTheProgramIsHandedOut)
{
    Session session(false);
    Recording recording;
    const Desc desc = session.describe();
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), recording.storage, nullptr));
    ingot_program_release(program);
    ASSERT_EQ(1u, recording.count());
    EXPECT_EQ(std::this_thread::get_id(), recording.last_thread());
}

TEST(PersistStoring, WhatTakesLongIsStoredAtAFlushMostExpensiveBuildsFirst)
{
    Slow slow;
    Recording recording;
    const auto fast = slow.create(recording.storage, 1, 0);
    const auto slowest = slow.create(recording.storage, 2, 20);
    const auto between = slow.create(recording.storage, 3, 10);
    EXPECT_EQ(0u, recording.count());
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(recording.storage, nullptr, nullptr));
    EXPECT_EQ((std::vector<std::vector<uint8_t>>{slowest, between, fast}), recording.ids());
}

TEST(PersistStoring, AFlushEndsInTimeWhateverTheDriverIsAt)
{
    Slow slow;
    Recording recording;
    std::atomic<bool> is_open{false};
    slow.session.hook = [&](const char *operation) {
        while (strcmp(operation, "get_binary") == 0 && !is_open)
            std::this_thread::yield();
        return INGOT_SUCCESS;
    };
    for (int i = 0; i < 3; ++i)
        slow.create(recording.storage, i, 0);
    ingot_persist_flush_info_t info = within(300); /* 200 are expected for the first */
    ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    EXPECT_EQ(INGOT_BUSY, ingot_persist_flush(recording.storage, &info, &progress));
    EXPECT_EQ(0u, progress.stored_count);
    EXPECT_EQ(3u, progress.waiting_count);
    is_open = true;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(recording.storage, nullptr, &progress));
    EXPECT_EQ(0u, progress.waiting_count);
    EXPECT_EQ(3u, recording.count());
}

/* A driver generates the code of all kernels in one call, which nothing interrupts. */
TEST(PersistStoring, ManyKernelsAreNotBegunInLittleTime)
{
    Slow slow;
    Recording recording;
    std::string source;
    for (int i = 0; i < 300; ++i)
        source += "kernel k" + std::to_string(i) + " x\n";
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS,
              ingot_persist_program_create(&program, slow.session.describe(source).get(), recording.storage, nullptr));
    ingot_program_release(program);
    slow.create(recording.storage, 1, 0);
    hold_clock(); /* so that there is time for the other program, however busy the machine is */
    ingot_persist_flush_info_t info = within(5000);
    ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    EXPECT_EQ(INGOT_BUSY, ingot_persist_flush(recording.storage, &info, &progress));
    EXPECT_EQ(1u, progress.stored_count);
    EXPECT_EQ(1u, progress.waiting_count);
    EXPECT_EQ(1, slow.takes);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(recording.storage, nullptr, nullptr));
    EXPECT_EQ(2, slow.takes);
}

TEST(PersistStoring, AFlushTellsHowFarItIsAndCanBeEnded)
{
    /* Without a time limit, this thread stores. With one, the storage's thread stores. */
    for (const uint64_t time_ms : {uint64_t{0}, uint64_t{600000}}) {
        Slow slow;
        Recording recording;
        recording.set(INGOT_PERSIST_STORE_ON_FLUSH);
        for (int i = 0; i < 4; ++i)
            slow.create(recording.storage, i, 0);
        uint64_t last = 0;
        ingot_persist_flush_info_t info = within(time_ms);
        info.user = &last;
        info.on_progress = [](const ingot_persist_flush_progress_t *so_far, void *user) {
            *static_cast<uint64_t *>(user) = so_far->stored_count;
            return so_far->stored_count < 2 ? INGOT_SUCCESS : INGOT_READ_ONLY;
        };
        ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
        const ingot_status_t status = ingot_persist_flush(recording.storage, &info, &progress);
        EXPECT_LE(2u, last);
        EXPECT_LE(last, progress.stored_count);
        EXPECT_EQ(4u, progress.stored_count + progress.waiting_count);
        EXPECT_EQ(INGOT_READ_ONLY, status) << "the callback's own";
        if (time_ms == 0) {
            EXPECT_EQ(2u, progress.stored_count);
        }
        EXPECT_LT(0u, progress.stored_bytes);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(recording.storage, nullptr, nullptr));
        EXPECT_EQ(4u, recording.count());
    }
}

TEST(PersistStoring, TellsTheFirstFailureOfWhatWasStoredAtOnce)
{
    const ingot_storage_ops_t ops = own_storage::operations(
        [](void *, size_t, const uint8_t *, size_t, const uint8_t *) { return INGOT_NO_SPACE; });
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, nullptr));
    Session session;
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, session.describe().get(), storage, nullptr));
    ingot_program_release(program);
    EXPECT_EQ(INGOT_NO_SPACE, ingot_persist_flush(storage, nullptr, nullptr));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage, nullptr, nullptr));
    ingot_storage_release(storage);
}

/* The included file changes before the compiler gets it. The compiler then includes the file by itself, and the program
 * is not cacheable. */
TEST(PersistStoring, AProgramThatIsNotCacheableIsNoFailure)
{
    ScratchDirectory scratch;
    const fs::path file = scratch.path() / "changing.h";
    for (const auto mode : {INGOT_PERSIST_STORE_NOW, INGOT_PERSIST_STORE_ON_FLUSH}) {
        Recording recording;
        Session session;
        recording.set(mode);
        write_file(file, bytes_of("kernel first x\n"));
        ProgramText text;
        text.sources = {"#include \"changing.h\"\nkernel f x\n"};
        text.compile_options = "-I" + scratch.path().string();
        const Desc desc = text.make(session.context);
        write_file(file, bytes_of("kernel second x\n"));
        ingot_program_t program = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), recording.storage, nullptr));
        ingot_program_release(program);
        ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(recording.storage, nullptr, &progress));
        EXPECT_EQ(0u, progress.stored_count + progress.failed_count);
        EXPECT_EQ(0u, recording.count());
        EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_NOT_CACHEABLE));
    }
}

/* If taking a blob costs more than the build, the program waits for a flush. Only a limited number of programs wait. */
TEST(PersistStoring, OfTooManyWaitingProgramsTheCheapestIsDropped)
{
    Slow slow;
    Recording recording;
    const std::vector<uint8_t> expensive = slow.create(recording.storage, 0, 20);
    for (int i = 1; i < 260; ++i)
        slow.create(recording.storage, i, 0);
    EXPECT_EQ(4u, slow.session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(recording.storage, nullptr, nullptr));
    EXPECT_EQ(256u, recording.count());
    const auto ids = recording.ids();
    EXPECT_NE(ids.end(), std::find(ids.begin(), ids.end(), expensive));
}

/* Programs that are not cacheable are not stored, and that is not a failure. */
TEST(PersistStoring, AFlushOfWhatIsNotCacheableCanBeEnded)
{
    ScratchDirectory scratch;
    const fs::path file = scratch.path() / "changing.h";
    Session session; /* receives events until the storage is released */
    Recording recording;
    recording.set(INGOT_PERSIST_STORE_ON_FLUSH);
    write_file(file, bytes_of("kernel first x\n"));
    ProgramText text;
    text.sources = {"#include \"changing.h\"\nkernel f x\n"};
    std::vector<Desc> descs;
    for (const char *name : {"A", "B", "C", "D"}) {
        text.compile_options = std::string("-D") + name + " -I" + scratch.path().string();
        descs.push_back(text.make(session.context));
    }
    write_file(file, bytes_of("kernel second x\n"));
    for (const Desc &desc : descs) {
        ingot_program_t program = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), recording.storage, nullptr));
        ingot_program_release(program);
    }
    int calls = 0;
    ingot_persist_flush_info_t info = within(0);
    info.user = &calls;
    info.on_progress = [](const ingot_persist_flush_progress_t *, void *user) {
        ++*static_cast<int *>(user);
        return INGOT_BUSY;
    };
    ingot_persist_flush_progress_t progress = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    EXPECT_EQ(INGOT_BUSY, ingot_persist_flush(recording.storage, &info, &progress));
    EXPECT_EQ(1, calls);
    EXPECT_EQ(3u, progress.waiting_count);
    EXPECT_EQ(0u, progress.stored_count + progress.failed_count);
}

TEST(PersistStoring, EveryStorageTakesAMode)
{
    ScratchDirectory scratch;
    const std::string file = (scratch.path() / "file").string();
    Slow slow;
    Recording own;
    ingot_storage_t single = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_file(&single, file.c_str(), nullptr));
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    settings.store_mode = INGOT_PERSIST_STORE_NOW;
    for (ingot_storage_t storage : {own.storage, single}) {
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(storage, &settings));
        slow.create(storage, storage == single ? 1 : 2, 0);
    }
    EXPECT_EQ(1u, own.count());
    EXPECT_TRUE(fs::exists(file));
    ingot_storage_release(single);
}

TEST(PersistStoring, AChainStoresAsTheTierThatItStoresTo)
{
    const ingot_storage_ops_t shipped_ops = own_storage::operations();
    ingot_storage_t shipped = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&shipped, &shipped_ops, nullptr));
    Slow slow;
    Recording own;
    own.set(INGOT_PERSIST_STORE_NOW);
    ingot_storage_t chain = nullptr;
    ingot_storage_t outer = nullptr;
    const ingot_storage_t tiers[] = {shipped, own.storage};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 2, tiers));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&outer, 1, &chain));
    slow.create(chain, 1, 0);
    EXPECT_EQ(1u, own.count());
    slow.create(outer, 2, 0);
    EXPECT_EQ(2u, own.count());
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT; /* overrides the tier's setting */
    settings.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(chain, &settings));
    slow.create(chain, 3, 0);
    EXPECT_EQ(2u, own.count());
    ingot_storage_release(outer);
    ingot_storage_release(chain);
    ingot_storage_release(shipped);
    EXPECT_EQ(3u, own.count());
}

TEST(PersistStoring, EveryStorageHasStatistics)
{
    ScratchDirectory scratch;
    const std::string file = (scratch.path() / "file").string();
    const std::string bundle = (scratch.path() / "bundle").string();
    const Bytes id = bytes_of("an id");
    const Bytes blob = bytes_of("a blob");
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    ingot_storage_t single = nullptr;
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_file(&single, file.c_str(), nullptr));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, &single));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_storage_load(chain, id.size(), id.data(), &loaded));
    EXPECT_EQ(INGOT_SUCCESS, ingot_storage_store(chain, id.size(), id.data(), blob.size(), blob.data()));
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(chain, id.size(), id.data(), &loaded));
    loaded.release(&loaded);
    loaded = INGOT_BUFFER_INIT;
    for (ingot_storage_t storage : {chain, single}) {
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_get_stats(storage, &stats));
        EXPECT_EQ(1u, stats.hits);
        EXPECT_EQ(1u, stats.misses);
        EXPECT_EQ(1u, stats.stores);
        EXPECT_EQ(0u, stats.failures);
    }
    {
        Store store(scratch.path() / "store");
        ASSERT_EQ(INGOT_SUCCESS, store.put(id, blob));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(store.get(), bundle.c_str(), nullptr, nullptr, nullptr));
    }
    ingot_storage_t shipped = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_bundle(&shipped, bundle.c_str(), nullptr));
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(shipped, id.size(), id.data(), &loaded)) << ingot_last_error_detail();
    if (loaded.release != nullptr)
        loaded.release(&loaded);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_get_stats(shipped, &stats));
    EXPECT_EQ(1u, stats.hits);
    Slow slow;
    Recording own;
    own.set(INGOT_PERSIST_STORE_ON_FLUSH);
    slow.create(own.storage, 1, 0);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_get_stats(own.storage, &stats));
    EXPECT_EQ(1u, stats.misses);
    EXPECT_EQ(1u, stats.waiting);
    ingot_storage_release(shipped);
    ingot_storage_release(chain);
    ingot_storage_release(single);
}

TEST(PersistStoring, RefusesWhatMakesNoSense)
{
    Recording recording;
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_settings(nullptr, &settings));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_settings(recording.storage, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_get_settings(recording.storage, nullptr));
    settings.store_mode = static_cast<ingot_persist_store_mode_t>(77);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_settings(recording.storage, &settings));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_flush(nullptr, nullptr, nullptr));
    settings.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    settings.exit_time_ms = 7;
    settings.struct_size = offsetof(ingot_persist_settings_t, exit_time_ms); /* as from an older caller */
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(recording.storage, &settings));
    settings = INGOT_PERSIST_SETTINGS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_settings(recording.storage, &settings));
    EXPECT_EQ(INGOT_PERSIST_STORE_ON_FLUSH, settings.store_mode);
    EXPECT_EQ(0u, settings.exit_time_ms);
}

/* ---- the end of the process ---- */

namespace
{

/* Memory that a child writes and its parent reads. */
struct Shared {
    Shared()
        : text(static_cast<char *>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
    {
    }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;
    ~Shared() { munmap(text, kSize); }

    static constexpr size_t kSize = 4096;
    char *text;
};

/* Called in a child. Makes a session that lives until the process ends. If something is not stored in time, the session
 * writes the reason to `text`. */
Session *session_that_tells(char *text)
{
    static Session *session; /* reachable at the end of the process, so not a leak */
    session = new Session(true);
    session->on_event = [text](const ingot_event_t &event) {
        if (event.kind == INGOT_EVENT_STORAGE_DEGRADED && event.status == INGOT_BUSY)
            strncpy(text, event.reason, Shared::kSize - 1);
    };
    return session;
}

/* Called in a child. Leaves three programs that wait for a flush. */
void leave_three(Session *session, ingot_storage_t storage, uint64_t exit_time_ms)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    settings.exit_time_ms = exit_time_ms;
    if (ingot_persist_set_settings(storage, &settings) != INGOT_SUCCESS)
        _exit(2);
    for (int i = 0; i < 3; ++i) {
        ingot_program_t program = nullptr;
        if (ingot_persist_program_create(&program, session->describe(numbered_source(i)).get(), storage, nullptr) !=
            INGOT_SUCCESS)
            _exit(3);
    }
}

ingot_storage_t open_for_good(const fs::path &root)
{
    ingot_persist_info_t info = info_at(root);
    ingot_storage_t storage = nullptr;
    if (ingot_persist_open(&storage, &info) != INGOT_SUCCESS)
        _exit(1);
    return storage;
}

/* A session's hook. The library's clock, which stands still otherwise, passes 400 ms during the driver's call. */
ingot_status_t end_time_in_call(const char *operation)
{
    if (strcmp(operation, "get_binary") == 0) {
        clock_lead_ns += 400 * kMs;
        spin(std::chrono::milliseconds(100)); /* exit() usually sees that the time has ended */
    }
    return INGOT_SUCCESS;
}

/* A call of a driver. The library's clock, which stands still otherwise, soon passes 30 s, and then goes slowly, so
 * that a busy machine has time for the event. */
[[noreturn]] void never_return()
{
    for (int i = 0;; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        clock_lead_ns += i < 3000 ? 10 * kMs : kMs / 4;
    }
}

/* Makes a storage that is never released, with this store operation. */
ingot_storage_t make_for_good(ingot_status_t (*store)(void *, size_t, const uint8_t *, size_t, const uint8_t *))
{
    const ingot_storage_ops_t ops = own_storage::operations(store);
    ingot_storage_t storage = nullptr;
    if (ingot_storage_create(&storage, &ops, nullptr) != INGOT_SUCCESS)
        _exit(1);
    return storage;
}

} // namespace

TEST(PersistStoring, AnExitStoresWhatWaits)
{
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    Shared shared;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  leave_three(session_that_tells(shared.text), open_for_good(root), 600000);
                  if (!entries_of(root).empty())
                      return 4;
                  std::exit(7);
              }));
    EXPECT_EQ(3u, entries_of(root).size());
    EXPECT_STREQ("", shared.text);
}

TEST(PersistStoring, AnExitStoresTheMostExpensiveBuildsFirst)
{
    static char *order;
    static std::vector<std::vector<uint8_t>> *ids; /* reachable at the end of the process, so not a leak */
    Shared told;
    Shared stored;
    order = stored.text;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  Session *session = session_that_tells(told.text);
                  ids = new std::vector<std::vector<uint8_t>>;
                  for (int i = 0; i < 3; ++i)
                      ids->push_back(id_of(session->describe(numbered_source(i))));
                  session->hook = [number = size_t{0}](const char *operation) mutable {
                      static constexpr uint64_t kMinutes[] = {0, 20, 10};
                      if (strcmp(operation, "build") == 0)
                          clock_lead_ns += kMinutes[number++] * kMinute;
                      return INGOT_SUCCESS;
                  };
                  leave_three(
                      session, make_for_good([](void *, size_t size, const uint8_t *id, size_t, const uint8_t *) {
                          const auto found = std::find(ids->begin(), ids->end(), std::vector<uint8_t>(id, id + size));
                          order[strlen(order)] = static_cast<char>('0' + (found - ids->begin()));
                          return INGOT_SUCCESS;
                      }),
                      600000);
                  if (order[0] != '\0')
                      return 4;
                  std::exit(7);
              }));
    EXPECT_STREQ("120", stored.text);
    EXPECT_STREQ("", told.text);
}

TEST(PersistStoring, AnExitThatHasNoTimeTellsWhatIsLost)
{
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    Shared shared;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  leave_three(session_that_tells(shared.text), open_for_good(root), INGOT_NONE);
                  hold_clock(); /* exit() waits a second for the event */
                  std::exit(7);
              }));
    EXPECT_EQ(0u, entries_of(root).size());
    EXPECT_EQ(0, strncmp(shared.text, "3 programs were not stored", 26)) << shared.text;
}

TEST(PersistStoring, AnExitTellsATierOfAChainWhatIsLost)
{
    ScratchDirectory scratch;
    const std::string path = (scratch.path() / "store").string();
    Shared of_context;
    Shared of_tier;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
                  info.path = path.c_str();
                  info.on_event = [](const ingot_event_t *event, void *text) {
                      if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
                          strncpy(static_cast<char *>(text), event->reason, Shared::kSize - 1);
                  };
                  info.on_event_user = of_tier.text;
                  ingot_storage_t tier = nullptr;
                  static ingot_storage_t chain; /* reachable at the end of the process, so not a leak */
                  if (ingot_persist_open(&tier, &info) != INGOT_SUCCESS ||
                      ingot_persist_chain(&chain, 1, &tier) != INGOT_SUCCESS)
                      return 1;
                  ingot_storage_release(tier);
                  leave_three(session_that_tells(of_context.text), chain, INGOT_NONE);
                  hold_clock();
                  std::exit(7);
              }));
    EXPECT_EQ(0, strncmp(of_tier.text, "3 programs were not stored", 26)) << of_tier.text;
    EXPECT_STREQ(of_context.text, of_tier.text);
}

/* exit() waits for the driver's call that is under way when the time ends, and the blob of that call is stored. */
TEST(PersistStoring, AnExitDoesNotReportAProgramAsLostThatItStoresAfterTheTimeHasEnded)
{
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    Shared shared;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  Session *session = session_that_tells(shared.text);
                  session->hook = end_time_in_call;
                  leave_three(session, open_for_good(root), 300); /* 200 are expected for the first */
                  hold_clock();
                  std::exit(7);
              }));
    EXPECT_EQ(1u, entries_of(root).size());
    EXPECT_EQ(0, strncmp(shared.text, "2 programs were not stored", 26)) << shared.text;
}

/* Such a program is not freed, because the driver must not be called anymore, but it does not wait to be stored. */
TEST(PersistStoring, StatisticsAfterAnExitDoNotCountAsWaitingWhatItHasStored)
{
    static ingot_storage_t storage;
    static char *counts;
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    Shared told;
    Shared counted;
    counts = counted.text;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  Session *session = session_that_tells(told.text);
                  session->hook = end_time_in_call;
                  storage = open_for_good(root);
                  (void)std::atexit([]() { /* runs after persist's own functions */
                                           ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
                                           if (ingot_persist_get_stats(storage, &stats) == INGOT_SUCCESS)
                                               (void)snprintf(
                                                   counts, Shared::kSize, "%llu stored or waiting",
                                                   static_cast<unsigned long long>(stats.stores + stats.waiting));
                  });
                  leave_three(session, storage, 300); /* 200 are expected for the first */
                  hold_clock();
                  std::exit(7);
              }));
    EXPECT_STREQ("3 stored or waiting", counted.text);
}

/* exit() takes its 300 ms and at most a second more, on the library's clock. */
TEST(PersistStoring, AnExitEndsThoughAStorageNeverDoes)
{
    static uint64_t until_ns;
    Shared shared;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  alarm(240);
                  (void)std::atexit([]() { /* runs after persist's own functions */
                                           if (files_steady_clock_ns() > until_ns)
                                               _exit(8);
                  });
                  leave_three(session_that_tells(shared.text),
                              make_for_good([](void *, size_t, const uint8_t *, size_t, const uint8_t *) {
                                  for (;;)
                                      pause();
                                  return INGOT_SUCCESS;
                              }),
                              300);
                  slow_clock(4);
                  until_ns = files_steady_clock_ns() + 10000 * kMs;
                  std::exit(7);
              }));
    EXPECT_EQ(0, strncmp(shared.text, "3 programs were not stored", 26)) << shared.text;
}

/* An exit waits 30 s for a call in a driver, because a driver that shuts down during a call may crash. The next process
 * does not begin that call again. */
TEST(PersistStoring, AnExitEndsThoughADriverNeverReturns)
{
    static uint64_t began_ns, least_ns;
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    for (const int stored : {0, 2}) {
        Shared shared;
        EXPECT_EQ(7, forked_child::run([&]() -> int {
                      alarm(240);
                      (void)std::atexit([]() { /* runs after persist's own functions */
                                               const uint64_t passed_ns = files_steady_clock_ns() - began_ns;
                                               if (passed_ns < least_ns || passed_ns > least_ns + 3000 * kMs)
                                                   _exit(8);
                      });
                      Session *session = session_that_tells(shared.text);
                      session->hook = [number = 0, stored](const char *operation) mutable {
                          number += strcmp(operation, "build") == 0;
                          if (strcmp(operation, "build") == 0 && number == 1)
                              clock_lead_ns += kMinute; /* stored first, because it was built longest */
                          if (strcmp(operation, "get_binary") == 0 && stored == 0)
                              never_return();
                          return INGOT_SUCCESS;
                      };
                      leave_three(session, open_for_good(root), 2000);
                      hold_clock();
                      began_ns = files_steady_clock_ns();
                      least_ns = stored == 0 ? 30000 * kMs : 0;
                      std::exit(7);
                  }));
        EXPECT_EQ(stored, static_cast<int>(entries_of(root).size()));
        EXPECT_EQ(static_cast<char>('3' - stored), shared.text[0]) << shared.text;
    }
}

TEST(PersistStoring, AnExitInTheMidstOfStoringDoesNotWaitForItself)
{
    Shared shared;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  ingot_storage_t storage = make_for_good(
                      [](void *, size_t, const uint8_t *, size_t, const uint8_t *) -> ingot_status_t { std::exit(7); });
                  leave_three(session_that_tells(shared.text), storage, 600000);
                  slow_clock(4); /* exit() waits a second for the event */
                  (void)ingot_persist_flush(storage, nullptr, nullptr);
                  return 4;
              }));
    EXPECT_EQ(0, strncmp(shared.text, "3 programs were not stored", 26)) << shared.text;
}

TEST(PersistStoring, AForkedChildHasNothingToStoreAtItsEnd)
{
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    Shared shared;
    EXPECT_EQ(7, forked_child::run([&]() -> int {
                  leave_three(session_that_tells(shared.text), open_for_good(root), 600000);
                  const int ended = forked_child::run([]() -> int { std::exit(8); });
                  _exit(ended == 8 && entries_of(root).empty() ? 7 : 4);
              }));
    EXPECT_STREQ("", shared.text);
}

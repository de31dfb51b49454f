/*
 * cancellation_test.cpp - tests that pthread_cancel never ends a thread that holds a lock, or for which other threads
 * wait.
 *
 * A thread that has canceled itself ends at its next cancellation point. If it returns from a call, the call had no
 * cancellation point.
 */
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include <ingot/prewarm.h>

#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

/* A thread that can be canceled. Records whether it finished its work before it was canceled. */
class Cancellable
{
public:
    explicit Cancellable(std::function<void()> work) : work_(std::move(work))
    {
        EXPECT_EQ(0, pthread_create(&thread_, nullptr, run, this));
    }
    void cancel() { EXPECT_EQ(0, pthread_cancel(thread_)); }
    /* Waits for the thread to end. Returns true if its work was done before it was canceled. */
    bool join()
    {
        EXPECT_EQ(0, pthread_join(thread_, nullptr));
        return is_done_;
    }

private:
    static void *run(void *user)
    {
        auto *self = static_cast<Cancellable *>(user);
        self->work_();
        self->is_done_ = true;
        pthread_testcancel();
        return nullptr;
    }

    std::function<void()> work_;
    pthread_t thread_{};
    std::atomic<bool> is_done_{false};
};

/* True if the call has no cancellation point. */
bool is_steady(const std::function<ingot_status_t()> &call, ingot_status_t expected = INGOT_SUCCESS)
{
    std::atomic<int> status{-1};
    Cancellable thread([&] {
        pthread_cancel(pthread_self());
        status = call();
    });
    const bool came_back = thread.join();
    if (came_back) {
        EXPECT_EQ(expected, status);
    }
    return came_back;
}

} // namespace

TEST(Cancellation, OfAThreadThatWaitsLeavesTheCacheUsable)
{
    Session session;
    const Desc desc = session.describe();
    std::atomic<bool> may_build{false};
    session.hook = [&](const char *) {
        while (!may_build)
            std::this_thread::yield();
        return INGOT_SUCCESS;
    };
    ingot_program_t of_builder = nullptr;
    std::thread builder([&] { EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&of_builder, desc.get(), 0)); });
    while (stats_of(session.context).misses == 0)
        std::this_thread::yield();
    ingot_program_t of_waiter = nullptr;
    Cancellable waiter([&] { EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&of_waiter, desc.get(), 0)); });
    while (stats_of(session.context).waits == 0)
        std::this_thread::yield();
    waiter.cancel();
    may_build = true;
    EXPECT_TRUE(waiter.join()) << "it ended while it waited";
    builder.join();
    EXPECT_EQ(1u, stats_of(session.context).programs);
    EXPECT_EQ(of_builder, of_waiter);
    ingot_program_release(of_builder);
    ingot_program_release(of_waiter);
}

TEST(Cancellation, OfAThreadThatBuildsLeavesNobodyWaiting)
{
    Session session;
    const Desc desc = session.describe();
    session.hook = [&](const char *) {
        while (stats_of(session.context).waits == 0)
            std::this_thread::yield();
        pthread_testcancel();
        return INGOT_SUCCESS;
    };
    Program of_waiter;
    ingot_program_t of_builder = nullptr;
    Cancellable builder([&] {
        pthread_cancel(pthread_self());
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&of_builder, desc.get(), 0));
    });
    while (stats_of(session.context).misses == 0)
        std::this_thread::yield();
    of_waiter = create_program(desc);
    EXPECT_TRUE(builder.join());
    EXPECT_EQ(of_waiter.get(), of_builder);
    ingot_program_release(of_builder);
}

TEST(Cancellation, NothingThatReadsAFileOrStoresIsACancellationPoint)
{
    ScratchDirectory scratch;
    const std::string root = (scratch.path() / "store").string();
    const std::string bundle = (scratch.path() / "bundle").string();
    const std::string manifest = (scratch.path() / "manifest").string();
    std::ofstream(scratch.path() / "f.h") << "#define A 1\n";
    Session session;
    ProgramText text;
    text.sources = {"#include \"f.h\"\nkernel twice x 2 *\n"};
    text.compile_options = "-I" + scratch.path().string();
    ingot_program_desc_t desc = nullptr;
    EXPECT_TRUE(is_steady([&] { return text.try_make(session.context.get(), &desc); }));
    const Desc owned(desc);
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = root.c_str();
    info.store_mode = INGOT_PERSIST_STORE_NOW;
    ingot_storage_t storage = nullptr;
    EXPECT_TRUE(is_steady([&] { return ingot_persist_open(&storage, &info); }));
    ASSERT_NE(nullptr, storage);
    ingot_manifest_record_info_t record = INGOT_MANIFEST_RECORD_INFO_INIT;
    record.path = manifest.c_str();
    EXPECT_TRUE(is_steady([&] { return ingot_manifest_record(storage, &record); }));
    ingot_program_t program = nullptr;
    EXPECT_TRUE(is_steady([&] { return ingot_persist_program_create(&program, desc, storage, nullptr); }));
    EXPECT_TRUE(is_steady([&] { return ingot_persist_flush(storage, nullptr, nullptr); }));

    size_t id_size = 0;
    const uint8_t *id = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_get_cache_blob_id(desc, &id_size, &id));
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_TRUE(is_steady([&] { return ingot_storage_load(storage, id_size, id, &blob); }));
    EXPECT_TRUE(is_steady([&] { return ingot_storage_store(storage, id_size, id, blob.size, blob.bytes); }));
    if (blob.release != nullptr)
        blob.release(&blob);
    EXPECT_TRUE(
        is_steady([&] { return ingot_persist_write_bundle(storage, bundle.c_str(), nullptr, nullptr, nullptr); }));
    EXPECT_TRUE(is_steady([&] {
        ingot_persist_verification_t found = INGOT_PERSIST_VERIFICATION_INIT;
        return ingot_persist_verify(storage, 1, nullptr, nullptr, &found);
    }));
    EXPECT_TRUE(is_steady([&] {
        ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
        return ingot_persist_recount(storage, &count);
    }));
    ingot_prewarm_info_t prewarm_info = INGOT_PREWARM_INFO_INIT;
    prewarm_info.manifest = manifest.c_str();
    ingot_prewarm_t prewarm = nullptr;
    EXPECT_TRUE(is_steady([&] { return ingot_prewarm_start(&prewarm, storage, &prewarm_info); }));
    EXPECT_TRUE(is_steady([&] { return ingot_prewarm_wait(prewarm, nullptr); }));
    ingot_prewarm_release(prewarm);
    EXPECT_TRUE(is_steady([&] { return ingot_persist_clear(storage); }));
    EXPECT_TRUE(is_steady([&] { return ingot_storage_remove(storage, id_size, id); }, INGOT_NOT_FOUND));
    ingot_program_release(program);
    ingot_storage_release(storage);
}

TEST(Cancellation, OfAThreadThatWaitsForALoadAheadLeavesTheStorageUsable)
{
    ScratchDirectory scratch;
    const std::string manifest = (scratch.path() / "manifest").string();
    const std::string root = (scratch.path() / "store").string();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = root.c_str();
    info.store_mode = INGOT_PERSIST_STORE_NOW;
    Store store(info);
    {
        Session first;
        ingot_manifest_record_info_t record = INGOT_MANIFEST_RECORD_INFO_INIT;
        record.path = manifest.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &record));
        first.create(first.describe(), store);
        ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), nullptr));
    }
    struct Slow {
        const Store &store;
        std::atomic<bool> is_loading{false};
        std::atomic<bool> may_load{false};
    } slow{store};
    ingot_storage_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.load = [](void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob) {
        auto *known = static_cast<Slow *>(self);
        known->is_loading = true;
        while (!known->may_load)
            std::this_thread::yield();
        return ingot_storage_load(known->store.get(), id_size, id, blob);
    };
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, &slow));
    Session session;
    std::atomic<bool> asked{false};
    session.on_event = [&](const ingot_event_t &event) { asked = asked || event.kind == INGOT_EVENT_MISS; };
    ingot_prewarm_info_t prewarm_info = INGOT_PREWARM_INFO_INIT;
    prewarm_info.manifest = manifest.c_str();
    ingot_prewarm_t prewarm = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_prewarm_start(&prewarm, storage, &prewarm_info));
    while (!slow.is_loading)
        std::this_thread::yield();
    const Desc desc = session.describe();
    Cancellable waiter([&] {
        pthread_cancel(pthread_self());
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, nullptr));
        ingot_program_release(program);
    });
    while (!asked)
        std::this_thread::yield();
    slow.may_load = true;
    EXPECT_TRUE(waiter.join());
    EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm, nullptr));
    ingot_prewarm_release(prewarm);
    ingot_storage_release(storage);
    EXPECT_EQ(1u, session.counts.loads);
}

/*
 * Tests programs that are requested through a storage: where they come from, what is stored when, and that a storage's
 * failure does not fail the request.
 */
#include <atomic>

#include <ingot/private/program.h>

#include "support/persist_session.h"
#include "support/small_stack.h"
#include "support/threads.h"

using namespace store_fixture;

namespace
{

class PersistProgram : public StoreTest
{
protected:
    Store &store() { return *store_; }
    void reopen(ingot_persist_store_mode_t mode = INGOT_PERSIST_STORE_NOW, uint32_t flags = 0)
    {
        store_.reset();
        ingot_persist_info_t info = info_at(root_);
        info.store_mode = mode;
        info.flags = flags;
        info.lock_timeout_ms = 60000;
        store_ = std::make_unique<Store>(info);
        ASSERT_EQ(INGOT_SUCCESS, store_->status());
    }
    void SetUp() override { reopen(); }

    std::unique_ptr<Store> store_;
};

} // namespace

TEST_F(PersistProgram, ComesFromBuildThenMemoryThenStorage)
{
    {
        Session first;
        const Desc desc = first.describe();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(desc, store()));
        EXPECT_EQ(INGOT_ORIGIN_MEMORY, first.create(desc, store()));
        EXPECT_EQ(1u, first.counts.builds);
        EXPECT_EQ(1u, first.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_NOT_FOUND));
        EXPECT_EQ(1u, first.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
    }
    Session second;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, second.create(second.describe(), store()));
    EXPECT_EQ(0u, second.counts.builds);
    EXPECT_EQ(1u, second.counts.loads);
    EXPECT_EQ(1u, second.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_SUCCESS));
    EXPECT_EQ(0u, second.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
}

TEST_F(PersistProgram, NeedsLittleStack)
{
    Session first;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(first.describe(), store()));
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    ingot_status_t status = INGOT_BUSY;
    ASSERT_TRUE(small_stack::run([&] {
        Session second;
        status = request_through(second.describe(), store().get(), &origin);
        (void)store().put(bytes_of("another id"), bytes_of("another blob"));
    }));
    EXPECT_EQ(INGOT_SUCCESS, status);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin);
}

TEST_F(PersistProgram, ARefusedBlobIsReplaced)
{
    Session first;
    const Desc desc = first.describe();
    const auto id = id_of(desc);
    ASSERT_EQ(INGOT_SUCCESS, store().put(id, bytes_of("sound for the store, no blob for the core")));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(desc, store()));
    Session second;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, second.create(second.describe(), store()));
    EXPECT_EQ(1u, entries_of(root_).size());
}

TEST_F(PersistProgram, ABlobThatTheDriverRefusesIsReplacedAndOneThatItFailsToLoadStays)
{
    for (const ingot_status_t failure : {INGOT_BLOB_REJECTED, INGOT_BACKEND_ERROR}) {
        fs::remove_all(root_);
        reopen();
        const Session first;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(first.describe(), store()));
        Session second;
        second.before = [&](const std::string &operation) { return operation == "load" ? failure : INGOT_SUCCESS; };
        EXPECT_EQ(INGOT_ORIGIN_BUILD, second.create(second.describe(), store()));
        const size_t replacements = failure == INGOT_BLOB_REJECTED ? 1 : 0;
        EXPECT_EQ(replacements, second.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
        EXPECT_EQ(1 + replacements, store().stats().stores);
        const Session third;
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, third.create(third.describe(), store()));
    }
}

TEST_F(PersistProgram, ADamagedFileIsCountedAndReplaced)
{
    const Session first;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(first.describe(), store()));
    const fs::path entry = entries_of(root_).at(0);
    unsigned damaged = 0;
    for (const char *name : {"key.bin", "kernel.bin"}) {
        for (const bool is_cut : {false, true}) {
            Bytes bad = read_file(entry / name);
            if (is_cut)
                bad.pop_back();
            else
                bad[20] ^= 1u;
            write_file(entry / name, bad);
            Session second, third;
            EXPECT_EQ(INGOT_ORIGIN_BUILD, second.create(second.describe(), store())) << name << is_cut;
            EXPECT_EQ(++damaged, store().stats().refused);
            EXPECT_EQ(damaged, store().stats().corrupt);
            EXPECT_EQ(1u,
                      second.seen.count(INGOT_EVENT_STORAGE_LOAD, is_cut ? INGOT_BLOB_TRUNCATED : INGOT_BLOB_CORRUPT));
            EXPECT_EQ(INGOT_ORIGIN_STORAGE, third.create(third.describe(), store())) << name << is_cut;
        }
    }
    EXPECT_EQ(0u, store().stats().rejected);
}

/* It was damaged before it was stored. */
TEST_F(PersistProgram, ADamageThatOnlyTheCoreFindsIsReplaced)
{
    const Session first;
    const Desc desc = first.describe();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(desc, store()));
    Bytes bad = read_file(entries_of(root_).at(0) / "kernel.bin");
    bad.back() ^= 1u;
    fs::remove_all(root_);
    reopen();
    ASSERT_EQ(INGOT_SUCCESS, store().put(id_of(desc), bad));
    const Session second, third;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, second.create(second.describe(), store()));
    EXPECT_EQ(1u, store().stats().rejected);
    EXPECT_EQ(0u, store().stats().corrupt);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, third.create(third.describe(), store()));
}

TEST_F(PersistProgram, ADamagedBlobInTheFirstTierComesFromTheSecond)
{
    Session first;
    const std::string below = (scratch_.path() / "below").string();
    Store second_tier(below);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(first.describe(), store()));
    Session other;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, other.create(other.describe(), second_tier));
    const fs::path file = entries_of(root_).at(0) / "kernel.bin";
    const Bytes good = read_file(entries_of(below).at(0) / "kernel.bin");
    Bytes bad = read_file(file);
    bad.back() ^= 1u;
    write_file(file, bad);

    const HeldStorage chain = chain_of({store().get(), second_tier.get()});
    const Session session;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(), chain_of({chain.get()})))
        << "the second tier must be asked all the same";
    EXPECT_EQ(good, read_file(entries_of(root_).at(0) / "kernel.bin")) << "what was promoted";
}

TEST_F(PersistProgram, BuildsWhatIsNotCacheableAndStoresNothing)
{
    Session session;
    const Desc desc = session.describe("kernel twice x 2 * __DATE__ no_such_word\n");
    const char *reason = nullptr;
    ASSERT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_is_cacheable(desc.get(), &reason));
    EXPECT_EQ(INGOT_BUILD_FAILED, request_through(desc, store().get())); /* the compiler refuses it */
    EXPECT_EQ(0u, entries_of(root_).size());
}

TEST_F(PersistProgram, TellsWhyAnIdCouldNotBeMade)
{
    ScratchDirectory scratch;
    Store store(scratch.path() / "store");
    std::string reason;
    Session session;
    session.fail("identify", INGOT_BACKEND_ERROR);
    session.on_event = [&](const ingot_event_t &event) {
        if (event.kind == INGOT_EVENT_NO_ID)
            reason = event.reason;
    };
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store));
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_NO_ID, INGOT_BACKEND_ERROR));
    EXPECT_EQ("the hook failed identify", reason);
    EXPECT_EQ(0u, entries_of(scratch.path() / "store").size());
}

TEST_F(PersistProgram, TheLastReleaseStoresWhatWaitsAfterTheContextHasGone)
{
    reopen(INGOT_PERSIST_STORE_ON_FLUSH);
    reference_counts_t *counts;
    auto session = std::make_unique<Session>();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session->create(session->describe(), store()));
    session->context.reset();
    counts = &session->counts;
    EXPECT_EQ(0u, counts->states_destroyed); /* the waiting program holds the context */
    EXPECT_EQ(0u, entries_of(root_).size());
    store_.reset();
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(1u, counts->states_destroyed);
    EXPECT_EQ(0, counts->live_programs);
}

TEST_F(PersistProgram, AStorageThatFailsIsNotTheCallersFailure)
{
    const ingot_storage_ops_t broken =
        own_storage::operations([](void *, size_t, const uint8_t *, size_t, const uint8_t *) { return INGOT_NO_SPACE; },
                                [](void *, size_t, const uint8_t *, ingot_buffer_t *) { return INGOT_IO_ERROR; });
    const HeldStorage storage =
        opened([&](ingot_storage_t *made) { return ingot_storage_create(made, &broken, nullptr); });
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), storage));
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_IO_ERROR));
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_NO_SPACE));
}

TEST_F(PersistProgram, AReadOnlyStoreIsNotTheCallersFailure)
{
    reopen(INGOT_PERSIST_STORE_NOW, INGOT_PERSIST_READ_ONLY);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store()));
    EXPECT_EQ(0u, entries_of(root_).size());
    EXPECT_EQ(0u, session.counts.binaries_taken); /* taking a binary would be of no use */
}

TEST_F(PersistProgram, BlobsThatCannotBeTakenAreNotTheCallersFailure)
{
    Session session;
    session.fail("get_binary", INGOT_BACKEND_ERROR);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store()));
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_BACKEND_ERROR));
    EXPECT_EQ(0u, entries_of(root_).size());
}

TEST_F(PersistProgram, TellsEvictionsToTheContextToo)
{
    store_.reset();
    ingot_persist_info_t info = info_at(root_);
    info.max_bytes = 40000;
    store_ = std::make_unique<Store>(info);
    Session session;
    for (int i = 0; i < 10; ++i)
        session.create(session.describe(numbered_source(i)), store());
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store().get(), nullptr, nullptr));
    EXPECT_GT(session.seen.count(INGOT_EVENT_STORAGE_EVICT, INGOT_SUCCESS), 0u);
    EXPECT_LE(bytes_in(root_), 40000u);
}

TEST_F(PersistProgram, ThreadsThatAskAtOnceShareOneBuild)
{
    Session session;
    const Desc desc = session.describe();
    ASSERT_FALSE(id_of(desc).empty());
    std::vector<Program> programs(8);
    in_threads(8, [&](size_t i) { session.create(desc, store(), &programs[i]); });
    for (const Program &program : programs)
        EXPECT_EQ(programs[0], program);
    EXPECT_EQ(1u, session.counts.builds);
    EXPECT_EQ(1u, entries_of(root_).size());
}

TEST_F(PersistProgram, ThreadsThatAskAtOnceForWhatIsNotKeptShareOneBuild)
{
    Session session;
    std::atomic<int> begun{0};
    session.at("build", [&] {
        if (++begun == 1) /* until all the others wait for this build */
            wait_until([&] { return begun != 1 || stats_of(session.context).waits >= 7; });
    });
    const Desc desc = session.describe("kernel twice x 2 *\n", INGOT_PROGRAM_NO_MEMORY_CACHE);
    std::atomic<int> built{0};
    in_threads(8, [&](size_t) { built += session.create(desc, store()) == INGOT_ORIGIN_BUILD ? 1 : 0; });
    EXPECT_EQ(1, built);
    EXPECT_EQ(1u, session.counts.builds);
    EXPECT_EQ(1u, stats_of(session.context).misses);
    EXPECT_EQ(1u, store().stats().stores);
    EXPECT_EQ(0, session.counts.live_programs);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store())); /* the store has the program, but memory does not */
    EXPECT_EQ(1u, session.counts.builds);
}

/* The second request comes when the first one's build is over, so there is nothing to wait for in memory, but the store
 * does not have the blob yet. Threads of a process do not wait until another thread has stored its blob, because one
 * thread's event callback may need a lock that the other thread holds. */
TEST_F(PersistProgram, AThreadThatAsksForWhatIsNotKeptWhileItIsStoredBuildsAtOnce)
{
    Session session;
    std::atomic<bool> has_begun{false};
    std::atomic<ingot_origin_t> origin{INGOT_ORIGIN_MEMORY};
    const Desc desc = session.describe("kernel twice x 2 *\n", INGOT_PROGRAM_NO_MEMORY_CACHE);
    session.at("get_binary", [&] {
        if (!has_begun.exchange(true))
            std::thread([&] { origin = session.create(desc, store()); }).join();
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(desc, store()));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin);
    EXPECT_EQ(0u, store().stats().wait_timeouts) << "it waited for what waits for it here";
    EXPECT_EQ(2u, session.counts.builds);
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(desc, store()));
}

TEST_F(PersistProgram, RefusesMissingArguments)
{
    Session session;
    const Desc desc = session.describe();
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_program_create(nullptr, desc.get(), store().get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_program_create(&program, nullptr, store().get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_program_create(&program, desc.get(), nullptr, nullptr));
    EXPECT_STREQ("memory", ingot_origin_name(INGOT_ORIGIN_MEMORY));
    EXPECT_STREQ("storage", ingot_origin_name(INGOT_ORIGIN_STORAGE));
    EXPECT_STREQ("build", ingot_origin_name(INGOT_ORIGIN_BUILD));
    EXPECT_STRNE(nullptr, ingot_origin_name(static_cast<ingot_origin_t>(9)));
}

/* ---- what a flush says ---- */

TEST_F(PersistProgram, WhatTheLimitsExcludeIsNoFailureOfAFlush)
{
    store_.reset();
    ingot_persist_info_t info = info_at(root_);
    info.max_blob_bytes = 1;
    info.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    store_ = std::make_unique<Store>(info);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store()));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store().get(), nullptr, nullptr)) << ingot_last_error_detail();
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_NO_SPACE));
    EXPECT_EQ(0u, entries_of(root_).size());
}

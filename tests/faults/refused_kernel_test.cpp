/*
 * refused_kernel_test.cpp - tests what happens if the driver loads the program of a sound entry, but then refuses to
 * make a kernel from it. Ingot must drop such an entry, compile the program again and store it. No available driver can
 * be made to refuse in this way, so the reference backend does it.
 */
#include <ingot/private/program.h>

#include <atomic>

#include "support/persist_session.h"
#include "support/threads.h"

using namespace store_fixture;

namespace
{

Store open_store(const fs::path &path, uint32_t flags = 0)
{
    ingot_persist_info_t info = info_at(path);
    info.store_mode = INGOT_PERSIST_STORE_NOW;
    info.flags = flags;
    info.lock_timeout_ms = 60000;
    return Store(info);
}

/* A session whose driver refuses to make kernels until it has compiled a program itself. */
struct Picky : Session {
    Picky()
    {
        before = [this](const std::string &operation) {
            const bool is_kernel = operation == "create_kernel";
            return is_kernel && __atomic_load_n(&counts.builds, __ATOMIC_SEQ_CST) == 0 ? refusal : INGOT_SUCCESS;
        };
    }
    ingot_status_t refusal = INGOT_BACKEND_ERROR;
};

/* Requests a kernel, which must fail. */
ingot_status_t refusal(const Desc &desc, ingot_storage_t storage, const char *name = "twice", uint32_t device = 0)
{
    ingot_kernel_t kernel = nullptr;
    const ingot_status_t status = ingot_persist_kernel_create(&kernel, desc.get(), storage, device, name, nullptr);
    EXPECT_EQ(nullptr, kernel);
    return status;
}

/* Requests a kernel that works. Returns where its program came from. */
ingot_origin_t ask(const Desc &desc, const HeldStorage &storage)
{
    ingot_kernel_t kernel = nullptr;
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_kernel_create(&kernel, desc.get(), storage.get(), 0, "twice", &origin))
        << ingot_last_error_detail();
    const Kernel owned(kernel);
    if (kernel != nullptr) {
        EXPECT_EQ(42, run(owned, 21));
    }
    return origin;
}

ingot_origin_t ask(const Session &session, const HeldStorage &storage)
{
    return ask(session.describe(), storage);
}

class RefusedKernel : public StoreTest
{
protected:
    void fill(const HeldStorage &storage)
    {
        Session session;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(session, storage));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage.get(), nullptr, nullptr));
    }
    HeldStorage make_bundle()
    {
        const HeldStorage made = open_store(scratch_.path() / "made");
        fill(made);
        return bundle_of(made, scratch_.path() / "bundle");
    }
};

} // namespace

TEST_F(RefusedKernel, DropsTheEntryAndCompilesAndStoresTheProgram)
{
    const HeldStorage storage = open_store(root_);
    for (const ingot_status_t refusal : {INGOT_BACKEND_ERROR, INGOT_BLOB_REJECTED}) {
        fill(storage);
        const fs::file_time_type stored = fs::last_write_time(entries_of(root_).at(0) / "kernel.bin");
        const uint64_t rejected = storage.stats().rejected;
        Picky picky;
        picky.refusal = refusal;
        const Desc desc = picky.describe();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(desc, storage));
        EXPECT_EQ(1u, picky.counts.loads);
        EXPECT_EQ(1u, picky.counts.builds);
        EXPECT_EQ(1u, picky.seen.count(INGOT_EVENT_LOAD, INGOT_BLOB_REJECTED));
        EXPECT_EQ(1u, picky.seen.count(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
        EXPECT_EQ(0u, picky.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY));
        EXPECT_EQ(rejected + 1, storage.stats().rejected);
        EXPECT_LT(stored, fs::last_write_time(entries_of(root_).at(0) / "kernel.bin"));
        EXPECT_EQ(INGOT_ORIGIN_MEMORY, ask(desc, storage));
        Session next;
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, ask(next, storage));
        ASSERT_EQ(INGOT_SUCCESS, clear_store(storage.get()));
    }
}

TEST_F(RefusedKernel, CompilesAProgramThatWasLoadedBeforeItsKernelWasRefused)
{
    const HeldStorage storage = open_store(root_);
    fill(storage);
    Picky picky;
    const Desc desc = picky.describe();
    ingot_program_t program = nullptr;
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage.get(), &origin));
    const Program held(program);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin);
    EXPECT_TRUE(is_from_cache_blob(program));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(desc, storage));
    const Program compiled = create_program(desc);
    EXPECT_NE(program, compiled.get());
    EXPECT_FALSE(is_from_cache_blob(compiled.get()));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_program_forget(program));
    EXPECT_EQ(1u, picky.counts.builds);
}

TEST_F(RefusedKernel, CompilesNothingForAMissingKernelABadDeviceOrLackOfMemory)
{
    const HeldStorage storage = open_store(root_);
    fill(storage);
    Picky picky;
    const Desc desc = picky.describe();
    EXPECT_EQ(INGOT_NOT_FOUND, refusal(desc, storage.get(), "thrice"));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, refusal(desc, storage.get(), "twice", 7));
    picky.refusal = INGOT_OUT_OF_MEMORY;
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, refusal(desc, storage.get()));
    EXPECT_EQ(0u, picky.counts.builds);
    EXPECT_EQ(0u, storage.stats().rejected);
}

TEST_F(RefusedKernel, CompilesOnceIfTheCompiledProgramIsRefusedToo)
{
    const HeldStorage storage = open_store(root_);
    Session session;
    session.fail("create_kernel", INGOT_BACKEND_ERROR);
    const Desc desc = session.describe();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(INGOT_BACKEND_ERROR, refusal(desc, storage.get()));
    EXPECT_EQ(1u, session.counts.builds);
    Session loads;
    loads.before = session.before;
    const Desc again = loads.describe();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(INGOT_BACKEND_ERROR, refusal(again, storage.get()));
    EXPECT_EQ(1u, loads.counts.builds);
    EXPECT_EQ(1u, storage.stats().rejected);
}

TEST_F(RefusedKernel, ReplacesTheBlobOfASingleFile)
{
    const HeldStorage storage = open_file(scratch_.path() / "file");
    fill(storage);
    Picky picky;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(picky, storage));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage.get(), nullptr, nullptr));
    Session next;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, ask(next, storage));
}

TEST_F(RefusedKernel, StoresInTheTierBeforeABundle)
{
    const HeldStorage bundle = make_bundle();
    const HeldStorage store = open_store(root_);
    const HeldStorage chain = chain_of({store.get(), bundle.get()});
    Picky picky;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(picky, chain));
    EXPECT_EQ(0u, picky.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(chain.get(), nullptr, nullptr));
    ASSERT_EQ(1u, entries_of(root_).size());
    Session next;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, ask(next, store)); /* the chain's first tier now has it */
}

TEST_F(RefusedKernel, ReportsABundleBeforeAllOtherTiersAndCompilesInEachSession)
{
    const HeldStorage bundle = make_bundle();
    const HeldStorage store = open_store(root_);
    const HeldStorage chain = chain_of({bundle.get(), store.get()});
    for (const HeldStorage *storage : {&bundle, &chain}) {
        for (int i = 0; i < 2; ++i) {
            Picky picky;
            EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(picky, *storage));
            EXPECT_EQ(1u, picky.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY));
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage->get(), nullptr, nullptr));
        }
    }
}

TEST_F(RefusedKernel, ReportsAReadOnlyStore)
{
    fill(open_store(root_));
    const HeldStorage storage = open_store(root_, INGOT_PERSIST_READ_ONLY);
    Picky picky;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, ask(picky, storage));
    EXPECT_EQ(1u, picky.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY));
    EXPECT_EQ(1u, entries_of(root_).size());
}

TEST_F(RefusedKernel, LeavesOneSoundEntryIfManyThreadsAreRefusedAtOnce)
{
    const HeldStorage storage = open_store(root_);
    fill(storage);
    for (int round = 0; round < 20; ++round) {
        Picky picky;
        const Desc desc = picky.describe();
        std::atomic<int> ready{0};
        in_threads(4, [&](size_t) {
            for (++ready; ready < 4;)
                std::this_thread::yield();
            (void)ask(desc, storage);
        });
        EXPECT_EQ(1u, entries_of(root_).size());
        Session next;
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, ask(next, storage));
    }
}

TEST_F(RefusedKernel, RejectsMissingArguments)
{
    const HeldStorage storage = open_store(root_);
    Session session;
    const Desc desc = session.describe();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_persist_kernel_create(nullptr, desc.get(), storage.get(), 0, "twice", nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, refusal(Desc(), storage.get()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, refusal(desc, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, refusal(desc, storage.get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_forget(nullptr));
}

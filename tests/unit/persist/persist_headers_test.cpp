/*
 * Tests that a store saves what contexts learn about included files. The next process continues with what was saved,
 * and works whatever happens to the file headers.memo.
 */
#include <sys/stat.h>

#include <algorithm>

#include <gtest/gtest.h>
#include <ingot/private/header_memo.h>

#include "support/failing_allocator.h"
#include "support/forked_child.h"
#include "support/old_header.h"
#include "support/persist_session.h"
#include "support/storage_settings.h"

using namespace store_fixture;

namespace
{

class PersistHeaders : public testing::Test
{
protected:
    ingot_persist_info_t info() const
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root_.c_str();
        return info;
    }

    static uint64_t learned(const Session &session)
    {
        return ingot_header_memo_count_learned(ingot_context_get_header_memo(session.context.get()));
    }

    /* Describes these programs, as one run of an application does. Returns for how many of them the context had to
     * learn what they include. */
    uint64_t run(const std::vector<int> &numbers)
    {
        Session session;
        Store store(info());
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()))
            << ingot_last_error_detail();
        for (const int number : numbers)
            (void)header_.program(number).make(session.context);
        return learned(session);
    }

    fs::path memo() const { return root_ / "headers.memo"; }

    OldHeader header_;
    ScratchDirectory scratch_;
    fs::path root_ = scratch_.path() / "store";
};

TEST_F(PersistHeaders, AreKnownToTheNextProcess)
{
    EXPECT_EQ(2u, run({1, 2}));
    EXPECT_EQ(0u, run({1, 2}));
    EXPECT_EQ(1u, run({1, 2, 3}));
    EXPECT_EQ(0, forked_child::run([this] { return static_cast<int>(run({1, 2, 3})); }));
    struct stat about = {};
    ASSERT_EQ(0, stat(memo().c_str(), &about));
    EXPECT_EQ(0600u, about.st_mode & 0777);
    EXPECT_FALSE(fs::exists(root_ / "headers.memo.new"));
}

TEST_F(PersistHeaders, AreMergedWithWhatOtherProcessesSaved)
{
    Session one;
    Store store(info());
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), one.context.get()));
    EXPECT_EQ(2u, run({1, 2}));
    (void)header_.program(3).make(one.context);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ(0u, run({1, 2, 3}));
}

TEST_F(PersistHeaders, OfSeveralContextsAreSaved)
{
    {
        Store store(info());
        Session one;
        Session two;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), one.context.get()));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), two.context.get()));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), two.context.get())) << "once more";
        (void)header_.program(1).make(one.context);
        (void)header_.program(2).make(two.context);
    } /* the contexts end before the store */
    EXPECT_EQ(0u, run({1, 2}));
}

TEST_F(PersistHeaders, AreSavedWhenProgramsAreCreated)
{
    Session session;
    Store store(info());
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
    (void)header_.program(1).make(session.context);
    (void)session.create(session.describe(), store);
    EXPECT_EQ(0u, run({1})) << "a process that is killed now has saved it";
}

TEST_F(PersistHeaders, AreSavedByTheNextFlushIfOneFailed)
{
    Session session;
    Store store(info());
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
    (void)header_.program(1).make(session.context);
    fs::create_directory(root_ / "headers.memo.new");
    EXPECT_NE(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    fs::remove(root_ / "headers.memo.new");
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ(0u, run({1}));
}

/* The first save reads a file that does not exist yet, and a failed save says why. Neither hides what came before. */
TEST_F(PersistHeaders, LeaveTheSentenceOfAFailedFlush)
{
    for (const bool is_saved : {true, false}) {
        ScratchDirectory scratch;
        const std::string root = (scratch.path() / "store").string();
        ingot_persist_info_t waiting = info();
        waiting.path = root.c_str();
        waiting.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
        Session session;
        const Store store(waiting);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
        (void)session.create(session.describe(), store);
        (void)header_.program(1).make(session.context);
        write_file(fs::path(root) / "tmp", bytes_of("not a directory"));
        if (!is_saved)
            fs::create_directory(fs::path(root) / "headers.memo.new");
        EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_flush(store.get(), nullptr, nullptr));
        const std::string detail = ingot_last_error_detail();
        EXPECT_EQ(0u, detail.find("tmp")) << detail;
        EXPECT_EQ(is_saved, fs::is_regular_file(fs::path(root) / "headers.memo"));
    }
}

TEST_F(PersistHeaders, AreSavedByTheNextFlushIfSavingThemWithAProgramFailed)
{
    Session session;
    Store store(info());
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
    (void)header_.program(1).make(session.context);
    fs::create_directory(root_ / "headers.memo.new");
    (void)session.create(session.describe(), store);
    fs::remove(root_ / "headers.memo.new");
    (void)session.create(session.describe(), store);
    EXPECT_FALSE(fs::exists(memo())) << "not tried again with each program";
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ(0u, run({1}));
}

TEST_F(PersistHeaders, OfAStoreThatIsOffAreNeitherReadNorWritten)
{
    EXPECT_EQ(1u, run({1}));
    const Bytes before = read_file(memo());
    {
        Session session;
        Store store(info());
        EXPECT_EQ(INGOT_SUCCESS, set_setting(store.get(), &ingot_persist_settings_t::is_off, 1));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
        (void)header_.program(1).make(session.context);
        (void)header_.program(2).make(session.context);
        EXPECT_EQ(2u, learned(session));
        (void)session.create(session.describe(), store);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    }
    EXPECT_EQ(before, read_file(memo()));
}

TEST_F(PersistHeaders, ReplaceADamagedFile)
{
    EXPECT_EQ(1u, run({1}));
    const Bytes good = read_file(memo());
    for (const Bytes &bad : {Bytes(), Bytes(10, 'x'), Bytes(good.begin(), good.end() - 1)}) {
        write_file(memo(), bad);
        EXPECT_EQ(1u, run({1}));
        EXPECT_EQ(good, read_file(memo()));
    }
    Bytes of_another_build = good;
    of_another_build[30] ^= 1;
    const auto checksum = checksum_of(of_another_build.size() - 16, of_another_build.data());
    std::copy(checksum.bytes, checksum.bytes + 16, of_another_build.end() - 16);
    write_file(memo(), of_another_build);
    EXPECT_EQ(1u, run({1}));
    EXPECT_EQ(good, read_file(memo()));
}

TEST_F(PersistHeaders, AreNotTakenFromAFileThatOthersCanWrite)
{
    EXPECT_EQ(1u, run({1}));
    fs::permissions(memo(), fs::perms::others_write, fs::perm_options::add);
    Session session;
    Store store(info());
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_remember_headers(store.get(), session.context.get()));
    fs::remove(memo());
    fs::create_symlink("/dev/null", memo());
    EXPECT_NE(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
}

TEST_F(PersistHeaders, OfAReadOnlyStoreAreReadAndNotWritten)
{
    EXPECT_EQ(1u, run({1}));
    const Bytes before = read_file(memo());
    ingot_persist_info_t read_only = info();
    read_only.flags = INGOT_PERSIST_READ_ONLY;
    {
        Session session;
        Store store(read_only);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
        (void)header_.program(1).make(session.context);
        EXPECT_EQ(0u, learned(session));
        (void)header_.program(2).make(session.context);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    }
    EXPECT_EQ(before, read_file(memo()));
}

/* A store releases an ended context's memo once it has saved the memo. Programs that are requested later cause the
 * save. */
TEST_F(PersistHeaders, EndSoonAfterTheirContexts)
{
    std::vector<FailingAllocator> allocators(8);
    Store store(info());
    int number = 0;
    for (const FailingAllocator &allocator : allocators) {
        ReferenceDevice device;
        ingot_context_info_t with_allocator = INGOT_CONTEXT_INFO_INIT;
        with_allocator.allocator = allocator.table();
        const Context context = device.make(with_allocator);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), context.get()));
        for (int i = 0; i < 3; ++i) { /* the third program causes no save, because it does not double the memo */
            (void)header_.program(++number).make(context);
            ProgramText text;
            text.sources = {"kernel n" + std::to_string(number) + " x\n"};
            const Desc desc = text.make(context);
            ingot_program_t made = nullptr;
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&made, desc.get(), store.get(), nullptr));
            ingot_program_release(made);
        }
    }
    EXPECT_GE(2, std::count_if(allocators.begin(), allocators.end(),
                               [](const FailingAllocator &allocator) { return allocator.live_count() != 0; }));
}

/* Nothing would ever save these memos, so the store does not hold them. */
TEST_F(PersistHeaders, OfAReadOnlyStoreEndWithTheirContexts)
{
    EXPECT_EQ(1u, run({1}));
    FailingAllocator allocator;
    ingot_context_info_t with_allocator = INGOT_CONTEXT_INFO_INIT;
    with_allocator.allocator = allocator.table();
    ingot_persist_info_t read_only = info();
    read_only.flags = INGOT_PERSIST_READ_ONLY;
    Store store(read_only);
    {
        ReferenceDevice device;
        const Context context = device.make(with_allocator);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), context.get()));
        (void)header_.program(2).make(context);
        EXPECT_EQ(1u, ingot_header_memo_count_learned(ingot_context_get_header_memo(context.get())));
    }
    EXPECT_EQ(0u, allocator.live_count());
}

TEST_F(PersistHeaders, AreKeptByTheTierThatAChainStoresTo)
{
    Session session;
    Store store(info());
    ingot_storage_t tiers[] = {store.get()};
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, tiers));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(chain, session.context.get()));
    (void)header_.program(1).make(session.context);
    ingot_storage_release(chain);
    EXPECT_EQ(0u, run({1}));
}

namespace
{

/* What an application's storage keeps for the memo. */
struct OwnMemo {
    Bytes bytes;
    unsigned stores = 0;

    static ingot_status_t load(void *self, ingot_buffer_t *memo)
    {
        const Bytes &bytes = static_cast<OwnMemo *>(self)->bytes;
        if (bytes.empty())
            return INGOT_NOT_FOUND;
        memo->size = bytes.size();
        memo->bytes = bytes.data();
        return INGOT_SUCCESS;
    }
    static ingot_status_t store(void *self, size_t size, const uint8_t *memo)
    {
        auto *own = static_cast<OwnMemo *>(self);
        own->bytes.assign(memo, memo + size);
        ++own->stores;
        return INGOT_SUCCESS;
    }
    ingot_storage_t open(bool is_read_only = false)
    {
        ingot_storage_ops_t ops{};
        ops.struct_size = sizeof(ops);
        ops.load = [](void *, size_t, const uint8_t *, ingot_buffer_t *) { return INGOT_NOT_FOUND; };
        ops.store = [](void *, size_t, const uint8_t *, size_t, const uint8_t *) { return INGOT_SUCCESS; };
        ops.load_memo = load;
        ops.store_memo = is_read_only ? nullptr : store;
        ingot_storage_t storage = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, this));
        return storage;
    }
};

} // namespace

TEST_F(PersistHeaders, AreKeptByACustomStorageToo)
{
    OwnMemo own;
    const auto learned_with = [this](ingot_storage_t storage, const std::vector<int> &numbers) {
        Session session;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(storage, session.context.get()));
        for (const int number : numbers)
            (void)header_.program(number).make(session.context);
        ingot_storage_release(storage);
        return learned(session);
    };
    EXPECT_EQ(2u, learned_with(own.open(), {1, 2}));
    EXPECT_EQ(1u, own.stores);
    EXPECT_EQ(0u, learned_with(own.open(), {1, 2}));
    EXPECT_EQ(1u, own.stores) << "nothing new";
    EXPECT_EQ(1u, learned_with(own.open(true), {1, 2, 3}));
    EXPECT_EQ(1u, own.stores) << "read-only";
    const ingot_storage_t tier = own.open();
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, &tier));
    ingot_storage_release(tier);
    EXPECT_EQ(1u, learned_with(chain, {1, 2, 3}));
    EXPECT_EQ(0u, learned_with(own.open(), {1, 2, 3}));
    own.bytes = Bytes(10, 'x');
    EXPECT_EQ(1u, learned_with(own.open(), {1})) << "damaged bytes count as none";
    EXPECT_EQ(0u, learned_with(own.open(), {1}));
}

TEST_F(PersistHeaders, NeedAPlaceAndAContext)
{
    Session session;
    Store store(info());
    ingot_storage_t file = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_file(&file, (scratch_.path() / "file").c_str(), nullptr));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_persist_remember_headers(file, session.context.get()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_remember_headers(nullptr, session.context.get()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_remember_headers(store.get(), nullptr));
    ReferenceDevice device;
    ingot_context_info_t off = INGOT_CONTEXT_INFO_INIT;
    off.flags = INGOT_CONTEXT_NO_HEADER_MEMO;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), device.make(off).get()));
    EXPECT_FALSE(fs::exists(memo()));
    ingot_storage_release(file);
}

TEST_F(PersistHeaders, FailCleanlyWithoutMemory)
{
    EXPECT_EQ(1u, run({1}));
    for (size_t fail_at = 0;; ++fail_at) {
        FailingAllocator allocator;
        Session session;
        ingot_persist_info_t with_allocator = info();
        with_allocator.allocator = allocator.table();
        {
            Store store(with_allocator);
            ASSERT_EQ(INGOT_SUCCESS, store.status());
            allocator.fail_from_now(fail_at);
            const ingot_status_t status = ingot_persist_remember_headers(store.get(), session.context.get());
            EXPECT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY) << status;
            (void)header_.program(2).make(session.context);
            (void)ingot_persist_flush(store.get(), nullptr, nullptr);
            allocator.stop_failing();
        }
        EXPECT_EQ(0u, allocator.live_count());
        if (!allocator.failed())
            break;
    }
    EXPECT_EQ(0u, run({1, 2}));
}

} // namespace

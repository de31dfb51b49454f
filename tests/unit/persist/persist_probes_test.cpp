/*
 * Tests that a store keeps what contexts learn about included files, as entries. The next process continues with them,
 * works whatever happens to them, and believes none that another user may have written.
 */
#include <grp.h>

#include <ingot/private/descriptor.h>
#include <ingot/private/header_memo.h>

#include "support/failing_allocator.h"
#include "support/forked_child.h"
#include "support/old_header.h"
#include "support/persist_session.h"
#include "support/threads.h"
#include "support/trust_fixture.h"

extern "C" {
#include "util/entry_kind.h"
}

using namespace store_fixture;
using namespace trust_fixture;

namespace
{

class PersistProbes : public StoreTest
{
protected:
    ingot_persist_info_t info() const { return info_at(root_); }

    static uint64_t learned(const Session &session)
    {
        return ingot_header_memo_count_learned(ingot_context_get_header_memo(session.context.get()));
    }

    /* Describes these programs with a storage, as one run of an application does. Returns for how many of them the
     * context had to learn what they include. */
    uint64_t run_with(ingot_storage_t storage, const std::vector<int> &numbers,
                      ingot_status_t expected = INGOT_SUCCESS) const
    {
        Session session;
        EXPECT_EQ(expected, ingot_persist_remember_headers(storage, session.context.get()))
            << ingot_last_error_detail();
        for (const int number : numbers)
            (void)header_.program(number).make(session.context);
        return learned(session);
    }
    uint64_t run(const std::vector<int> &numbers) const { return run_with(Store(info()).get(), numbers); }

    static Bytes digest_of_request(const Desc &desc)
    {
        Bytes digest(32);
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_request_digest(desc.get(), digest.data()));
        return digest;
    }

    /* Returns the ids of the probes in a store or a bundle. */
    static std::vector<Bytes> ids_of_probes(ingot_storage_t storage)
    {
        std::vector<Bytes> ids;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(
                                     storage,
                                     [](const ingot_persist_entry_t *entry, void *user) {
                                         if (entry_kind_of(entry->id_size, entry->id) == ENTRY_PROBES)
                                             static_cast<std::vector<Bytes> *>(user)->emplace_back(
                                                 entry->id, entry->id + entry->id_size);
                                         return INGOT_SUCCESS;
                                     },
                                     &ids));
        return ids;
    }
    size_t count_probes() const { return ids_of_probes(Store(info()).get()).size(); }

    /* Returns the entry's kernel.bin, of a store with one entry. */
    static fs::path kernel_in(const fs::path &root)
    {
        for (const auto &file : fs::recursive_directory_iterator(root))
            if (file.path().filename() == "kernel.bin")
                return file.path();
        ADD_FAILURE() << "no entry";
        return {};
    }
    /* Returns all files and directories of a store's only entry, from its root to its files. */
    static std::vector<fs::path> parts_of_entry(const fs::path &root)
    {
        const fs::path kernel = kernel_in(root);
        std::vector<fs::path> parts{kernel, kernel.parent_path() / "key.bin"};
        for (fs::path at = kernel.parent_path(); at != root; at = at.parent_path())
            parts.push_back(at);
        parts.push_back(root);
        return parts;
    }

    OldHeader header_;
};

TEST_F(PersistProbes, AreKnownToTheNextProcess)
{
    EXPECT_EQ(2u, run({1, 2}));
    EXPECT_EQ(0u, run({1, 2}));
    EXPECT_EQ(1u, run({1, 2, 3}));
    EXPECT_EQ(0, forked_child::run([this] { return static_cast<int>(run({1, 2, 3})); }));
    EXPECT_EQ(3u, count_probes());
    for (const fs::path &part : {root_ / "headers.memo", root_ / "headers.memo.new"})
        EXPECT_FALSE(fs::exists(part)) << part;
}

TEST_F(PersistProbes, AreStoredAtOnce)
{
    Session session;
    ingot_persist_info_t on_flush = info();
    on_flush.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    Store store(on_flush);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
    (void)header_.program(1).make(session.context);
    EXPECT_EQ(0u, run({1})) << "a process that is killed now has stored them";
}

/* Many processes describe the same programs at once. */
TEST_F(PersistProbes, AreStoredByThreadsAtOnce)
{
    in_threads(4, [this](size_t) { (void)run({1, 2, 3, 4, 5, 6, 7, 8}); });
    EXPECT_EQ(0u, run({1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(8u, count_probes());
}

TEST_F(PersistProbes, AreThoseOfAllContextsAndOfTheLastStorage)
{
    const fs::path other_root = scratch_.path() / "other";
    ingot_persist_info_t other_info = info();
    other_info.path = other_root.c_str();
    Store store(info());
    Store other(other_info);
    Session one;
    Session two;
    for (const Session *session : {&one, &two})
        for (int i = 0; i < 2; ++i) /* once more changes nothing */
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session->context.get()));
    (void)header_.program(1).make(one.context);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(other.get(), two.context.get()));
    (void)header_.program(2).make(two.context);
    EXPECT_EQ(1u, ids_of_probes(store.get()).size());
    EXPECT_EQ(1u, ids_of_probes(other.get()).size());
}

TEST_F(PersistProbes, EndWithTheStorageButNotTheContext)
{
    Session session;
    FailingAllocator allocator;
    ingot_persist_info_t with_allocator = info();
    with_allocator.allocator = allocator.table();
    {
        Store store(with_allocator);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
        (void)header_.program(1).make(session.context);
    }
    EXPECT_EQ(0u, allocator.live_count()) << "the context holds the store";
    (void)header_.program(2).make(session.context);
    EXPECT_EQ(2u, learned(session));
    EXPECT_EQ(1u, count_probes());
}

TEST_F(PersistProbes, AreAskedForWhileTheStorageEnds)
{
    for (int round = 0; round < 20; ++round) {
        Session session;
        auto store = std::make_unique<Store>(info());
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store->get(), session.context.get()));
        std::thread describing([&] {
            for (int i = 0; i < 30; ++i)
                (void)header_.program(i).make(session.context);
        });
        store.reset();
        describing.join();
    }
}

/* Several threads, each as a row of processes, describe programs with a store while a header changes. Each compares the
 * id with that of a context without a memo, unless the header changed in between. INGOT_TEST_PROGRAMS is how many. */
TEST_F(PersistProbes, AreCurrentWhileAHeaderChanges)
{
    const char *wanted = std::getenv("INGOT_TEST_PROGRAMS");
    const uint64_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 600;
    std::atomic<uint64_t> changes{0}; /* odd while the header changes */
    std::atomic<uint64_t> compared{0};
    std::atomic<uint64_t> known{0};
    std::atomic<int> running{3};
    const auto describe = [&](int first) {
        ReferenceDevice device;
        ingot_context_info_t without = INGOT_CONTEXT_INFO_INIT;
        without.flags = INGOT_CONTEXT_NO_HEADER_MEMO;
        const Context plain = device.make(without);
        while (compared < count) {
            Session session;
            const Store store(info());
            EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
            for (int i = 0; i < 20; ++i) {
                const uint64_t before = changes;
                const uint64_t had_learned = learned(session);
                const Desc desc = header_.program((first + i) % 8).make(session.context);
                const Desc again = header_.program((first + i) % 8).make(plain);
                if (before % 2 != 0 || before != changes)
                    continue;
                EXPECT_EQ(digest_of_request(again), digest_of_request(desc));
                ++compared;
                known += had_learned == learned(session);
            }
        }
        --running;
    };
    file_clock_offset_ns = uint64_t{60} * 1000000000; /* relies on a file as soon as the clock has advanced */
    Threads threads;
    for (int i = 0; i < 3; ++i)
        threads.start([&, i] { describe(i); });
    for (uint64_t i = 0; running != 0; ++i) {
        const fs::path file = header_.directory() / (i % 2 != 0 ? "old.h" : "new.h");
        ++changes;
        std::fstream(file, i % 2 != 0 ? std::ios::in | std::ios::out : std::ios::out)
            << "#define OLD " << 10 + i % 90 << "\n"; /* in place, of the same size, or another file */
        if (i % 2 == 0)
            fs::rename(file, header_.directory() / "old.h");
        ++changes;
        std::this_thread::sleep_for(std::chrono::milliseconds(i % 16));
    }
    threads.join();
    EXPECT_LT(compared / 20, known) << "the probes were hardly used, so this tests nothing";
    std::printf("%llu compared, %llu known, %llu changes\n", static_cast<unsigned long long>(compared),
                static_cast<unsigned long long>(known), static_cast<unsigned long long>(changes / 2));
}

TEST_F(PersistProbes, OfAStoreThatIsOffAreNeitherReadNorWritten)
{
    EXPECT_EQ(1u, run({1}));
    Store store(info());
    EXPECT_EQ(INGOT_SUCCESS, set_setting(store.get(), &ingot_persist_settings_t::is_off, 1));
    EXPECT_EQ(2u, run_with(store.get(), {1, 2}));
    EXPECT_EQ(1u, count_probes());
}

TEST_F(PersistProbes, OfAReadOnlyStoreAreReadAndNotWritten)
{
    EXPECT_EQ(1u, run({1}));
    ingot_persist_info_t read_only = info();
    read_only.flags = INGOT_PERSIST_READ_ONLY;
    EXPECT_EQ(1u, run_with(Store(read_only).get(), {1, 2}));
    EXPECT_EQ(1u, count_probes());
}

TEST_F(PersistProbes, OfTheParentsStorageAreNotUsedInAForkedChild)
{
    Session session;
    Store store(info());
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
    (void)header_.program(1).make(session.context);
    EXPECT_EQ(0, forked_child::run([&] {
                  (void)header_.program(2).make(session.context);
                  return 0;
              }));
    EXPECT_EQ(1u, count_probes());
}

TEST_F(PersistProbes, AreReplacedIfDamaged)
{
    EXPECT_EQ(1u, run({1}));
    const Bytes good = read_file(kernel_in(root_));
    Bytes changed = good;
    changed[good.size() / 2] ^= 1;
    for (const Bytes &bad : {Bytes(), Bytes(10, 'x'), Bytes(good.begin(), good.end() - 1), changed}) {
        write_file(kernel_in(root_), bad);
        EXPECT_EQ(1u, run({1}));
        EXPECT_EQ(good, read_file(kernel_in(root_)));
        EXPECT_EQ(0u, run({1}));
    }
}

TEST_F(PersistProbes, AreEvictedLikeOtherEntries)
{
    ingot_persist_info_t small = info();
    small.max_entries = 2;
    for (int i = 0; i < 6; ++i)
        (void)run_with(Store(small).get(), {i});
    EXPECT_GE(2u, count_probes());
    EXPECT_EQ(INGOT_SUCCESS, clear_store(Store(info()).get()));
    EXPECT_EQ(0u, count_probes());
    EXPECT_EQ(1u, run({1}));
}

TEST_F(PersistProbes, FailCleanlyWithoutMemory)
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
            (void)header_.program(1).make(session.context);
            (void)header_.program(2).make(session.context);
            allocator.stop_failing();
        }
        EXPECT_EQ(0u, allocator.live_count());
        if (!allocator.failed())
            break;
    }
    EXPECT_EQ(0u, run({1, 2}));
}

TEST_F(PersistProbes, NeedAPlaceAndAContext)
{
    Session session;
    Store store(info());
    const HeldStorage file = open_file(scratch_.path() / "file");
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_persist_remember_headers(file.get(), session.context.get()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_remember_headers(nullptr, session.context.get()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_remember_headers(store.get(), nullptr));
    ReferenceDevice device;
    ingot_context_info_t off = INGOT_CONTEXT_INFO_INIT;
    off.flags = INGOT_CONTEXT_NO_HEADER_MEMO;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), device.make(off).get()));
}

/* ---- probes that another user may have written ---- */

TEST_F(PersistProbes, AreNotTakenFromAPlaceThatOthersCanWrite)
{
    for (const char *name_space : {static_cast<const char *>(nullptr), "space"}) {
        fs::remove_all(root_);
        ingot_persist_info_t in_space = info();
        in_space.name_space = name_space;
        EXPECT_EQ(1u, run_with(Store(in_space).get(), {1}));
        EXPECT_EQ(0u, run_with(Store(in_space).get(), {1}));
        for (const fs::path &part : parts_of_entry(name_space != nullptr ? root_ / name_space : root_)) {
            for (const fs::perms writer : {fs::perms::group_write, fs::perms::others_write}) {
                ingot_persist_info_t read_only = in_space; /* changes nothing, so the entry stays as it is */
                read_only.flags = INGOT_PERSIST_READ_ONLY;
                Store store(read_only);
                Session session;
                ASSERT_EQ(INGOT_SUCCESS, ingot_persist_remember_headers(store.get(), session.context.get()));
                fs::permissions(part, writer, fs::perm_options::add);
                (void)header_.program(1).make(session.context);
                EXPECT_EQ(1u, learned(session)) << part;
                fs::permissions(part, writer, fs::perm_options::remove);
                EXPECT_EQ(0u, run_with(store.get(), {1})) << part;
            }
        }
    }
}

TEST_F(PersistProbes, AreNotTakenFromWhatBelongsToAnotherUser)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "it takes the right to change the owner";
    EXPECT_EQ(1u, run({1}));
    ingot_persist_info_t read_only = info();
    read_only.flags = INGOT_PERSIST_READ_ONLY;
    for (const fs::path &part : parts_of_entry(root_)) {
        Store store(read_only);
        ASSERT_EQ(0, chown(part.c_str(), 65534, static_cast<gid_t>(-1)));
        EXPECT_EQ(1u, run_with(store.get(), {1})) << part;
        ASSERT_EQ(0, chown(part.c_str(), 0, static_cast<gid_t>(-1)));
        EXPECT_EQ(0u, run_with(store.get(), {1})) << part;
    }
}

/* Blobs of such a store may be used: root installed them with the system. */
TEST_F(PersistProbes, AreNotTakenFromAStoreOfRoot)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "it takes the right to change the user";
    EXPECT_EQ(1u, run({1}));
    for (const fs::path &part : parts_of_entry(root_))
        fs::permissions(part, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
    for (const fs::path &part : {scratch_.path(), scratch_.path().parent_path(), header_.directory()})
        fs::permissions(part, fs::perms::others_exec, fs::perm_options::add);
    ingot_persist_info_t read_only = info();
    read_only.flags = INGOT_PERSIST_READ_ONLY;
    EXPECT_EQ(0u, run_with(Store(read_only).get(), {1}));
    EXPECT_EQ(0, forked_child::run([&] {
                  if (setgroups(0, nullptr) != 0 || setegid(65534) != 0 || seteuid(65534) != 0)
                      return 2;
                  Store store(read_only);
                  EXPECT_EQ(INGOT_SUCCESS, store.status()) << ingot_last_error_detail();
                  EXPECT_EQ(1u, run_with(store.get(), {1}, INGOT_UNTRUSTED));
                  return HasFailure() ? 1 : 0;
              }));
}

/* Whoever became another user after it opened the store gets nothing of the first user's either. */
TEST_F(PersistProbes, AreNotTakenAfterTheUserChanged)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "it takes the right to change the user";
    EXPECT_EQ(1u, run({1}));
    EXPECT_EQ(0, forked_child::run([&] {
                  Store store(info());
                  Session session;
                  if (ingot_persist_remember_headers(store.get(), session.context.get()) != INGOT_SUCCESS ||
                      seteuid(65534) != 0)
                      return 2;
                  (void)header_.program(2).make(session.context);
                  return seteuid(0) == 0 && ids_of_probes(store.get()).size() == 1 ? 0 : 1;
              }));
}

/* If all must be sealed, any user's files are served, but not their probes. A seal changes nothing. */
TEST_F(PersistProbes, AreNotTakenFromASealedStoreOfAnyUser)
{
    EXPECT_EQ(1u, run({1}));
    const Trust trust(INGOT_PERSIST_TRUST_REQUIRE, {secret_key(1)});
    ingot_persist_info_t sealed = info();
    sealed.trust = trust.get();
    EXPECT_EQ(0u, run_with(Store(sealed).get(), {1})) << "this user's own store needs no seals for them";
    sealed.flags = INGOT_PERSIST_READ_ONLY;
    EXPECT_EQ(1u, run_with(Store(sealed).get(), {1}, INGOT_UNTRUSTED));
}

/* A custom storage, such as a server's, which has the given probes for every id, and counts the requests. */
struct OwnStorage {
    Bytes content;
    unsigned calls = 0;
    HeldStorage open(bool is_read_only = false)
    {
        ingot_storage_ops_t ops = own_storage::operations(
            [](void *self, size_t, const uint8_t *, size_t, const uint8_t *) {
                ++static_cast<OwnStorage *>(self)->calls;
                return INGOT_SUCCESS;
            },
            [](void *self, size_t, const uint8_t *, ingot_buffer_t *blob) {
                auto *own = static_cast<OwnStorage *>(self);
                ++own->calls;
                *blob = {own->content.size(), own->content.data(), nullptr, nullptr};
                return INGOT_SUCCESS;
            });
        if (is_read_only)
            ops.store = nullptr;
        return opened([&](ingot_storage_t *made) { return ingot_storage_create(made, &ops, this); });
    }
};

TEST_F(PersistProbes, AreNotTakenFromOtherStoragesAndTiers)
{
    EXPECT_EQ(1u, run({1}));
    OwnStorage server;
    server.content = read_file(kernel_in(root_));
    const fs::path first_root = scratch_.path() / "first";
    ingot_persist_info_t first_info = info();
    first_info.path = first_root.c_str();
    for (const bool is_read_only : {false, true}) {
        Store first(first_info);
        Store later(info());
        const HeldStorage custom = server.open(is_read_only);
        EXPECT_EQ(is_read_only ? 0u : 1u, run_with(chain_of({first.get(), later.get(), custom.get()}).get(), {1}))
            << "the later tiers have it";
        EXPECT_EQ(is_read_only ? 0u : 1u, run_with(chain_of({custom.get(), later.get()}).get(), {1},
                                                   is_read_only ? INGOT_SUCCESS : INGOT_UNIMPLEMENTED));
    }
    EXPECT_EQ(0u, server.calls);
}

TEST_F(PersistProbes, AreNeitherGivenToNorTakenFromCallersOfStorages)
{
    EXPECT_EQ(1u, run({1}));
    Store store(info());
    const Bytes id = ids_of_probes(store.get()).at(0);
    OwnStorage server;
    server.content = read_file(kernel_in(root_));
    const HeldStorage custom = server.open();
    const HeldStorage chain = chain_of({store.get(), custom.get()});
    for (const ingot_storage_t storage : {store.get(), custom.get(), chain.get()}) {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_storage_load(storage, id.size(), id.data(), &blob));
        for (const auto function : {ingot_storage_store, ingot_persist_store_sealed})
            EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
                      function(storage, id.size(), id.data(), server.content.size(), server.content.data()));
    }
    EXPECT_EQ(0u, server.calls);
    EXPECT_EQ(INGOT_SUCCESS, ingot_storage_remove(store.get(), id.size(), id.data()));
    EXPECT_EQ(0u, count_probes());
}

TEST_F(PersistProbes, AreNotCopiedToABundle)
{
    Session session;
    Store store(info());
    EXPECT_EQ(1u, run({1}));
    (void)session.create(session.describe(), store);
    const HeldStorage bundle = bundle_of(store, scratch_.path() / "bundle");
    EXPECT_EQ(0u, ids_of_probes(bundle.get()).size());
    EXPECT_EQ(1u, run_with(bundle.get(), {1}, INGOT_UNIMPLEMENTED));
}

} // namespace

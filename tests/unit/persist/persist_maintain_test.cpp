/*
 * Tests inspecting and maintaining a store: visiting each entry, verifying, evicting, and recounting.
 */
#include <cerrno>

#include "support/store_fixture.h"

extern "C" {
#include "persist/base/base.h"
}

using namespace store_fixture;
using PersistMaintain = StoreTest;

namespace
{

std::function<void()> before_a_file_is_opened; /* called once */
const char *unreadable;                        /* the directory whose names cannot be read; NULL: none */

} // namespace

extern "C" {
int __real_files_open_read(int at, const char *path);
int __wrap_files_open_read(int at, const char *path);

int __wrap_files_open_read(int at, const char *path)
{
    const std::function<void()> call = std::exchange(before_a_file_is_opened, nullptr);
    if (call)
        call();
    return __real_files_open_read(at, path);
}

int __real_files_list(int at, const char *path, bool (*visit)(void *user, const char *name), void *user);
int __wrap_files_list(int at, const char *path, bool (*visit)(void *user, const char *name), void *user);

int __wrap_files_list(int at, const char *path, bool (*visit)(void *user, const char *name), void *user)
{
    const bool is_unreadable = unreadable != nullptr && std::string(path) == unreadable;
    return is_unreadable ? -EACCES : __real_files_list(at, path, visit, user);
}
}

namespace
{

struct Seen {
    std::string name_space;
    ingot_status_t status;
    Bytes id;
    size_t blob_size;
    uint64_t bytes;
};

std::vector<Seen> entries_seen(const Store &store)
{
    std::vector<Seen> seen;
    const auto visit = [](const ingot_persist_entry_t *entry, void *user) {
        static_cast<std::vector<Seen> *>(user)->push_back({entry->name_space, entry->status,
                                                           Bytes(entry->id, entry->id + entry->id_size),
                                                           entry->blob_size, entry->bytes});
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(store.get(), visit, &seen));
    return seen;
}

void fill(const Store &store, unsigned count)
{
    for (unsigned i = 0; i < count; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), random_bytes(i, 1000 + i)));
}

template <typename Where> Store filled(const Where &where, unsigned count)
{
    Store store(where);
    fill(store, count);
    return store;
}

} // namespace

TEST_F(PersistMaintain, ShowsEveryEntryOfEveryNamespace)
{
    const Store plain(root_);
    const Store named = store_in(root_, "app");
    ASSERT_EQ(INGOT_SUCCESS, plain.put(numbered_id(1), random_bytes(1, 100)));
    ASSERT_EQ(INGOT_SUCCESS, named.put(numbered_id(2), random_bytes(2, 200)));

    std::map<std::string, Seen> all;
    for (const Seen &seen : entries_seen(plain))
        all.emplace(seen.name_space, seen);
    ASSERT_EQ(2u, all.size());
    EXPECT_EQ(numbered_id(1), all.at("").id);
    EXPECT_EQ(numbered_id(2), all.at("app").id);
    EXPECT_EQ(200u, all.at("app").blob_size);
    EXPECT_EQ(bytes_in(root_ / "app"), all.at("app").bytes);
    EXPECT_EQ(INGOT_SUCCESS, all.at("app").status);
    EXPECT_EQ(1u, entries_seen(named).size());
}

TEST_F(PersistMaintain, LoadsAndRemovesAnEntryWhereverItIs)
{
    const Store plain(root_);
    const Store named = store_in(root_, "app");
    ASSERT_EQ(INGOT_SUCCESS, named.put(numbered_id(2), random_bytes(2, 200)));
    const auto visit = [](const ingot_persist_entry_t *entry, void *user) {
        const auto storage = static_cast<ingot_storage_t>(user);
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_load_entry(storage, entry, 0, &blob));
        EXPECT_EQ(random_bytes(2, 200), Bytes(blob.bytes, blob.bytes + blob.size));
        if (blob.release != nullptr)
            blob.release(&blob);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_remove_entry(storage, entry));
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_remove_entry(storage, entry));
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_load_entry(storage, entry, 0, &blob));
        return INGOT_SUCCESS;
    };
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_for_each(plain.get(), visit, plain.get()));
    EXPECT_EQ(INGOT_NOT_FOUND, named.load(numbered_id(2)));
    EXPECT_EQ(0u, plain.stats().bytes);
}

TEST_F(PersistMaintain, LoadsTheBlobOfAnEntryThatIsReplacedMeanwhile)
{
    Store store(root_);
    Store replacing(root_.parent_path() / "replacing");
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), random_bytes(1, 100)));
    ASSERT_EQ(INGOT_SUCCESS, replacing.put(numbered_id(1), random_bytes(2, 100)));
    auto load = [&](const ingot_persist_entry_t *entry) {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        before_a_file_is_opened = [&] {
            const fs::path path = entries_of(root_)[0];
            fs::rename(path, root_.parent_path() / "aside");
            fs::rename(entries_of(root_.parent_path() / "replacing")[0], path);
        };
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_load_entry(store.get(), entry, 0, &blob));
        EXPECT_EQ(nullptr, before_a_file_is_opened);
        EXPECT_EQ(random_bytes(1, 100), Bytes(blob.bytes, blob.bytes + blob.size));
        if (blob.release != nullptr)
            blob.release(&blob);
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_load_entry(store.get(), entry, 0, &blob));
    };
    const auto visit = [](const ingot_persist_entry_t *entry, void *user) {
        (*static_cast<decltype(load) *>(user))(entry);
        return INGOT_SUCCESS;
    };
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_for_each(store.get(), visit, &load));
}

TEST_F(PersistMaintain, AVisitIsStoppedByAnyStatusAndReturnsIt)
{
    const Store store = filled(root_, 3);
    const HeldStorage bundle = bundle_of(store, root_ / "a.bundle");
    const auto visit = [](const ingot_persist_entry_t *, void *user) {
        return ++*static_cast<int *>(user) < 2 ? INGOT_SUCCESS : INGOT_NOT_CACHEABLE;
    };
    for (const ingot_storage_t storage : {store.get(), bundle.get()}) {
        int count = 0;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_persist_for_each(storage, visit, &count));
        EXPECT_EQ(2, count);
    }
}

/* Where every entry must be sealed, another user may have made the store, and anything may be in a shard. */
TEST_F(PersistMaintain, LooksOverLongNamesInAShard)
{
    const std::string names[] = {std::string(230, '7') + "-0123456789abcdef",
                                 "4123456789abcdef-" + std::string(230, '7')};
    for (const std::string &name : names)
        fs::create_directories(root_ / "ab" / name);
    const Store store(root_);
    for (const int repair : {0, 1})
        EXPECT_EQ(0u, verified(store, repair).leftover_count);
    for (const std::string &name : names)
        EXPECT_TRUE(fs::exists(root_ / "ab" / name));
}

TEST_F(PersistMaintain, FindsAnEntryInAnothersPlace)
{
    const Store store = filled(root_, 1);
    plant_collision(root_, numbered_id(0), numbered_id(1));
    EXPECT_EQ(1u, verified(store, 1).removed_count);
    EXPECT_TRUE(entries_of(root_).empty());
}

TEST_F(PersistMaintain, EvictsDownToEachLimit)
{
    ingot_persist_info_t info = info_at(root_);
    info.eviction = INGOT_PERSIST_EVICT_FIFO; /* a load notes the use of some entries only: once per second and entry */
    info.lock_timeout_ms = 60000;
    const Store store = filled(info, 10);
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    uint64_t count = 0;
    uint64_t bytes = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, &bytes));
    EXPECT_EQ(0u, count);
    limits.max_entries = 7;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, &bytes));
    EXPECT_EQ(3u, count);
    for (unsigned i = 0; i < 10; ++i)
        EXPECT_EQ(i < 3 ? INGOT_NOT_FOUND : INGOT_SUCCESS, store.load(numbered_id(i))) << i;
    limits.max_entries = INGOT_UNLIMITED;
    limits.max_bytes = 20000;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, &bytes));
    EXPECT_EQ(2u, entries_of(root_).size());
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(9)));
    EXPECT_EQ(bytes_in(root_), store.stats().bytes);
    limits.max_bytes = INGOT_UNLIMITED;
    limits.max_age_ms = INGOT_NONE;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, nullptr));
    EXPECT_EQ(2u, count);
}

TEST_F(PersistMaintain, EvictsAllForAnyLimitOfNothing)
{
    for (uint64_t ingot_persist_limits_t::*limit :
         {&ingot_persist_limits_t::max_bytes, &ingot_persist_limits_t::max_entries,
          &ingot_persist_limits_t::max_age_ms}) {
        const Store store = filled(root_, 3);
        ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
        limits.*limit = INGOT_NONE;
        uint64_t count = 0;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, nullptr));
        EXPECT_EQ(3u, count);
        EXPECT_EQ(0u, entries_of(root_).size());
    }
}

/* As in all structures, zero means the default, which is the store's own limit here. */
TEST_F(PersistMaintain, EvictsDownToTheStoresOwnLimitsForZero)
{
    const Store store = filled(root_, 5);
    uint64_t count = 0;
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, nullptr));
    EXPECT_EQ(0u, count);
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store.get(), &ingot_persist_settings_t::max_entries, 3));
    limits.max_bytes = limits.max_age_ms = limits.max_entries = INGOT_UNLIMITED;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, nullptr));
    EXPECT_EQ(0u, count);
    limits.max_entries = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, nullptr));
    EXPECT_EQ(2u, count);
    EXPECT_EQ(3u, entries_of(root_).size());
}

/* Follows the progress. Ends the work when `found_limit` entries were found, or `removed_limit` removed. */
struct Following {
    uint64_t found_limit = UINT64_MAX;
    uint64_t removed_limit = UINT64_MAX;
    ingot_persist_upkeep_progress_t last{};

    static ingot_status_t follow(const ingot_persist_upkeep_progress_t *so_far, void *user)
    {
        auto *self = static_cast<Following *>(user);
        EXPECT_EQ(sizeof(*so_far), so_far->struct_size);
        EXPECT_LE(self->last.entry_count, so_far->entry_count);
        EXPECT_LE(self->last.removed_bytes, so_far->removed_bytes);
        self->last = *so_far;
        const bool goes_on = so_far->entry_count < self->found_limit && so_far->removed_count < self->removed_limit;
        return goes_on ? INGOT_SUCCESS : INGOT_NOT_CACHEABLE;
    }
};

TEST_F(PersistMaintain, TellsHowFarAnEvictionIsAndCanBeEnded)
{
    const Store store = filled(root_, 10);
    const uint64_t all = bytes_in(root_);
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    limits.max_entries = 2;
    limits.on_progress = Following::follow;
    uint64_t count = 0;
    uint64_t bytes = 0;
    Following while_listing{5};
    limits.user = &while_listing;
    ASSERT_EQ(INGOT_NOT_CACHEABLE, ingot_persist_evict(store.get(), &limits, &count, &bytes));
    EXPECT_EQ(0u, count);
    Following while_removing{UINT64_MAX, 3};
    limits.user = &while_removing;
    ASSERT_EQ(INGOT_NOT_CACHEABLE, ingot_persist_evict(store.get(), &limits, &count, &bytes));
    EXPECT_EQ(3u, count);
    EXPECT_EQ(10u, while_removing.last.entry_count);
    EXPECT_EQ(3u, while_removing.last.removed_count);
    EXPECT_EQ(bytes, while_removing.last.removed_bytes);
    EXPECT_EQ(all - bytes, bytes_in(root_));
    EXPECT_EQ(all - bytes, store.stats().bytes);
    Following to_the_end;
    limits.user = &to_the_end;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &count, &bytes));
    EXPECT_EQ(5u, to_the_end.last.removed_count);
}

/* A program that was compiled with older headers has shorter structures. Other data follows them in memory, and must be
 * neither read, for example as a callback, nor written. */
TEST_F(PersistMaintain, TakesShorterStructures)
{
    const Store store = filled(root_, 3);
    Following never{0};
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    limits.struct_size = offsetof(ingot_persist_limits_t, on_progress);
    limits.on_progress = Following::follow;
    limits.user = &never;
    limits.max_entries = 1;
    uint64_t removed = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &removed, nullptr));
    EXPECT_EQ(2u, removed);
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(&never, limits.user);
    EXPECT_EQ(0u, never.last.struct_size);
    limits.struct_size = offsetof(ingot_persist_limits_t, max_entries);
    limits.max_entries = INGOT_NONE;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &removed, nullptr));
    EXPECT_EQ(0u, removed);
    limits.struct_size = sizeof(size_t);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_evict(store.get(), &limits, nullptr, nullptr));
}

TEST_F(PersistMaintain, EvictsFromItsNamespaceAlone)
{
    const Store plain(root_);
    const Store named = store_in(root_, "app");
    fill(plain, 4);
    fill(named, 4);
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    limits.max_bytes = 20000;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(named.get(), &limits, nullptr, nullptr));
    EXPECT_EQ(2u, entries_seen(named).size());
    EXPECT_EQ(6u, entries_seen(plain).size());
    EXPECT_EQ(bytes_in(root_), plain.stats().bytes + named.stats().bytes);
    EXPECT_EQ(bytes_in(root_ / "app"), named.stats().bytes);
}

TEST_F(PersistMaintain, RecountsAndSaysWhatWasRecorded)
{
    const Store store = filled(root_, 3);
    const uint64_t actual = bytes_in(root_);
    write_file(root_ / "size.txt", bytes_of(size_text(77, 1)));
    ingot_persist_count_t count = {};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_EQ(3u, count.entry_count);
    EXPECT_EQ(actual, count.counted_bytes);
    EXPECT_EQ(77u, count.recorded_bytes);
    EXPECT_TRUE(count.is_recorded);
    EXPECT_EQ(actual, store.stats().bytes);
    fs::remove(root_ / "size.txt");
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_FALSE(count.is_recorded);
}

TEST_F(PersistMaintain, PassesOverADirectoryOfAnotherUserThatCannotBeRead)
{
    const Store store = filled(root_, 3);
    const uint64_t actual = bytes_in(root_);
    write_file(root_ / "size.txt", bytes_of(size_text(77, 1)));
    fs::create_directory(root_ / "foreign");
    unreadable = "foreign";
    ingot_persist_count_t count = {};
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count)) << ingot_last_error_detail();
    EXPECT_EQ(3u, count.entry_count);
    EXPECT_EQ(actual, count.counted_bytes);
    EXPECT_TRUE(count.is_recorded);
    EXPECT_EQ(actual, store.stats().bytes) << "the count of what can be read is corrected";
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    limits.max_entries = 1;
    uint64_t removed = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &limits, &removed, nullptr)) << ingot_last_error_detail();
    EXPECT_EQ(2u, removed);
    unreadable = nullptr;
}

/* The store's own namespace must be readable: to count nothing in it would be wrong. */
TEST_F(PersistMaintain, TellsThatItsNamespaceCannotBeRead)
{
    ingot_persist_info_t info = info_at(root_);
    info.name_space = "app";
    const Store store = filled(info, 1);
    unreadable = "app";
    ingot_persist_count_t count = {};
    EXPECT_NE(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    unreadable = nullptr;
}

TEST_F(PersistMaintain, LeavesAReadOnlyStoreAlone)
{
    (void)filled(root_, 2);
    write_file(root_ / "size.txt", bytes_of(size_text(77, 1)));
    ingot_persist_info_t info = info_at(root_);
    info.flags = INGOT_PERSIST_READ_ONLY;
    Store store(info);
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    ingot_persist_count_t count = {};
    ingot_persist_verification_t found = {};
    EXPECT_EQ(INGOT_READ_ONLY, ingot_persist_evict(store.get(), &limits, nullptr, nullptr));
    EXPECT_EQ(INGOT_READ_ONLY, clear_store(store.get()));
    EXPECT_EQ(INGOT_READ_ONLY, ingot_persist_verify(store.get(), 1, nullptr, nullptr, &found));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_verify(store.get(), 0, nullptr, nullptr, &found));
    EXPECT_EQ(2u, found.done_count);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_EQ(2u, count.entry_count);
    EXPECT_EQ(77u, count.recorded_bytes);
    EXPECT_EQ(bytes_of(size_text(77, 1)), read_file(root_ / "size.txt"));
}

/* A store that stores much adds its entries to size.txt later. A count that finds them makes the totals too high until
 * the next count, never too low. */
TEST_F(PersistMaintain, AStoreThatStoresMuchOwesEntriesToTheAccount)
{
    Store other(root_);
    ingot_persist_count_t count = {};
    {
        Store store(root_);
        for (unsigned i = 0; i < 70; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), random_bytes(i, 100)));
        EXPECT_GT(size_text(bytes_in(root_), 70), totals_of(root_)) << "it owes entries";
        EXPECT_EQ(bytes_in(root_), store.stats().bytes);
    }
    EXPECT_EQ(size_text(bytes_in(root_), 70), totals_of(root_)) << "closing has added them";
    {
        Store store(root_);
        for (unsigned i = 100; i < 170; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), random_bytes(i, 100)));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(other.get(), &count));
        EXPECT_EQ(size_text(bytes_in(root_), 140), totals_of(root_));
    }
    EXPECT_GT(other.stats().bytes, bytes_in(root_));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(other.get(), &count));
    EXPECT_EQ(size_text(bytes_in(root_), 140), totals_of(root_));
}

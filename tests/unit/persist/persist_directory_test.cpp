/*
 * Tests a directory store that one process uses: what is kept, what is removed, and what the files contain.
 */
#include "support/failing_allocator.h"
#include "support/store_fixture.h"

using namespace store_fixture;
using PersistDirectory = StoreTest;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kBlob = random_bytes(1, 1000);

uint64_t entry_size(const Bytes &id, const Bytes &blob)
{
    return store_fixture::entry_size(id.size(), blob.size());
}

uint64_t text_total(const fs::path &root)
{
    const Bytes text = read_file(root / "size.txt");
    return std::stoull(std::string(text.begin(), text.end()));
}

struct Event {
    ingot_event_kind_t kind;
    ingot_status_t status;
    size_t bytes;
};

void remember(const ingot_event_t *event, void *user)
{
    static_cast<std::vector<Event> *>(user)->push_back({event->kind, event->status, event->bytes});
}

} // namespace

TEST_F(PersistDirectory, LoadsWhatWasStored)
{
    Store store(root_);
    ASSERT_EQ(INGOT_SUCCESS, store.status());
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    const Store other(root_);
    for (const Store *each : {static_cast<const Store *>(&store), &other}) {
        Bytes blob;
        ASSERT_EQ(INGOT_SUCCESS, each->load(kId, &blob));
        EXPECT_EQ(kBlob, blob);
    }
}

TEST_F(PersistDirectory, LaysOutItsFilesAsSpecified)
{
    const mode_t before = umask(0);
    {
        const Store store = store_with(root_, kId, kBlob);
    }
    umask(before);
    const fs::path entry = root_ / place_of(kId);
    EXPECT_EQ(kBlob, read_file(entry / "kernel.bin"));
    EXPECT_EQ(128 + kId.size(), fs::file_size(entry / "key.bin"));
    EXPECT_EQ(entry_size(kId, kBlob), text_total(root_));
    EXPECT_EQ(size_text(entry_size(kId, kBlob), 1), totals_of(root_));
    const Bytes tag = read_file(root_ / "CACHEDIR.TAG");
    EXPECT_EQ(0u, std::string(tag.begin(), tag.end()).find("Signature: 8a477f597d28d172789f06886806bc55"));
    EXPECT_EQ(0u, leftovers_in(root_));
    EXPECT_EQ(fs::perms::owner_all, fs::status(root_).permissions());
    for (const auto &item : fs::recursive_directory_iterator(root_)) {
        const fs::perms expected =
            item.is_directory() ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write;
        EXPECT_EQ(expected, item.status().permissions()) << item.path();
    }
}

TEST_F(PersistDirectory, ReplacesABlobAndKeepsAnEqualOne)
{
    const Store store = store_with(root_, kId, kBlob);
    const auto written = fs::last_write_time(entries_of(root_).at(0) / "key.bin");
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    EXPECT_EQ(written, fs::last_write_time(entries_of(root_).at(0) / "key.bin"));

    const Bytes other = random_bytes(2, 3000);
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, other));
    Bytes blob;
    ASSERT_EQ(INGOT_SUCCESS, store.load(kId, &blob));
    EXPECT_EQ(other, blob);
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(entry_size(kId, other), text_total(root_));
    EXPECT_EQ(0u, leftovers_in(root_));
}

TEST_F(PersistDirectory, RemovesAnEntry)
{
    const Store store = store_with(root_, kId, kBlob);
    EXPECT_EQ(INGOT_SUCCESS, store.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, store.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(kId));
    EXPECT_EQ(0u, text_total(root_));
    EXPECT_EQ(0u, leftovers_in(root_));
    EXPECT_FALSE(fs::exists(root_ / place_of(kId)));
}

TEST_F(PersistDirectory, APlantedCollisionIsAMissThatTheNextStoreReplaces)
{
    Store store(root_);
    const Bytes other = bytes_of("another id");
    ASSERT_EQ(INGOT_SUCCESS, store.put(other, random_bytes(7, 1000)));
    plant_collision(root_, other, kId);
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, store.remove(kId));
    EXPECT_EQ(0u, store.stats().failures);
    EXPECT_TRUE(fs::exists(root_ / place_of(kId)));
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    Bytes blob;
    ASSERT_EQ(INGOT_SUCCESS, store.load(kId, &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(other));
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(bytes_in(root_), text_total(root_));
    EXPECT_EQ(0u, leftovers_in(root_));
}

TEST_F(PersistDirectory, KeepsWhatIsBelowARootWithALongPath)
{
    ScratchDirectory scratch(fast_volume());
    fs::path root = scratch.path();
    while (root.string().size() + 201 < 4095)
        root /= std::string(200, 'd');
    fs::create_directories(root);
    root /= std::string(4094 - root.string().size(), 's');
    ASSERT_EQ(4095u, root.string().size()); /* with its NUL, the longest path that the system accepts */
    Store store(root);
    ASSERT_EQ(INGOT_SUCCESS, store.status());
    EXPECT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, store.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, store.remove(kId));
}

TEST_F(PersistDirectory, KeepsLargeIdsAndBlobs)
{
    Store store(root_);
    const Bytes id = random_bytes(3, 100000);
    const Bytes blob = random_bytes(4, 3 << 20);
    ASSERT_EQ(INGOT_SUCCESS, store.put(id, blob));
    Bytes loaded;
    ASSERT_EQ(INGOT_SUCCESS, store.load(id, &loaded));
    EXPECT_EQ(blob, loaded);
}

TEST_F(PersistDirectory, EvictsAsMuchAsALargeEntryNeeds)
{
    Store store(root_, 100000);
    for (unsigned i = 0; i < 10; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, random_bytes(5, 90000)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(kId));
    EXPECT_LE(bytes_in(root_), 100000u);
    EXPECT_EQ(bytes_in(root_), text_total(root_));
}

TEST_F(PersistDirectory, HealsItsTotal)
{
    const std::string texts[] = {"",
                                 "missing",
                                 "garbage",
                                 "-1",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "0\n",
                                 "1",
                                 "1000000",
                                 std::string(5000, '9'),
                                 std::string(21, ' '),
                                 "\0\0",
                                 "5000\n",
                                 size_text(1000000, 5),
                                 size_text(0, UINT64_MAX),
                                 size_text(7, 5) + "1",
                                 std::string(41, ' ') + "\n"};
    for (const std::string &text : texts) {
        ScratchDirectory scratch;
        const fs::path root = scratch.path() / "store";
        Store store(root, 100000);
        for (unsigned i = 0; i < 5; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
        write_file(root / "size.txt", bytes_of(text));
        if (text == "missing")
            fs::remove(root / "size.txt");
        for (unsigned i = 5; i < 10; ++i) {
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob)) << text.substr(0, 30);
        }
        EXPECT_EQ(0u, store.stats().evictions) << text.substr(0, 30);
        EXPECT_EQ(10u, entries_of(root).size()) << text.substr(0, 30);
        EXPECT_EQ(size_text(bytes_in(root), 10), totals_of(root)) << text.substr(0, 30);
    }
}

/* A user empties a store that a process has open. */
TEST_F(PersistDirectory, GoesOnIfTheStoreWasEmptied)
{
    const Store store = store_with(root_, numbered_id(0), kBlob);
    for (const fs::directory_entry &item : fs::directory_iterator(root_))
        fs::remove_all(item);
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), kBlob));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
}

/* Removing an entry does not read its blob. */
TEST_F(PersistDirectory, RemovesAnEntryWithADamagedBlob)
{
    const Store store = store_with(root_, kId, kBlob);
    write_file(entries_of(root_).at(0) / "kernel.bin", bytes_of("damaged"));
    EXPECT_EQ(INGOT_SUCCESS, store.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, store.remove(kId));
    EXPECT_EQ(0u, store.stats().refused);
}

/* Both stores have the same root, but the one without a namespace evicts only its own entries. */
TEST_F(PersistDirectory, AStoreWithoutANamespaceEvictsNothingOfANamespace)
{
    ingot_persist_info_t info = info_at(root_);
    info.name_space = "one";
    Store one(info);
    info.name_space = nullptr;
    info.max_bytes = 40000;
    Store plain(info);
    for (unsigned i = 0; i < 6; ++i) /* older than the entries of `plain`, and more bytes than `plain` may have */
        ASSERT_EQ(INGOT_SUCCESS, one.put(numbered_id(i), random_bytes(i, 1000)));
    for (unsigned i = 0; i < 20; ++i) {
        ASSERT_EQ(INGOT_SUCCESS, plain.put(numbered_id(i), random_bytes(100 + i, 1000)));
        ASSERT_GE(40000u, plain.stats().bytes);
    }
    EXPECT_LE(14u, plain.stats().evictions);
    EXPECT_EQ(0u, one.stats().evictions);
    for (unsigned i = 0; i < 6; ++i) {
        Bytes blob;
        EXPECT_EQ(INGOT_SUCCESS, one.load(numbered_id(i), &blob)) << i;
        EXPECT_EQ(random_bytes(i, 1000), blob) << i;
    }
    EXPECT_EQ(bytes_in(root_ / "one"), text_total(root_ / "one"));
    EXPECT_EQ(bytes_in(root_) - bytes_in(root_ / "one"), text_total(root_));
    EXPECT_EQ(INGOT_SUCCESS, one.put(numbered_id(6), random_bytes(6, 1000))) << "its own limit is not 40000";
    EXPECT_EQ(0u, one.stats().evictions);
}

TEST_F(PersistDirectory, TheTotalIsRightAfterADamagedEntryWasTakenAway)
{
    Store store(root_);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
    const auto entry_of = [&](unsigned i) { return root_ / place_of(numbered_id(i)); };
    fs::resize_file(entry_of(0) / "kernel.bin", 10);
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, store.load(numbered_id(0)));
    EXPECT_EQ(bytes_in(root_), text_total(root_));
    fs::resize_file(entry_of(1) / "kernel.bin", 5000);
    ingot_persist_verification_t found = verified(store, 1);
    EXPECT_EQ(1u, found.removed_count);
    EXPECT_EQ(entry_size(numbered_id(2), kBlob), text_total(root_));
    fs::remove_all(entry_of(2));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_verify(store.get(), 1, nullptr, nullptr, &found));
    EXPECT_EQ(0u, text_total(root_));
}

TEST_F(PersistDirectory, ClearsItsNamespaceOrAll)
{
    const Store whole(root_), one = store_in(root_, "one"), two = store_in(root_, "two");
    for (const Store *store : {&whole, &one, &two})
        for (unsigned i = 0; i < 40; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store->put(numbered_id(i), kBlob));
    ASSERT_EQ(INGOT_SUCCESS, clear_store(one.get()));
    EXPECT_EQ(INGOT_NOT_FOUND, one.load(numbered_id(7)));
    EXPECT_EQ(INGOT_SUCCESS, two.load(numbered_id(7)));
    EXPECT_EQ(80u, entries_of(root_).size());
    EXPECT_EQ(bytes_in(root_), text_total(root_) + text_total(root_ / "two"));
    EXPECT_EQ(0u, text_total(root_ / "one"));
    write_file(root_ / "size.txt", bytes_of("0"));
    ASSERT_EQ(INGOT_SUCCESS, clear_store(whole.get()));
    EXPECT_EQ(0u, entries_of(root_).size());
    EXPECT_EQ(0u, text_total(root_));
    EXPECT_EQ(0u, text_total(root_ / "two"));
    EXPECT_EQ(0u, leftovers_in(root_));
}

TEST_F(PersistDirectory, WritesNothingWhenOpenedReadOnly)
{
    ingot_persist_info_t info = info_at(root_);
    info.flags = INGOT_PERSIST_READ_ONLY;
    {
        Store missing(info);
        EXPECT_EQ(INGOT_READ_ONLY, missing.status());
        EXPECT_FALSE(fs::exists(root_));
    }
    {
        Store writer(root_);
        ASSERT_EQ(INGOT_SUCCESS, writer.put(kId, kBlob));
    }
    write_file(entries_of(root_).at(0) / "kernel.bin", bytes_of("bad"));
    Store reader(info);
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, reader.load(kId));
    EXPECT_EQ(INGOT_READ_ONLY, reader.put(numbered_id(1), kBlob));
    EXPECT_EQ(INGOT_READ_ONLY, reader.remove(kId));
    EXPECT_EQ(INGOT_READ_ONLY, clear_store(reader.get()));
    EXPECT_EQ(1u, entries_of(root_).size());
}

TEST_F(PersistDirectory, TellsEventsAndCounts)
{
    std::vector<Event> events;
    ingot_persist_info_t info = info_at(root_);
    info.max_bytes = 15000;
    info.on_event = remember;
    info.on_event_user = &events;
    Store store(info);
    store.load(kId);
    store.put(kId, kBlob);
    store.load(kId);
    store.put(numbered_id(1), random_bytes(1, 2000));
    store.put(numbered_id(2), random_bytes(1, 15000));
    ASSERT_EQ(6u, events.size());
    EXPECT_EQ(INGOT_EVENT_STORAGE_LOAD, events[0].kind);
    EXPECT_EQ(INGOT_NOT_FOUND, events[0].status);
    EXPECT_EQ(INGOT_EVENT_STORAGE_STORE, events[1].kind);
    EXPECT_EQ(INGOT_SUCCESS, events[1].status);
    EXPECT_EQ(kBlob.size(), events[2].bytes);
    EXPECT_EQ(INGOT_EVENT_STORAGE_EVICT, events[3].kind);
    EXPECT_EQ(entry_size(kId, kBlob), events[3].bytes);
    EXPECT_EQ(INGOT_EVENT_STORAGE_STORE, events[4].kind);
    EXPECT_EQ(INGOT_NO_SPACE, events[5].status);
    const ingot_persist_stats_t stats = store.stats();
    EXPECT_EQ(1u, stats.hits);
    EXPECT_EQ(1u, stats.misses);
    EXPECT_EQ(2u, stats.stores);
    EXPECT_EQ(1u, stats.evictions);
    EXPECT_EQ(1u, stats.failures);
    EXPECT_EQ(bytes_in(root_), stats.bytes);
}

TEST_F(PersistDirectory, GoesOnInANewRootWhenItsOwnIsDeleted)
{
    const Store store = store_with(root_, kId, kBlob);
    fs::remove_all(root_);
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(kId));
    EXPECT_FALSE(fs::exists(root_)) << "a load makes nothing";
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), kBlob));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(bytes_in(root_), store.stats().bytes);
    EXPECT_TRUE(fs::exists(root_ / "CACHEDIR.TAG"));
}

TEST_F(PersistDirectory, ReadsWhatAnotherStoredInANewRoot)
{
    const std::string path = root_.string();
    ASSERT_EQ(INGOT_SUCCESS, Store(root_).put(kId, kBlob));
    ingot_persist_info_t info = info_at(path);
    info.flags = INGOT_PERSIST_READ_ONLY;
    Store reader(info);
    ASSERT_EQ(INGOT_SUCCESS, reader.load(kId));
    fs::remove_all(root_);
    EXPECT_EQ(INGOT_NOT_FOUND, reader.load(kId));
    EXPECT_FALSE(fs::exists(root_)); /* loading does not make the directory */
    ASSERT_EQ(INGOT_SUCCESS, Store(root_).put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, reader.load(kId));
}

TEST_F(PersistDirectory, JudgesANewRootAsItDidItsOwn)
{
    const Store store = store_with(root_, kId, kBlob);
    fs::remove_all(root_);
    fs::create_directory(root_);
    fs::permissions(root_, fs::perms::all);
    EXPECT_NE(INGOT_SUCCESS, store.put(kId, kBlob));
    EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(PersistDirectory, ARelativePathIsThatOfTheTimeOfOpening)
{
    const fs::path before = fs::current_path();
    fs::current_path(scratch_.path());
    Store store(fs::path("store"));
    fs::current_path(before);
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    fs::remove_all(root_);
    EXPECT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_FALSE(fs::exists("store"));
}

TEST_F(PersistDirectory, RefusesMalformedInfos)
{
    const std::string long_path(5000, 'x');
    const auto open = [](const ingot_persist_info_t &info) {
        ingot_storage_t storage = nullptr;
        const ingot_status_t status = ingot_persist_open(&storage, &info);
        ingot_storage_release(storage);
        return status;
    };
    ingot_persist_info_t good = info_at(root_);
    ASSERT_EQ(INGOT_SUCCESS, open(good));
    const std::function<void(ingot_persist_info_t &)> mistakes[] = {
        [](auto &info) { info.path = nullptr; },
        [](auto &info) { info.path = ""; },
        [&](auto &info) { info.path = long_path.c_str(); },
        [](auto &info) { info.struct_size = 0; },
        [](auto &info) { info.eviction = static_cast<ingot_persist_eviction_t>(77); },
        [](auto &info) { info.store_mode = static_cast<ingot_persist_store_mode_t>(77); },
        [](auto &info) { info.on_miss = static_cast<ingot_persist_on_miss_t>(77); },
    };
    for (const auto &make : mistakes) {
        ingot_persist_info_t info = good;
        make(info);
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open(info)) << &make - mistakes;
    }
    ingot_persist_info_t info = good;
    for (uint32_t flag = INGOT_PERSIST_FROM_ENVIRONMENT * 2; flag != 0; flag <<= 1) {
        info.flags = flag;
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open(info)) << flag;
    }
    info = good;
    for (const char *name_space : {"", "..", "a/b", "12", "tmp"}) {
        info.name_space = name_space;
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open(info)) << name_space;
    }
    info = good;
    const ingot_allocator_t half = {FailingAllocator().table()->allocate, nullptr, nullptr};
    info.allocator = &half;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open(info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open(nullptr, &good));
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open(&storage, nullptr));
    EXPECT_EQ(nullptr, storage);
}

TEST_F(PersistDirectory, FailsCleanlyAtEveryAllocation)
{
    const Bytes large_id = random_bytes(8, 20000);
    for (size_t n = 0;; ++n) {
        ScratchDirectory scratch;
        const fs::path root = scratch.path() / "store";
        const std::string path = root.string();
        FailingAllocator allocator(n);
        {
            ingot_persist_info_t info = info_at(path);
            info.max_bytes = 50000;
            info.allocator = allocator.table();
            Store store(info);
            if (store.status() == INGOT_SUCCESS) {
                for (unsigned i = 0; i < 3; ++i) {
                    const ingot_status_t status = store.put(large_id, random_bytes(i, 2000));
                    EXPECT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY) << n;
                    store.put(numbered_id(i), random_bytes(i, 20000));
                }
                Bytes blob;
                const ingot_status_t status = store.load(large_id, &blob);
                EXPECT_TRUE(status != INGOT_SUCCESS || blob.size() == 2000u) << n;
            } else {
                EXPECT_EQ(INGOT_OUT_OF_MEMORY, store.status());
            }
        }
        EXPECT_EQ(0u, allocator.live_count()) << n;
        if (fs::exists(root)) {
            EXPECT_EQ(0u, leftovers_in(root)) << n;
        }
        if (!allocator.failed())
            return;
    }
}

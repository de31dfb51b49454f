/*
 * Tests manifests, which list the programs that an application requested: what is recorded, in which order and within
 * which limits, and what happens to files that are damaged, foreign or shared.
 */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>

#include <ingot/prewarm.h>

#include "support/failing_allocator.h"
#include "support/forked_child.h"
#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

std::atomic<uint64_t> paused_ns; /* how long the library wanted to pause */

} // namespace

extern "C" {
void __real_files_pause_ns(uint64_t duration_ns);
void __wrap_files_pause_ns(uint64_t duration_ns);

void __wrap_files_pause_ns(uint64_t duration_ns)
{
    paused_ns += duration_ns;
    __real_files_pause_ns(duration_ns);
}
}

namespace
{

struct Entry {
    Bytes id;
    uint32_t age;
    bool operator==(const Entry &other) const { return id == other.id && age == other.age; }
};

ingot_status_t read_manifest(const fs::path &path, std::vector<Entry> *entries)
{
    entries->clear();
    return ingot_manifest_read(
        path.c_str(),
        [](size_t size, const uint8_t *id, uint32_t age, void *user) {
            static_cast<std::vector<Entry> *>(user)->push_back({Bytes(id, id + size), age});
            return INGOT_SUCCESS;
        },
        entries);
}

class PersistManifest : public testing::Test
{
protected:
    struct Told {
        ingot_event_kind_t kind;
        ingot_status_t status;
    };

    ingot_manifest_record_info_t info()
    {
        ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
        info.path = path_.c_str();
        info.on_event = [](const ingot_event_t *event, void *user) {
            static_cast<PersistManifest *>(user)->told_.push_back({event->kind, event->status});
        };
        info.on_event_user = this;
        return info;
    }

    ingot_persist_info_t store_info() const
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root_.c_str();
        info.store_mode = INGOT_PERSIST_STORE_NOW;
        return info;
    }

    /* Requests these programs in one run, with a new context and a new storage. Returns their ids. */
    std::vector<Bytes> run(const std::vector<int> &numbers, const ingot_manifest_record_info_t &record)
    {
        std::vector<Bytes> ids;
        Store store(store_info());
        EXPECT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &record));
        Session session;
        for (const int number : numbers) {
            const Desc desc = session.describe(numbered_source(number));
            session.create(desc, store);
            ids.push_back(id_of(desc));
        }
        return ids;
    }
    std::vector<Bytes> run(const std::vector<int> &numbers) { return run(numbers, info()); }

    std::vector<Entry> entries()
    {
        std::vector<Entry> found;
        EXPECT_EQ(INGOT_SUCCESS, read_manifest(path_, &found)) << ingot_last_error_detail();
        return found;
    }

    size_t count_told(ingot_event_kind_t kind, ingot_status_t status) const
    {
        size_t count = 0;
        for (const Told &told : told_)
            count += told.kind == kind && told.status == status;
        return count;
    }

    ScratchDirectory scratch_;
    std::string root_ = (scratch_.path() / "store").string();
    fs::path path_ = scratch_.path() / "manifest";
    std::vector<Told> told_;
};

} // namespace

TEST_F(PersistManifest, HasWhatWasAskedForInOrderEachOnce)
{
    const std::vector<Bytes> ids = run({3, 1, 3, 2, 1});
    EXPECT_EQ((std::vector<Entry>{{ids[0], 0}, {ids[1], 0}, {ids[3], 0}}), entries());
    EXPECT_FALSE(fs::exists(path_.string() + ".new"));
    EXPECT_EQ(1u, count_told(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
}

TEST_F(PersistManifest, KeepsWhatRunsBeforeAskedForBehindAndOlder)
{
    const std::vector<Bytes> first = run({1, 2, 3});
    const std::vector<Bytes> second = run({4, 2});
    EXPECT_EQ((std::vector<Entry>{{second[0], 0}, {second[1], 0}, {first[0], 1}, {first[2], 1}}), entries());
}

TEST_F(PersistManifest, LeavesOutWhatTooManyRunsDidNotAskFor)
{
    ingot_manifest_record_info_t record = info();
    record.keep_runs = 2;
    const std::vector<Bytes> ids = run({1, 2}, record);
    run({2}, record);
    run({2}, record);
    EXPECT_EQ((std::vector<Entry>{{ids[1], 0}, {ids[0], 2}}), entries());
    run({2}, record);
    EXPECT_EQ((std::vector<Entry>{{ids[1], 0}}), entries());
}

TEST_F(PersistManifest, AgesOthersOnceARunHoweverOftenItSaves)
{
    const std::vector<Bytes> first = run({1});
    Store store(store_info());
    const ingot_manifest_record_info_t record = info();
    ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &record));
    Session session;
    for (const int number : {5, 6, 7}) {
        session.create(session.describe(numbered_source(number)), store);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    }
    const std::vector<Entry> found = entries();
    ASSERT_EQ(4u, found.size());
    EXPECT_EQ((Entry{first[0], 1}), found[3]);
    EXPECT_EQ(4u, count_told(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr)) << "nothing new";
    EXPECT_EQ(4u, count_told(INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS));
}

TEST_F(PersistManifest, KeepsItsLimitsAndTells)
{
    ingot_manifest_record_info_t record = info();
    record.max_entries = 2;
    std::vector<Bytes> ids = run({1, 2, 3, 4}, record);
    EXPECT_EQ((std::vector<Entry>{{ids[0], 0}, {ids[1], 0}}), entries());
    EXPECT_EQ(1u, count_told(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    record = info();
    record.max_bytes = 64 + 8 + ids[0].size() + 8 + ids[1].size();
    ids = run({5, 6, 7}, record);
    EXPECT_EQ((std::vector<Entry>{{ids[0], 0}, {ids[1], 0}}), entries());
    EXPECT_EQ(record.max_bytes, fs::file_size(path_));
}

TEST_F(PersistManifest, EndsWithTheRecord)
{
    Store store(store_info());
    const ingot_manifest_record_info_t record = info();
    Session session;
    session.create(session.describe(numbered_source(0)), store);
    ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &record));
    session.create(session.describe(numbered_source(1)), store);
    EXPECT_FALSE(fs::exists(path_));
    ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), nullptr));
    EXPECT_EQ(1u, entries().size());
    session.create(session.describe(numbered_source(2)), store);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ(1u, entries().size());
}

TEST_F(PersistManifest, RefusesEveryTruncationAndEveryFlippedByte)
{
    run({1, 2});
    const Bytes sound = read_file(path_);
    std::vector<Entry> found;
    for (size_t at = 0; at < sound.size(); ++at) {
        Bytes bad = sound;
        bad[at] ^= 0x20;
        write_file(path_, bad);
        const ingot_status_t status = read_manifest(path_, &found);
        ASSERT_TRUE(status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_VERSION) << at;
        ASSERT_TRUE(found.empty());
        bad = sound;
        bad.resize(at);
        write_file(path_, bad);
        ASSERT_EQ(INGOT_BLOB_TRUNCATED, read_manifest(path_, &found)) << at;
        ASSERT_TRUE(found.empty());
    }
    Bytes longer = sound;
    longer.push_back(0);
    write_file(path_, longer);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_manifest(path_, &found));
}

TEST_F(PersistManifest, IsReadAsTheFormatSaysItIs)
{
    write_file(path_, read_file(fs::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "manifest" / "two-ids.manifest"));
    const std::vector<Entry> golden{{bytes_of("asked for first"), 0}, {bytes_of("of a run before"), 3}};
    EXPECT_EQ(golden, entries());
    const std::vector<Bytes> ids = run({1});
    EXPECT_EQ((std::vector<Entry>{{ids[0], 0}, {golden[0].id, 1}, {golden[1].id, 4}}), entries());
}

TEST_F(PersistManifest, ReplacesADamagedOneAndTells)
{
    run({1, 2});
    Bytes bad = read_file(path_);
    bad[bad.size() / 2] ^= 1;
    write_file(path_, bad);
    const std::vector<Bytes> ids = run({3});
    EXPECT_EQ((std::vector<Entry>{{ids[0], 0}}), entries());
    EXPECT_EQ(1u, count_told(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BLOB_CORRUPT));
}

TEST_F(PersistManifest, LeavesAloneWhatIsNotTrusted)
{
    const fs::path elsewhere = scratch_.path() / "elsewhere";
    write_file(elsewhere, bytes_of("of somebody else"));
    fs::create_symlink(elsewhere, path_);
    std::vector<Entry> found;
    EXPECT_EQ(INGOT_UNTRUSTED, read_manifest(path_, &found));
    run({1});
    EXPECT_TRUE(fs::is_symlink(path_));
    EXPECT_EQ(bytes_of("of somebody else"), read_file(elsewhere));
    EXPECT_EQ(1u, count_told(INGOT_EVENT_STORAGE_STORE, INGOT_UNTRUSTED));
    fs::remove(path_);
    run({1});
    fs::permissions(path_, fs::perms::group_write, fs::perm_options::add);
    EXPECT_EQ(INGOT_UNTRUSTED, read_manifest(path_, &found));
}

TEST_F(PersistManifest, TellsWhereItCannotBeWritten)
{
    ingot_manifest_record_info_t record = info();
    const std::string nowhere = (scratch_.path() / "missing" / "manifest").string();
    record.path = nowhere.c_str();
    run({1}, record);
    EXPECT_EQ(1u, count_told(INGOT_EVENT_STORAGE_STORE, INGOT_NOT_FOUND));
    std::vector<Entry> found;
    EXPECT_EQ(INGOT_NOT_FOUND, read_manifest(path_, &found));
}

TEST_F(PersistManifest, IsWaitedForWhileAnotherProcessWritesIt)
{
    const ingot_manifest_record_info_t record = info();
    const Store store(store_info());
    ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &record));
    const Session session;
    session.create(session.describe(), store);
    const int writing = open((path_.string() + ".new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct flock first_byte = {};
    first_byte.l_type = F_WRLCK;
    first_byte.l_len = 1;
    ASSERT_EQ(0, fcntl(writing, F_OFD_SETLK, &first_byte));
    paused_ns = 0;
    EXPECT_EQ(INGOT_BUSY, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_LE(uint64_t{200} * 1000000, paused_ns) << "it gives up too soon";
    close(writing);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ(1u, entries().size());
}

TEST_F(PersistManifest, HasTheProgramsOfAllProcessesThatWroteIt)
{
    constexpr int kProcesses = 6;
    std::vector<pid_t> children;
    for (int number = 0; number < kProcesses; ++number) {
        children.push_back(forked_child::start([&] {
            run({10 * number, 10 * number + 1, 99});
            return HasFailure() || told_.empty() || told_.back().status != INGOT_SUCCESS ? 1 : 0;
        }));
    }
    for (const pid_t child : children)
        EXPECT_EQ(0, forked_child::wait_for(child));
    EXPECT_EQ(2u * kProcesses + 1, entries().size());
}

TEST_F(PersistManifest, IsNotWrittenByAForkedChild)
{
    Store store(store_info());
    const ingot_manifest_record_info_t record = info();
    ASSERT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), &record));
    Session session;
    session.create(session.describe(numbered_source(1)), store);
    EXPECT_EQ(0, forked_child::run([&] {
                  session.create(session.describe(numbered_source(2)), store);
                  return ingot_persist_flush(store.get(), nullptr, nullptr) == INGOT_READ_ONLY && !fs::exists(path_)
                             ? 0
                             : 1;
              }));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    EXPECT_EQ(1u, entries().size());
}

TEST_F(PersistManifest, EveryFailedAllocationIsClean)
{
    run({7});
    const Bytes before = read_file(path_);
    for (size_t n = 0;; ++n) {
        write_file(path_, before);
        FailingAllocator allocator(n, true);
        ingot_storage_t storage = nullptr;
        ingot_persist_info_t open = store_info();
        open.allocator = allocator.table();
        ingot_status_t status = ingot_persist_open(&storage, &open);
        if (status == INGOT_SUCCESS) {
            const ingot_manifest_record_info_t record = info();
            status = ingot_manifest_record(storage, &record);
            Session session;
            const Desc desc = session.describe(numbered_source(8));
            ingot_program_t program = nullptr;
            EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, nullptr));
            ingot_program_release(program);
            if (status == INGOT_SUCCESS)
                status = ingot_persist_flush(storage, nullptr, nullptr);
            ingot_storage_release(storage);
        }
        ASSERT_EQ(0u, allocator.live_count()) << n;
        ASSERT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY) << n << ": " << status;
        if (!allocator.failed()) {
            EXPECT_EQ(2u, entries().size());
            return;
        }
    }
}

/* One allocation after the first program fails, in each round the next one. The second program is requested again, and
 * not from memory, because its id may be what was not recorded. */
TEST_F(PersistManifest, RecordsOnAfterMemoryRanOutOnce)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator;
        ingot_storage_t storage = nullptr;
        ingot_persist_info_t open = store_info();
        open.allocator = allocator.table();
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open(&storage, &open));
        const ingot_manifest_record_info_t record = info();
        EXPECT_EQ(INGOT_SUCCESS, ingot_manifest_record(storage, &record));
        const auto request = [storage](int number) {
            Session session;
            const Desc desc = session.describe(numbered_source(number));
            ingot_program_t program = nullptr;
            EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, nullptr));
            ingot_program_release(program);
        };
        request(1);
        allocator.fail_from_now(n);
        request(2);
        allocator.stop_failing();
        for (const int number : {3, 2, 4})
            request(number);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage, nullptr, nullptr));
        ingot_storage_release(storage);
        EXPECT_EQ(4u, entries().size()) << n;
        fs::remove(path_);
        if (!allocator.failed())
            break;
    }
    EXPECT_LE(1u, count_told(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE)) << "no failure concerned the record";
}

TEST_F(PersistManifest, RefusesMalformedArguments)
{
    Store store(store_info());
    ingot_manifest_record_info_t record = INGOT_MANIFEST_RECORD_INFO_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_manifest_record(store.get(), &record)) << "no path";
    record = info();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_manifest_record(nullptr, &record));
    record.max_entries = 65537;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_manifest_record(store.get(), &record));
    record = info();
    record.struct_size = sizeof(size_t);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_manifest_record(store.get(), &record));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_manifest_read(path_.c_str(), nullptr, nullptr));
    EXPECT_EQ(INGOT_SUCCESS, ingot_manifest_record(store.get(), nullptr)) << "none to end";
}

/*
 * Tests what a store remembers about programs that cost too much to store (costs.bin): it has the documented bytes, and
 * a program that loads slower than it compiles is not kept.
 */
#include <gtest/gtest.h>

#include <ctime>

#include "support/persist_session.h"
#include "support/store_fixture.h"

extern "C" {
#include "persist/storage/common/kinds.h"
#include "persist/storage/store_cost.h"
}

using namespace store_fixture;

namespace
{

constexpr size_t kRecordSize = 32;
constexpr size_t kRecords = 4096;

void put(Bytes *record, uint64_t value)
{
    for (int i = 0; i < 8; ++i)
        record->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/* Returns the record that doc/store-format.md describes. */
Bytes record_of(const Bytes &id, uint64_t known_ns)
{
    const checksum sum = checksum_of(id.size(), id.data());
    Bytes record(sum.bytes, sum.bytes + CHECKSUM_SIZE);
    put(&record, known_ns);
    put(&record, checksum_bucket_of(record.size(), record.data()));
    return record;
}

size_t place_of(const Bytes &id)
{
    const checksum sum = checksum_of(id.size(), id.data());
    return (sum.bytes[0] + 256u * sum.bytes[1]) % kRecords * kRecordSize;
}

constexpr uint64_t kUnknown = 100000000; /* what is expected for one kernel */

uint64_t cost_ns(const Store &store, const Bytes &id)
{
    const Session session(true);
    const Desc desc = session.describe();
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_build(&program, desc.get()));
    const Program owned(program);
    return store_cost_of(store.get(), program, id.size(), id.data());
}

void use_processor(std::clock_t ms)
{
    const std::clock_t end = std::clock() + ms * (CLOCKS_PER_SEC / 1000);
    while (std::clock() < end) {
    }
}

/* A process whose driver takes these times of the processor. */
struct Process {
    Session session{true};
    int builds = 0;

    Process(int build_ms, int load_ms)
    {
        session.hook = [this, build_ms, load_ms](const char *operation) {
            const bool is_build = std::string(operation) == "build";
            builds += is_build;
            use_processor(is_build ? build_ms : std::string(operation) == "load" ? load_ms : 0);
            return INGOT_SUCCESS;
        };
    }
    ingot_origin_t create(const Store &store)
    {
        const ingot_origin_t origin = session.create(session.describe(), store);
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
        return origin;
    }
};

} // namespace

TEST(PersistCosts, AreKeptAsDocumented)
{
    const ScratchDirectory scratch;
    const Store store(scratch.path() / "store");
    const Bytes id = bytes_of("an id");
    EXPECT_EQ(kUnknown, cost_ns(store, id));
    store_cost_note(store.get(), id.size(), id.data(), UINT64_C(0x123456789a));
    EXPECT_EQ(UINT64_C(0x123456789a), cost_ns(store, id));
    EXPECT_EQ(kUnknown, cost_ns(store, bytes_of("another id")));
    const fs::path path = scratch.path() / "store" / "costs.bin";
    Bytes bytes = read_file(path);
    ASSERT_EQ(place_of(id) + kRecordSize, bytes.size());
    EXPECT_EQ(record_of(id, UINT64_C(0x123456789a)), Bytes(bytes.end() - kRecordSize, bytes.end()));
    for (size_t at = place_of(id); at < bytes.size(); ++at) {
        bytes[at] ^= 1;
        write_file(path, bytes);
        EXPECT_EQ(kUnknown, cost_ns(store, id)) << at;
        bytes[at] ^= 1;
    }
    write_file(path, bytes);
    EXPECT_NE(kUnknown, cost_ns(store, id));
    chmod(path.c_str(), 0666);
    EXPECT_EQ(kUnknown, cost_ns(store, id));
}

TEST(PersistCosts, AreThoseOfANamespaceThatHasNoEntries)
{
    const ScratchDirectory scratch;
    const std::string path = (scratch.path() / "store").string();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path.c_str();
    info.name_space = "app";
    const Store store(info);
    const Bytes id = bytes_of("an id");
    store_cost_note(store.get(), id.size(), id.data(), STORAGE_NEVER);
    EXPECT_EQ(STORAGE_NEVER, cost_ns(store, id));
    EXPECT_TRUE(fs::exists(path + "/app/costs.bin"));
}

TEST(PersistCosts, AProgramThatLoadsSlowerThanItCompilesIsNotKept)
{
    const ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    const Store store(root);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, Process(1, 0).create(store));
    EXPECT_EQ(1u, entries_of(root).size());
    Process slow(1, 100);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, slow.create(store));
    EXPECT_EQ(1u, slow.session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NOT_CACHEABLE));
    EXPECT_EQ(0u, entries_of(root).size());
    for (int run = 0; run < 2; ++run) {
        EXPECT_EQ(INGOT_ORIGIN_BUILD, Process(1, 100).create(store));
        EXPECT_EQ(0u, entries_of(root).size());
    }
}

TEST(PersistCosts, AProgramThatLoadsFasterStays)
{
    const ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store";
    const Store store(root);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, Process(300, 0).create(store));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, Process(300, 1).create(store));
    EXPECT_EQ(1u, entries_of(root).size());
}

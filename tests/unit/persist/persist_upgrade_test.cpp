/*
 * Tests a store of version 2 of the format, which has an index and one line in size.txt, with this version of the
 * library. Entries are the same in both versions.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

const Bytes kBlob = random_bytes(1, 100);
constexpr uint64_t kEntry = 128 + 8 + 100;

std::atomic<unsigned> survey_count{0};

Bytes numbered_id(unsigned number)
{
    return bytes_of("id " + std::to_string(10000 + number));
}

/* The parameter is the number of entries: few, which are counted at once, or many, which a thread counts. */
class PersistUpgrade : public testing::TestWithParam<unsigned>
{
protected:
    void SetUp() override
    {
        {
            Store store(root);
            for (unsigned i = 0; i < count; ++i)
                ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
        }
        write_file(root / "size.txt", bytes_of(size_text(count * kEntry, 0).substr(0, 21)));
        write_file(root / "index.bin", index);
    }
    void expect_all(const Store &store) const
    {
        for (unsigned i = 0; i < count; ++i) {
            Bytes blob;
            ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(i), &blob)) << i;
            ASSERT_EQ(kBlob, blob) << i;
        }
    }

    const unsigned count = GetParam();
    const ScratchDirectory scratch{fast_volume()};
    const fs::path root = scratch.path() / "store";
    const Bytes index = read_file(fs::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "store" / "index.bin");
};

} // namespace

extern "C" {
ingot_status_t __real_survey_init(void *survey, void *directory, const char *name_space, void *watch);
ingot_status_t __wrap_survey_init(void *survey, void *directory, const char *name_space, void *watch);

ingot_status_t __wrap_survey_init(void *survey, void *directory, const char *name_space, void *watch)
{
    ++survey_count;
    return __real_survey_init(survey, directory, name_space, watch);
}
}

INSTANTIATE_TEST_SUITE_P(Sizes, PersistUpgrade, testing::Values(20u, 600u));

TEST_P(PersistUpgrade, LoadsAllEntriesAndCountsThem)
{
    ASSERT_EQ(3u * 4096 + 4096, index.size());
    {
        Store store(root);
        EXPECT_EQ(count * kEntry, store.stats().bytes);
        expect_all(store);
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(count), kBlob)); /* the last release waits for the count */
    }
    ASSERT_EQ(INGOT_SUCCESS, Store(root).put(numbered_id(count + 1), kBlob));
    EXPECT_EQ(bytes_of(size_text((count + 2) * kEntry, count + 2)), read_file(root / "size.txt"));
    EXPECT_EQ(index, read_file(root / "index.bin")) << "it is left to the earlier version";
    expect_all(Store(root));
}

/* The earlier version overwrites size.txt with each blob. */
TEST_P(PersistUpgrade, ALargeStoreIsNotCountedForEachBlobWhileTheEarlierVersionUsesIt)
{
    constexpr unsigned kStores = 5;
    survey_count = 0;
    {
        Store store(root);
        for (unsigned i = 0; i < kStores; ++i) {
            write_file(root / "size.txt", bytes_of(size_text(count * kEntry, 0).substr(0, 21)));
            EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(count + i), kBlob));
        }
    }
    EXPECT_GE(count > 256 ? 2u : kStores, survey_count) << "one begins in the thread that stores, and one in its own";
    EXPECT_EQ(count + kStores, entries_of(root).size());
}

TEST_P(PersistUpgrade, EvictsTheOldestEntries)
{
    ASSERT_EQ(INGOT_SUCCESS, Store(root, count * kEntry).put(numbered_id(count), kBlob));
    Store store(root);
    EXPECT_GT(count, entries_of(root).size());
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(numbered_id(0)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(count - 1)));
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(count)));
    EXPECT_EQ(bytes_in(root), store.stats().bytes);
    EXPECT_FALSE(fs::exists(root / "index.bin")) << "the earlier version makes it again, with all entries";
}

TEST_P(PersistUpgrade, CountingOrClearingMakesTheEarlierVersionListTheEntriesAgain)
{
    Store store(root);
    ingot_persist_count_t found = INGOT_PERSIST_COUNT_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &found));
    EXPECT_EQ(count, found.entry_count);
    EXPECT_EQ(count * kEntry, found.recorded_bytes);
    EXPECT_FALSE(fs::exists(root / "index.bin"));
    write_file(root / "index.bin", index);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_clear(store.get()));
    EXPECT_FALSE(fs::exists(root / "index.bin"));
    EXPECT_TRUE(entries_of(root).empty());
}

/*
 * Tests damaged entries: every truncation, every flipped byte, and missing files. A damaged entry is a miss, and
 * storing the blob again replaces it.
 */
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

const Bytes kId = bytes_of("an id of some length");
const Bytes kBlob = random_bytes(1, 300);

class PersistEntry : public StoreTest
{
protected:
    void SetUp() override
    {
        ASSERT_EQ(INGOT_SUCCESS, store_.status());
        ASSERT_EQ(INGOT_SUCCESS, store_.put(kId, kBlob));
        entry_ = entries_of(root_).at(0);
        key_ = read_file(entry_ / "key.bin");
    }

    /* Expects that the damaged entry is gone or replaced, and that the store keeps working. */
    void expect_healed(const std::string &what)
    {
        ASSERT_EQ(INGOT_NOT_FOUND, store_.load(kId)) << what;
        expect_store_goes_on(what);
    }

    void expect_store_goes_on(const std::string &what)
    {
        ASSERT_EQ(INGOT_SUCCESS, store_.put(kId, kBlob)) << what;
        Bytes blob;
        ASSERT_EQ(INGOT_SUCCESS, store_.load(kId, &blob)) << what;
        ASSERT_EQ(kBlob, blob) << what;
        ASSERT_EQ(1u, entries_of(root_).size()) << what;
        ASSERT_EQ(0u, leftovers_in(root_)) << what;
    }

    Store store_{root_};
    fs::path entry_;
    Bytes key_;
};

} // namespace

TEST_F(PersistEntry, EveryTruncationIsAMiss)
{
    for (const char *name : {"key.bin", "kernel.bin"}) {
        for (size_t size = 0; size < fs::file_size(entry_ / name); ++size) {
            fs::resize_file(entry_ / name, size);
            ASSERT_EQ(INGOT_BLOB_TRUNCATED, store_.load(kId)) << name << " of " << size;
            expect_healed(name);
        }
    }
}

TEST_F(PersistEntry, EveryFlippedByteOfTheKeyIsAMissOrHarmless)
{
    for (size_t at = 0; at < key_.size(); ++at) {
        Bytes bad = key_;
        bad[at] ^= 0xffu;
        write_file(entry_ / "key.bin", bad);
        const std::string what = "byte " + std::to_string(at);
        if (at >= 112 && at < 128) { /* bytes that readers ignore */
            ASSERT_EQ(INGOT_SUCCESS, store_.load(kId)) << what;
        } else if (at >= 8 && at < 12) { /* another version's entry is a miss that a store replaces */
            ASSERT_EQ(INGOT_BLOB_VERSION, store_.load(kId)) << what;
            expect_store_goes_on(what);
            key_ = read_file(entry_ / "key.bin");
        } else {
            ASSERT_EQ(INGOT_BLOB_CORRUPT, store_.load(kId)) << what;
            expect_healed(what);
            key_ = read_file(entry_ / "key.bin");
        }
    }
}

TEST_F(PersistEntry, EveryFlippedByteOfTheBlobIsAMiss)
{
    for (size_t at = 0; at < kBlob.size(); ++at) {
        Bytes bad = kBlob;
        bad[at] ^= 0x01u;
        write_file(entry_ / "kernel.bin", bad);
        ASSERT_EQ(INGOT_BLOB_CORRUPT, store_.load(kId)) << at;
        expect_healed("byte " + std::to_string(at));
    }
}

TEST_F(PersistEntry, AppendedGarbageIsAMissAndALotAllocatesNothing)
{
    for (const char *name : {"key.bin", "kernel.bin"}) {
        for (const uintmax_t size : {fs::file_size(entry_ / name) + 1, uintmax_t{1} << 40}) {
            fs::resize_file(entry_ / name, size);
            EXPECT_EQ(INGOT_BLOB_CORRUPT, store_.load(kId)) << name << " of " << size;
            expect_healed(name);
        }
    }
}

TEST_F(PersistEntry, MissingFilesAreAMiss)
{
    for (const char *name : {"key.bin", "kernel.bin"}) {
        fs::remove(entry_ / name);
        EXPECT_EQ(INGOT_BLOB_TRUNCATED, store_.load(kId)) << name;
        expect_healed(name);
    }
    fs::remove(entry_ / "key.bin");
    fs::remove(entry_ / "kernel.bin");
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, store_.load(kId));
    expect_healed("an empty entry");
}

TEST_F(PersistEntry, AnEntryThatIsAFileIsAMiss)
{
    fs::remove_all(entry_);
    write_file(entry_, bytes_of("not a directory"));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, store_.load(kId));
    expect_healed("a file");
}

TEST_F(PersistEntry, ABadEntryIsReplacedByAStoreWithoutALoad)
{
    write_file(entry_ / "kernel.bin", bytes_of("bad"));
    expect_store_goes_on("bad blob");
    fs::remove(entry_ / "key.bin");
    expect_store_goes_on("no key");
    fs::remove_all(entry_);
    write_file(entry_, bytes_of("not a directory"));
    expect_store_goes_on("a file");
}

TEST_F(PersistEntry, ForeignThingsInTheRootAreLeftAlone)
{
    fs::create_directory(root_ / "007");
    fs::create_directories(root_ / "some where" / "1" / "0");
    write_file(root_ / "12345", bytes_of("a file named like one of an earlier format"));
    write_file(entry_.parent_path() / "note", bytes_of("x"));
    fs::remove(root_ / "size.txt");
    expect_store_goes_on("foreign things");
    ASSERT_EQ(INGOT_SUCCESS, store_.put(bytes_of("other"), kBlob));
    ASSERT_EQ(INGOT_SUCCESS, clear_store(store_.get()));
    EXPECT_TRUE(fs::exists(root_ / "007"));
    EXPECT_TRUE(fs::exists(root_ / "some where" / "1" / "0"));
    EXPECT_TRUE(fs::exists(root_ / "12345"));
    EXPECT_TRUE(fs::exists(entry_.parent_path() / "note"));
}

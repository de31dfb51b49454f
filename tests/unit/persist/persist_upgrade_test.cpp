/*
 * Tests a store in a directory where Ingot had one before version 1.0: it is neither read, counted nor removed.
 */
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

class PersistUpgrade : public StoreTest
{
protected:
    void SetUp() override
    {
        for (const fs::path &parent : {root_, root_ / "app"}) {
            for (const char *bucket : {"18446744073709551615", "1234567"}) {
                fs::create_directories(parent / bucket / "0");
                write_file(parent / bucket / "0" / "key.bin", bytes_of("a key"));
                write_file(parent / bucket / "0" / "kernel.bin", bytes_of("a blob"));
            }
            write_file(parent / "size.txt", bytes_of(size_text(1000000000, 2).substr(0, 42)));
        }
        write_file(root_ / "index.bin", bytes_of("an index"));
        for (const auto &item : fs::recursive_directory_iterator(root_))
            if (item.is_directory())
                fs::permissions(item.path(), fs::perms::owner_all);
        fs::permissions(root_, fs::perms::owner_all);
    }
    unsigned old_entries() const
    {
        unsigned count = 0;
        for (const auto &item : fs::recursive_directory_iterator(root_))
            count += item.path().filename() == "kernel.bin" && read_file(item.path()) == bytes_of("a blob") ? 1 : 0;
        return count;
    }
};

} // namespace

TEST_F(PersistUpgrade, LeavesTheEarlierFormatAlone)
{
    const Bytes id = bytes_of("an id");
    Store store(root_, 20000);
    ASSERT_EQ(INGOT_SUCCESS, store.put(id, bytes_of("new")));
    EXPECT_EQ(size_text(2 * 4096, 1), totals_of(root_)) << "the earlier totals count for nothing";
    EXPECT_EQ(0u, store.stats().evictions);
    ASSERT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(id));
    EXPECT_EQ(4u, old_entries());
    EXPECT_TRUE(fs::exists(root_ / "index.bin"));
}

TEST_F(PersistUpgrade, TotalsOfAnotherVersionCountForNothing)
{
    std::string totals = size_text(1000000000, 2);
    for (const char version : {'2', '4'}) {
        totals.at(42) = version;
        write_file(root_ / "size.txt", bytes_of(totals));
        Store store(root_);
        ASSERT_EQ(INGOT_SUCCESS, store.put(bytes_of("an id"), bytes_of("new")));
        EXPECT_EQ(size_text(2 * 4096, 1), totals_of(root_));
    }
}

/*
 * Tests the index of a store. Its bytes must equal a golden file, which tests/golden/store/make.py wrote without the
 * library, and the index must keep its records while it grows and shrinks.
 */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "support/store_fixture.h"

extern "C" {
#include "persist/directory/format/index.h"
}

using namespace store_fixture;

namespace
{

constexpr uint64_t kCreated = 1700000000123456789u;

class PersistIndex : public testing::Test
{
protected:
    ~PersistIndex() override { close(fd); }
    void open_file(const fs::path &path) { fd = open(path.c_str(), O_RDWR | O_CREAT, 0600); }

    ScratchDirectory scratch;
    int fd = -1;
    index_header header = {};
};

/* Returns the bucket of a number: its hash, just as the bucket of an id is the id's hash. */
uint64_t bucket_of(unsigned number)
{
    return checksum_bucket_of(sizeof(number), reinterpret_cast<const uint8_t *>(&number));
}

index_record record_of(unsigned number)
{
    return {bucket_of(number), kCreated + number, 1000 + number, number % 3, number};
}

bool is_there(int fd, const index_header &header, unsigned number)
{
    index_place place;
    const index_record record = record_of(number);
    return index_find(fd, header.page_count, record.bucket, record.number, &place) == 1 &&
           place.record.created_ns == record.created_ns && place.record.bytes == record.bytes &&
           place.record.last_use_s == record.last_use_s;
}

void count(void *user, const index_record *)
{
    ++*static_cast<unsigned *>(user);
}

} // namespace

TEST_F(PersistIndex, ReadsTheGoldenOne)
{
    const fs::path golden = fs::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "store";
    open_file(golden / "index.bin");
    ASSERT_EQ(1, index_read_header(fd, &header));
    EXPECT_EQ(3u, header.page_count);
    EXPECT_EQ(3u, header.entry_count);
    EXPECT_EQ(7u, header.cursor);
    EXPECT_EQ(UINT64_MAX, header.drain_bytes);
    EXPECT_EQ(2u, header.drain_entries);
    EXPECT_EQ(12345u, header.scan_position);
    EXPECT_TRUE(header.is_scanning);
    EXPECT_EQ(INDEX_CHANGE_REMOVE, header.change);
    EXPECT_EQ(2u, header.changed.number);
    EXPECT_EQ(2u * 4096 + 64, header.changed_offset);
    /* The record at this place has a wrong hash, so the place counts as empty. */
    EXPECT_EQ(0, index_is_at(fd, header.changed_offset, &header.changed));
    const uint64_t odd = header.changed.bucket;
    const uint64_t even = odd & ~uint64_t{3};
    const std::map<std::pair<uint64_t, uint32_t>, uint64_t> offsets = {
        {{even, 0}, 4096}, {{odd, 1}, 2 * 4096 + 32}, {{even | 2, 0}, 3 * 4096}};
    for (const auto &[name, offset] : offsets) {
        index_place place;
        ASSERT_EQ(1, index_find(fd, 3, name.first, name.second, &place));
        EXPECT_EQ(offset, place.offset);
        EXPECT_EQ(kCreated, place.record.created_ns);
        EXPECT_EQ(1700000099u, place.record.last_use_s);
    }
    for (const uint64_t page : {0u, 1u, 2u}) {
        unsigned records = 0;
        EXPECT_EQ(0, index_visit(fd, 3, page, count, &records));
        EXPECT_EQ(1u, records) << page; /* without the copy of a record that a split left in the old page */
    }
    const Bytes bytes = read_file(golden / "index.bin");
    uint8_t written[INDEX_HEADER_SIZE];
    index_header_encode(&header, written);
    EXPECT_TRUE(std::equal(written, written + sizeof(written), bytes.begin()));
    uint8_t record[INDEX_RECORD_SIZE];
    index_place place;
    ASSERT_EQ(1, index_find(fd, 3, odd, 1, &place));
    index_record_encode(&place.record, record);
    EXPECT_TRUE(std::equal(record, record + sizeof(record), bytes.begin() + 2 * 4096 + 32));
}

TEST_F(PersistIndex, RefusesAHeaderThatIsChangedAnywhere)
{
    const Bytes golden = read_file(fs::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "store" / "index.bin");
    for (size_t at = 0; at < INDEX_HEADER_SIZE; ++at) {
        Bytes bytes(golden.begin(), golden.begin() + INDEX_HEADER_SIZE);
        bytes[at] ^= 1;
        EXPECT_FALSE(index_header_decode(&header, bytes.data())) << at;
    }
}

TEST_F(PersistIndex, KeepsItsRecordsWhileItGrowsAndShrinks)
{
    constexpr unsigned most = 6000;
    open_file(scratch.path() / "index.bin");
    ASSERT_EQ(0, index_reset(fd, &header));
    for (unsigned i = 0; i < most; ++i) {
        index_place place;
        const index_record record = record_of(i);
        ASSERT_EQ(0, index_grow(fd, &header));
        ASSERT_EQ(0, index_find(fd, header.page_count, record.bucket, record.number, &place));
        ASSERT_NE(0u, place.offset);
        ASSERT_EQ(0, index_put(fd, place.offset, &record));
        ++header.entry_count;
    }
    EXPECT_EQ(most / 40, header.page_count);
    for (unsigned i = 0; i < most; ++i)
        ASSERT_TRUE(is_there(fd, header, i)) << i;
    for (unsigned i = 0; i < most; ++i) {
        index_place place;
        const index_record record = record_of(i);
        ASSERT_EQ(1, index_find(fd, header.page_count, record.bucket, record.number, &place)) << i;
        ASSERT_EQ(0, index_free(fd, place.offset));
        --header.entry_count;
        ASSERT_EQ(0, index_shrink(fd, &header));
        ASSERT_FALSE(is_there(fd, header, i));
        for (unsigned left = i + 1; i % 500 == 0 && left < most; ++left)
            ASSERT_TRUE(is_there(fd, header, left)) << left;
    }
    EXPECT_EQ(1u, header.page_count);
}

TEST_F(PersistIndex, SplitsAPageForEachOneThatComes)
{
    for (uint64_t pages = 1; pages < 300; ++pages)
        for (unsigned i = 0; i < 200; ++i) {
            const uint64_t before = index_page_of(bucket_of(i), pages);
            const uint64_t after = index_page_of(bucket_of(i), pages + 1);
            ASSERT_LT(before, pages);
            ASSERT_TRUE(after == before || (after == pages && before == index_page_of(pages, pages)));
        }
}

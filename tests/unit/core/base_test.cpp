/*
 * base_test.cpp - tests reading whole files; that the byte writer fails once and for all, and the protocol of sizes;
 * and that Ingot's XXH3 gives the same results as the xxHash library, with every instruction set.
 */
#include "support/scratch_directory.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include <xxhash.h>

extern "C" {
#include "core/base/digest.h"
#include "core/base/os_file.h"
#include "util/xxh3/xxh3.h"
}
#include "support/failing_allocator.h"

namespace
{

class ReadFile : public testing::Test
{
protected:
    void SetUp() override
    {
        ASSERT_EQ(INGOT_SUCCESS, memory_init(&allocator_, nullptr));
        bytes_writer_init(&content_, &allocator_);
    }
    void TearDown() override { bytes_writer_fini(&content_); }

    ingot_status_t read(const std::string &path, size_t max_size = SIZE_MAX)
    {
        bytes_writer_fini(&content_);
        return os_read_file(path.c_str(), max_size, &content_, &facts_);
    }
    ingot_status_t hash(const std::string &path)
    {
        std::vector<uint8_t> part(OS_FILE_PART);
        return os_hash_file(path.c_str(), part.data(), &hash_, &facts_);
    }
    std::string text() const { return std::string(reinterpret_cast<const char *>(content_.bytes), content_.size); }

    ScratchDirectory scratch_;
    ingot_allocator_t allocator_ = {};
    bytes_writer content_ = {};
    os_file_facts facts_ = {};
    hash128 hash_ = {};
};

TEST_F(ReadFile, ReadsEmptyFilesAndThoseThatDoNotSayTheirSize)
{
    const std::string path = scratch_.path() / "empty";
    std::ofstream(path) << "";
    ASSERT_EQ(INGOT_SUCCESS, read(path));
    EXPECT_EQ(0u, content_.size);
    ASSERT_EQ(INGOT_SUCCESS, read("/proc/self/maps"));
    EXPECT_NE(std::string::npos, text().find("[stack]"));
}

TEST_F(ReadFile, RefusesWhatIsNoRegularFile)
{
    EXPECT_EQ(INGOT_NOT_FOUND, read(scratch_.path() / "absent"));
    EXPECT_EQ(INGOT_IO_ERROR, read(scratch_.path()));
    const std::string pipe = scratch_.path() / "pipe";
    ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
    EXPECT_EQ(INGOT_IO_ERROR, read(pipe));
}

/* The hash is part of ids, so its definition must not change. */
TEST_F(ReadFile, HashesAFileInParts)
{
    const std::string path = scratch_.path() / "file";
    for (const size_t size : {size_t(0), size_t(1), OS_FILE_PART - 1, OS_FILE_PART, OS_FILE_PART + 1, size_t(200000)}) {
        std::string text(size, 'a');
        for (size_t i = 0; i < size; ++i)
            text[i] = static_cast<char>(i * i / 7);
        hash128 expected = {0, 0};
        for (size_t at = 0; at < size; at += OS_FILE_PART) {
            const hash128 both[2] = {expected, hash128_of(std::min(OS_FILE_PART, size - at), &text[at])};
            expected = hash128_of(sizeof(both), both);
        }
        std::ofstream(path) << text;
        ASSERT_EQ(INGOT_SUCCESS, hash(path));
        EXPECT_EQ(expected.low, hash_.low) << size;
        EXPECT_EQ(expected.high, hash_.high) << size;
        EXPECT_EQ(size, facts_.state.size);
        EXPECT_TRUE(facts_.was_steady);
    }
}

TEST_F(ReadFile, HashesOnlyRegularFiles)
{
    EXPECT_EQ(INGOT_IO_ERROR, hash(scratch_.path()));
    const std::string pipe = scratch_.path() / "pipe";
    ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
    EXPECT_EQ(INGOT_IO_ERROR, hash(pipe));
}

TEST_F(ReadFile, ReportsTheErrnoOfAFailure)
{
    const std::string loop = scratch_.path() / "loop";
    std::filesystem::create_symlink("loop", loop);
    EXPECT_EQ(INGOT_IO_ERROR, read(loop));
    EXPECT_EQ(ELOOP, ingot_last_error_code());
    EXPECT_EQ(INGOT_NOT_FOUND, hash(scratch_.path() / "absent"));
    EXPECT_EQ(ENOENT, ingot_last_error_code());
    EXPECT_EQ(INGOT_IO_ERROR, hash(loop));
    EXPECT_EQ(ELOOP, ingot_last_error_code());
}

TEST_F(ReadFile, ReadsNothingOfWhatIsTooLong)
{
    const std::string path = scratch_.path() / "file";
    std::ofstream(path) << "0123456789";
    EXPECT_EQ(INGOT_SUCCESS, read(path, 10));
    EXPECT_EQ("0123456789", text());
    EXPECT_EQ(INGOT_NO_SPACE, read(path, 9));
    EXPECT_EQ(0u, content_.size);
    EXPECT_EQ(INGOT_NO_SPACE, read("/proc/self/maps", 5)); /* this file does not report its size */
}

} // namespace

/* ---- bytes: the tests of each format cut and lengthen bytes, which the reader must refuse ---- */

TEST(Bytes, FailsOnceAndStaysFailedWhenMemoryIsShort)
{
    FailingAllocator allocator(1);
    bytes_writer writer;
    bytes_writer_init(&writer, allocator.table());
    bytes_put_u32(&writer, 1);
    EXPECT_FALSE(writer.failed);
    EXPECT_EQ(nullptr, bytes_reserve(&writer, 1 << 20));
    EXPECT_TRUE(writer.failed);
    bytes_put_u32(&writer, 2);
    size_t size = 0;
    EXPECT_EQ(nullptr, bytes_take(&writer, &size));
    EXPECT_EQ(0u, allocator.live_count());
}

TEST(Bytes, RefusesAnImpossibleSize)
{
    FailingAllocator allocator;
    bytes_writer writer;
    bytes_writer_init(&writer, allocator.table());
    EXPECT_EQ(nullptr, bytes_reserve(&writer, SIZE_MAX));
    EXPECT_TRUE(writer.failed);
    bytes_writer_fini(&writer);
}

TEST(SizeProtocol, CoversNullExactLargerAndSmaller)
{
    const char bytes[] = "abcd";
    char out[8] = "-------";
    size_t size = 99;
    EXPECT_EQ(INGOT_SUCCESS, bytes_copy_out(4, bytes, &size, nullptr));
    EXPECT_EQ(4u, size);
    for (size = 0; size < 4;) {
        const size_t given = size;
        EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, bytes_copy_out(4, bytes, &size, out));
        EXPECT_EQ(4u, size);
        EXPECT_STREQ("-------", out);
        size = given + 1;
    }
    EXPECT_EQ(INGOT_SUCCESS, bytes_copy_out(4, bytes, &size, out));
    EXPECT_STREQ("abcd---", out);
    size = 8;
    EXPECT_EQ(INGOT_SUCCESS, bytes_copy_out(4, bytes, &size, out));
    EXPECT_EQ(4u, size);
}

/* ---- digests ---- */

/* Compares `hash` with the library on both sides of each size at which XXH3 changes its method, and at several
 * alignments. */
template <typename Hash> static void expect_equal(Hash hash)
{
    std::vector<uint8_t> bytes(300000);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
    for (const size_t size :
         {0u, 1u, 3u, 4u, 8u, 9u, 16u, 17u, 128u, 129u, 240u, 241u, 1023u, 1024u, 1025u, 4096u, 299990u}) {
        for (const size_t offset : {0u, 1u, 5u, 8u}) {
            const XXH128_hash_t wanted = XXH3_128bits(bytes.data() + offset, size);
            const auto found = hash(size, bytes.data() + offset);
            EXPECT_EQ(wanted.low64, found.low) << size << " bytes at " << offset;
            EXPECT_EQ(wanted.high64, found.high) << size << " bytes at " << offset;
        }
    }
}

TEST(Digest, IsXxh3)
{
    expect_equal(hash128_of);
}

TEST(Digest, IsXxh3WithAvx2)
{
    if (!xxh3_has_avx2())
        GTEST_SKIP() << "Digest.IsXxh3 has all that there is";
    expect_equal(xxh3_128_avx2);
    const std::vector<uint8_t> bytes(1000, 7);
    for (size_t size = 0; size <= bytes.size(); ++size)
        EXPECT_EQ(XXH3_64bits(bytes.data(), size), xxh3_64_avx2(size, bytes.data())) << size;
}

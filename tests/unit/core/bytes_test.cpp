/*
 * bytes_test.cpp - tests the byte writer and the reader that checks every size.
 */
#include <gtest/gtest.h>

extern "C" {
#include "core/base/bytes.h"
}

#include "support/failing_allocator.h"

TEST(Bytes, ReadsBackWhatItWrote)
{
    FailingAllocator allocator;
    bytes_writer writer;
    bytes_writer_init(&writer, allocator.table());
    bytes_put_u32(&writer, 0x01020304);
    bytes_put_u64(&writer, UINT64_MAX - 1);
    bytes_put_framed(&writer, 3, "abc");
    bytes_put_framed(&writer, 0, nullptr);
    EXPECT_EQ(0x04, writer.bytes[0]); /* little-endian */

    bytes_reader reader;
    bytes_reader_init(&reader, writer.size, writer.bytes);
    EXPECT_EQ(0x01020304u, bytes_get_u32(&reader));
    EXPECT_EQ(UINT64_MAX - 1, bytes_get_u64(&reader));
    size_t size = 0;
    EXPECT_EQ(0, memcmp("abc", bytes_get_framed(&reader, &size), 3));
    EXPECT_EQ(3u, size);
    EXPECT_NE(nullptr, bytes_get_framed(&reader, &size));
    EXPECT_EQ(0u, size);
    EXPECT_EQ(0u, bytes_left(&reader));
    EXPECT_FALSE(reader.failed);
    bytes_writer_fini(&writer);
    EXPECT_EQ(0u, allocator.live_count());
}

TEST(Bytes, NeverReadsPastTheEnd)
{
    const uint8_t bytes[] = {1, 2, 3};
    bytes_reader reader;
    bytes_reader_init(&reader, sizeof(bytes), bytes);
    EXPECT_EQ(0u, bytes_get_u32(&reader));
    EXPECT_TRUE(reader.failed);
    EXPECT_EQ(nullptr, bytes_get(&reader, 1)) << "a failed reader stays failed";
    EXPECT_EQ(0u, bytes_left(&reader));
}

TEST(Bytes, RefusesALengthBeyondTheEnd)
{
    for (uint64_t length : {uint64_t{1}, uint64_t{1} << 63, UINT64_MAX}) {
        FailingAllocator allocator;
        bytes_writer writer;
        bytes_writer_init(&writer, allocator.table());
        bytes_put_u64(&writer, length);
        bytes_reader reader;
        bytes_reader_init(&reader, writer.size, writer.bytes);
        size_t size = 7;
        EXPECT_EQ(nullptr, bytes_get_framed(&reader, &size));
        EXPECT_EQ(0u, size);
        EXPECT_TRUE(reader.failed);
        bytes_writer_fini(&writer);
    }
}

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

/*
 * bytes_test.cpp - tests that the byte writer fails once and for all, and the protocol of sizes. The tests of each
 * format cut and lengthen bytes, which the reader must refuse.
 */

extern "C" {
#include "core/base/bytes.h"
}

#include "support/failing_allocator.h"

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

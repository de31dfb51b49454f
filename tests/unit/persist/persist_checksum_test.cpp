/*
 * persist_checksum_test.cpp - tests that the store's hashes are XXH3, least significant byte first, with every
 * instruction set.
 */
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <xxhash.h>

#include "support/random_bytes.h"

extern "C" {
#include "persist/base/base.h"
}

namespace
{

/* Sizes for each of XXH3's methods, and on both sides of 256 KiB. From that size on, checksum_of uses the processor's
 * widest instructions. */
const size_t kSizes[] = {0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 1025, 4096, 262143, 262144, 299990};

uint64_t number(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; --i)
        value = value << 8 | bytes[i];
    return value;
}

TEST(Checksum, IsXxh3OfEverySize)
{
    const std::vector<uint8_t> bytes = random_bytes(1, 300000);
    for (const size_t size : kSizes) {
        for (const size_t offset : {0u, 1u, 8u}) {
            const XXH128_hash_t wanted = XXH3_128bits(bytes.data() + offset, size);
            const checksum found = checksum_of(size, bytes.data() + offset);
            EXPECT_EQ(wanted.low64, number(found.bytes)) << size << " bytes at " << offset;
            EXPECT_EQ(wanted.high64, number(found.bytes + 8)) << size << " bytes at " << offset;
            EXPECT_EQ(XXH3_64bits(bytes.data() + offset, size), checksum_bucket_of(size, bytes.data() + offset));
        }
    }
}

} // namespace

/*
 * digest_test.cpp - tests that Ingot's XXH3 gives the same results as the xxHash library, with every instruction set.
 */
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <xxhash.h>

extern "C" {
#include "core/base/digest.h"
#include "util/xxh3/xxh3.h"
}

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

/*
 * Tests that objects on a server read back as they were written, and that everything else is refused.
 */
#include <cstring>
#include <memory>

#include "support/remote_fixture.h"

extern "C" {
#include "remote/object/envelope.h"
#include "util/little_endian.h"
#include "util/xxh3/xxh3.h"
}

using namespace remote_fixture;

namespace
{

const size_t kLimit = 1 << 20;

Bytes encode(const Bytes &blob, int level = 3, const Bytes &id = kId)
{
    size_t size = 0;
    uint8_t *object = nullptr;
    EXPECT_EQ(INGOT_SUCCESS,
              envelope_encode(id.size(), id.data(), blob.size(), blob.data(), 1234, level, &size, &object));
    Bytes bytes(object, object + size);
    free(object);
    return bytes;
}

ingot_status_t decode(const Bytes &object, Bytes *blob = nullptr, const Bytes &id = kId, size_t limit = kLimit)
{
    envelope_content found = {};
    /* A copy without spare room, so that a sanitizer sees reads beyond its end. */
    const std::unique_ptr<uint8_t[]> copy(new uint8_t[object.size()]);
    std::copy(object.begin(), object.end(), copy.get());
    const uint8_t *bytes = object.empty() ? nullptr : copy.get();
    const ingot_status_t status = envelope_decode(object.size(), bytes, id.size(), id.data(), limit, &found);
    if (status == INGOT_SUCCESS && blob != nullptr)
        blob->assign(found.bytes, found.bytes + found.size);
    free(found.unpacked);
    return status;
}

/* Recomputes the header's checksum, as a hostile writer would. */
Bytes seal(Bytes object)
{
    const xxh3_words words = xxh3_128_of(80, object.data());
    le_put_u64(&object[80], words.low);
    le_put_u64(&object[88], words.high);
    return object;
}

Bytes with_u64(Bytes object, size_t at, uint64_t value)
{
    le_put_u64(&object[at], value);
    return seal(object);
}

Bytes with_u32(Bytes object, size_t at, uint32_t value)
{
    le_put_u32(&object[at], value);
    return seal(object);
}

std::string key_of(const char *name_space, const Bytes &id)
{
    char key[OBJECT_KEY_CAPACITY];
    object_key_of(name_space, id.size(), id.data(), key);
    return key;
}

} // namespace

TEST(RemoteEnvelope, ReadsWhatItWrote)
{
    for (const size_t size : {size_t{1}, size_t{15}, size_t{16}, size_t{300}, size_t{70000}}) {
        for (const int level : {0, 3}) {
            const Bytes noise = random_bytes(size, size);
            Bytes read;
            ASSERT_EQ(INGOT_SUCCESS, decode(encode(noise, level), &read)) << size;
            EXPECT_EQ(noise, read);
            const Bytes zeros(size);
            ASSERT_EQ(INGOT_SUCCESS, decode(encode(zeros, level), &read)) << size;
            EXPECT_EQ(zeros, read);
        }
    }
}

TEST(RemoteEnvelope, CompressesOnlyWhatShrinks)
{
    EXPECT_EQ(96 + kId.size() + 5000, encode(random_bytes(1, 5000)).size());
    EXPECT_LT(encode(Bytes(5000)).size(), 96 + kId.size() + 100);
    EXPECT_EQ(96 + kId.size() + 5000, encode(Bytes(5000), 0).size());
}

/* Compares every byte with the layout in doc/remote-format.md. */
TEST(RemoteEnvelope, HasTheDocumentedLayout)
{
    const Bytes blob = bytes_of("blob");
    const Bytes object = encode(blob);
    ASSERT_EQ(96u + 5 + 4, object.size());
    EXPECT_EQ(0, std::memcmp(object.data(), "\x89INGOBJ\n", 8));
    EXPECT_EQ(1u, le_get_u32(&object[8]));
    EXPECT_EQ(96u, le_get_u32(&object[12]));
    EXPECT_EQ(5u, le_get_u64(&object[16]));
    EXPECT_EQ(4u, le_get_u64(&object[24]));
    EXPECT_EQ(4u, le_get_u64(&object[32]));
    EXPECT_EQ(0u, le_get_u64(&object[40]));
    const xxh3_words sum = xxh3_128_of(4, "blob");
    EXPECT_EQ(sum.low, le_get_u64(&object[48]));
    EXPECT_EQ(sum.high, le_get_u64(&object[56]));
    EXPECT_EQ(1234u, le_get_u64(&object[64]));
    EXPECT_EQ(0u, le_get_u64(&object[72]));
    EXPECT_EQ(0, std::memcmp(&object[96], "an idblob", 9));
    EXPECT_EQ(1u, le_get_u32(&encode(Bytes(500))[40]));
}

TEST(RemoteEnvelope, RefusesEveryTruncation)
{
    for (const Bytes &object : {encode(random_bytes(1, 50)), encode(Bytes(500))}) {
        for (size_t size = 0; size < object.size(); ++size)
            EXPECT_EQ(INGOT_BLOB_TRUNCATED, decode(Bytes(object.begin(), object.begin() + static_cast<long>(size))));
        Bytes longer = object;
        longer.push_back(0);
        EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(longer));
    }
}

TEST(RemoteEnvelope, RefusesEveryChangedByte)
{
    for (const Bytes &object : {encode(random_bytes(1, 50)), encode(Bytes(500))}) {
        for (size_t i = 0; i < object.size(); ++i) {
            Bytes changed = object;
            changed[i] ^= 0x41;
            EXPECT_NE(INGOT_SUCCESS, decode(changed)) << i;
        }
    }
}

TEST(RemoteEnvelope, RefusesLyingLengths)
{
    const Bytes plain = encode(random_bytes(1, 50));
    const Bytes packed = encode(Bytes(500));
    for (const uint64_t lie :
         {uint64_t{0}, uint64_t{1}, uint64_t{51}, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX}) {
        for (const size_t at : {size_t{16}, size_t{24}, size_t{32}}) {
            EXPECT_NE(INGOT_SUCCESS, decode(with_u64(plain, at, lie))) << lie << " at " << at;
            EXPECT_NE(INGOT_SUCCESS, decode(with_u64(packed, at, lie))) << lie << " at " << at;
        }
    }
    EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(with_u64(packed, 24, 499))); /* the blob is larger than the header says */
    EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(with_u64(packed, 24, 501)));
}

TEST(RemoteEnvelope, RefusesOtherVersionsAndUnknownFlags)
{
    const Bytes object = encode(random_bytes(1, 50));
    EXPECT_EQ(INGOT_BLOB_VERSION, decode(with_u32(object, 8, 2)));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(with_u32(object, 12, 128)));
    EXPECT_EQ(INGOT_BLOB_VERSION, decode(with_u32(object, 40, 2)));
    EXPECT_EQ(INGOT_SUCCESS, decode(with_u32(object, 40, 0x10000))); /* a flag that readers may ignore */
    EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(with_u32(object, 40, 1)));  /* flagged as compressed, but it is not */
}

TEST(RemoteEnvelope, RefusesAnotherProgramsBlob)
{
    const Bytes blob = random_bytes(1, 50);
    EXPECT_EQ(INGOT_BLOB_MISMATCH, decode(encode(blob, 3, bytes_of("no id"))));
    EXPECT_EQ(INGOT_BLOB_MISMATCH, decode(encode(blob, 3, bytes_of("an id2"))));
    EXPECT_EQ(INGOT_BLOB_MISMATCH, decode(encode(blob, 3, bytes_of("an i"))));
}

/* zstd compresses 64 MiB of zeros to 6 KB. */
TEST(RemoteEnvelope, DoesNotUnpackMoreThanTheLimit)
{
    const Bytes bomb = encode(Bytes(size_t{64} << 20), 19);
    ASSERT_LT(bomb.size(), 20000u);
    EXPECT_EQ(INGOT_NO_SPACE, decode(bomb));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(with_u64(bomb, 24, kLimit)));
}

TEST(RemoteEnvelope, KeysDependOnNameSpaceAndIdAlone)
{
    const std::string key = key_of("default", kId);
    EXPECT_EQ(64u, key.size());
    EXPECT_EQ(std::string::npos, key.find_first_not_of("0123456789abcdef"));
    EXPECT_EQ(key, key_of("default", kId));
    EXPECT_NE(key, key_of("defaul", bytes_of("tan id")));
    EXPECT_NE(key, key_of("other", kId));
    EXPECT_NE(key, key_of("default", bytes_of("no id")));
}

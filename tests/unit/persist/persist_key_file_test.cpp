/*
 * Tests the header of key.bin: a written header reads back, and damaged headers are refused.
 */
#include <gtest/gtest.h>

#include <cstring>

extern "C" {
#include "persist/directory/format/entry.h"
}

namespace
{

struct Header {
    uint8_t bytes[KEY_FILE_HEADER_SIZE];
};

key_file example()
{
    key_file key = {};
    key.id_size_bytes = 5;
    key.blob_size_bytes = 77;
    key.id_checksum = checksum_of(5, "hello");
    key.blob_checksum = checksum_of(3, "abc");
    key.created_ns = 1700000000123456789u;
    return key;
}

Header encode(const key_file &key)
{
    Header header;
    key_file_encode(&key, header.bytes);
    return header;
}

ingot_status_t decode(const Header &header, key_file *key, uint64_t file_size = KEY_FILE_HEADER_SIZE + 5)
{
    return key_file_decode(key, file_size, sizeof(header.bytes), header.bytes);
}

/* Corrects the checksum of a changed header, as if another writer had written it. */
void seal(Header *header)
{
    const checksum sum = checksum_of(96, header->bytes);
    memcpy(header->bytes + 96, sum.bytes, CHECKSUM_SIZE);
}

} // namespace

TEST(PersistKeyFile, RefusesImpossibleSizes)
{
    const uint64_t id_sizes[] = {0, KEY_FILE_MAX_ID_SIZE + 1, UINT64_C(1) << 63, UINT64_MAX};
    const uint64_t blob_sizes[] = {0, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    key_file read = {};
    for (const uint64_t size : id_sizes) {
        key_file key = example();
        key.id_size_bytes = size;
        EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(encode(key), &read)) << size;
    }
    for (const uint64_t size : blob_sizes) {
        key_file key = example();
        key.blob_size_bytes = size;
        EXPECT_EQ(INGOT_BLOB_CORRUPT, decode(encode(key), &read)) << size;
    }
}

TEST(PersistKeyFile, RefusesFlagsThatMustBeUnderstood)
{
    for (unsigned bit = 0; bit < 32; ++bit) {
        Header header = encode(example());
        header.bytes[72 + bit / 8] = static_cast<uint8_t>(1u << (bit % 8));
        seal(&header);
        key_file read = {};
        EXPECT_EQ(bit < 16 ? INGOT_BLOB_VERSION : INGOT_SUCCESS, decode(header, &read)) << "bit " << bit;
    }
}

TEST(PersistKeyFile, IgnoresReservedBytes)
{
    for (size_t at = 76; at < 96; ++at) {
        Header header = encode(example());
        header.bytes[at] = 0xff;
        seal(&header);
        key_file read = {};
        EXPECT_EQ(INGOT_SUCCESS, decode(header, &read)) << at;
    }
}

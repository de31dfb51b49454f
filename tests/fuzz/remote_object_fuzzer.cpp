/*
 * remote_object_fuzzer.cpp - reads any bytes as an object on a server. If it is accepted, its blob must not exceed the
 * limit, and a new object with that blob must give it back. Each input is also tried with a corrected checksum of its
 * header, and as a compressed blob after a valid header.
 */
#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "remote/object/envelope.h"
#include "util/little_endian.h"
#include "util/xxh3/xxh3.h"
}

namespace
{

const uint8_t kId[] = {'a', 'n', ' ', 'i', 'd'};
const size_t kLimit = 1 << 16;
const size_t kAtChecksum = 80;

using Bytes = std::vector<uint8_t>;

void seal(Bytes *object)
{
    if (object->size() < ENVELOPE_HEADER_SIZE)
        return;
    const xxh3_words words = xxh3_128_of(kAtChecksum, object->data());
    le_put_u64(object->data() + kAtChecksum, words.low);
    le_put_u64(object->data() + kAtChecksum + 8, words.high);
}

void read(const Bytes &object)
{
    envelope_content blob = {};
    if (envelope_decode(object.size(), object.data(), sizeof(kId), kId, kLimit, &blob) != INGOT_SUCCESS)
        return;
    if (blob.size == 0 || blob.size > kLimit)
        abort();
    size_t size = 0;
    uint8_t *again = nullptr;
    envelope_content same = {};
    if (envelope_encode(sizeof(kId), kId, blob.size, blob.bytes, 1, 3, &size, &again) != INGOT_SUCCESS ||
        envelope_decode(size, again, sizeof(kId), kId, kLimit, &same) != INGOT_SUCCESS || same.size != blob.size ||
        std::memcmp(same.bytes, blob.bytes, blob.size) != 0)
        abort();
    free(same.unpacked);
    free(again);
    free(blob.unpacked);
}

/* Reads an object with a valid header whose compressed blob is the input, so that zstd gets any bytes. */
void unpack(const uint8_t *data, size_t size)
{
    size_t made_size = 0;
    uint8_t *made = nullptr;
    const Bytes zeros(4000);
    if (size == 0 || size >= zeros.size() ||
        envelope_encode(sizeof(kId), kId, zeros.size(), zeros.data(), 1, 3, &made_size, &made) != INGOT_SUCCESS)
        return;
    Bytes object(made, made + ENVELOPE_HEADER_SIZE + sizeof(kId));
    free(made);
    object.insert(object.end(), data, data + size);
    le_put_u64(object.data() + 32, size);
    seal(&object);
    read(object);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes bytes(data, data + size);
    read(bytes);
    seal(&bytes);
    read(bytes);
    unpack(data, size);
    return 0;
}

/*
 * manifest_fuzzer.cpp - reads any bytes as a manifest. If it is accepted, each id must lie within it and occur once,
 * and writing and reading it again must give the same ids. Each input is also tried with a corrected size and corrected
 * checksums.
 */
#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "persist/base/memory.h"
#include "persist/prewarm/manifest.h"
#include "util/little_endian.h"
}

namespace
{

bool equals(const manifest &a, const manifest &b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; ++i) {
        const manifest_entry x = manifest_get(&a, i);
        const manifest_entry y = manifest_get(&b, i);
        if (x.id_size != y.id_size || x.age != y.age || std::memcmp(x.id, y.id, x.id_size) != 0)
            return false;
    }
    return true;
}

void read(const fuzz::Bytes &bytes)
{
    ingot_allocator_t allocator;
    manifest first;
    manifest again;
    memory_init(&allocator, nullptr);
    manifest_init(&first, &allocator);
    manifest_init(&again, &allocator);
    if (manifest_decode(&first, bytes.size(), bytes.data()) == INGOT_SUCCESS) {
        for (size_t i = 0; i < first.count; ++i) {
            const manifest_entry entry = manifest_get(&first, i);
            const uint8_t *end = first.bytes.bytes + first.bytes.size;
            if (entry.id < first.bytes.bytes || entry.id_size > static_cast<size_t>(end - entry.id) ||
                manifest_find(&first, entry.id_size, entry.id) != i)
                abort();
        }
        if (manifest_complete(&first) != INGOT_SUCCESS || first.bytes.size > bytes.size() ||
            manifest_decode(&again, first.bytes.size, first.bytes.bytes) != INGOT_SUCCESS || !equals(first, again))
            abort();
    }
    manifest_fini(&again);
    manifest_fini(&first);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz::Bytes bytes(data, data + size);
    read(bytes);
    if (size < MANIFEST_HEADER_SIZE)
        return 0;
    le_put_u64(bytes.data() + 16, size);
    fuzz::set_checksum(&bytes, 32, MANIFEST_HEADER_SIZE, size - MANIFEST_HEADER_SIZE);
    fuzz::set_checksum(&bytes, 48, 0, 48);
    read(bytes);
    return 0;
}

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

bool equals(const id_list &a, const id_list &b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; ++i)
        if (a.ids[i].size != b.ids[i].size || a.ids[i].age != b.ids[i].age ||
            std::memcmp(a.ids[i].bytes, b.ids[i].bytes, a.ids[i].size) != 0)
            return false;
    return true;
}

void read(const fuzz::Bytes &bytes)
{
    ingot_allocator_t allocator;
    id_list ids;
    id_list again;
    uint8_t *written = nullptr;
    size_t size = 0;
    memory_init(&allocator, nullptr);
    id_list_init(&ids, &allocator);
    id_list_init(&again, &allocator);
    if (manifest_decode(&ids, bytes.size(), bytes.data()) == INGOT_SUCCESS) {
        for (size_t i = 0; i < ids.count; ++i) {
            const listed_id &id = ids.ids[i];
            if (id.bytes < bytes.data() || id.size > static_cast<size_t>(bytes.data() + bytes.size() - id.bytes) ||
                id_list_find(&ids, id.size, id.bytes) != i)
                abort();
        }
        if (manifest_encode(&ids, &written, &size) != INGOT_SUCCESS || size > bytes.size() ||
            manifest_decode(&again, size, written) != INGOT_SUCCESS || !equals(ids, again))
            abort();
    }
    id_list_fini(&again);
    id_list_fini(&ids);
    memory_free(&allocator, written, size);
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

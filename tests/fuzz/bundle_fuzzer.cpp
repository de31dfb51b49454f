/*
 * bundle_fuzzer.cpp - reads any bytes as a bundle. If the bundle is accepted, each id and blob must lie within it, and
 * a search for each hash must find it. Each input is also tried with a corrected size and corrected checksums.
 */
#include <algorithm>

#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "persist/bundle/bundle_file.h"
#include "util/little_endian.h"
}

namespace
{

void read(const fuzz::Bytes &bytes)
{
    bundle_file file;
    if (bundle_file_parse(&file, bytes.size(), std::min<size_t>(bytes.size(), BUNDLE_HEADER_SIZE), bytes.data()) !=
            INGOT_SUCCESS ||
        bundle_file_take_index(&file, bytes.data() + file.index_offset) != INGOT_SUCCESS)
        return;
    for (uint64_t i = 0; i < file.entry_count; ++i) {
        const bundle_record record = bundle_file_record(&file, i);
        const uint64_t first = bundle_file_lower_bound(&file, record.hash);
        if (first > i || bundle_file_record(&file, first).hash != record.hash)
            abort();
        volatile uint8_t sum = 0; /* reads all bytes that the record points to */
        for (uint64_t j = 0; j < record.id_size; ++j)
            sum = static_cast<uint8_t>(sum + bytes[record.id_offset + j]);
        for (uint64_t j = 0; j < record.blob_size; ++j)
            sum = static_cast<uint8_t>(sum + bytes[record.blob_offset + j]);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz::Bytes bytes(data, data + size);
    read(bytes);
    if (size < BUNDLE_HEADER_SIZE)
        return 0;
    le_put_u64(bytes.data() + 24, size);
    const uint64_t index = le_get_u64(bytes.data() + 32);
    if (index < size)
        fuzz::set_checksum(&bytes, 48, index, size - index);
    fuzz::set_checksum(&bytes, 96, 0, 96);
    read(bytes);
    return 0;
}

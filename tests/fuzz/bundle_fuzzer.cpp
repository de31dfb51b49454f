/*
 * bundle_fuzzer.cpp - any bytes as a bundle: every range of one that is accepted lies within it, and each of its ids is
 * found. Each input is also tried with its size and checksums made right.
 */
#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "persist/bundle_file.h"
#include "util/little_endian.h"
}

namespace {

void read(const fuzz::Bytes &bytes)
{
    bundle_file file;
    if (bundle_file_parse(&file, bytes.size(), bytes.data()) != INGOT_SUCCESS)
        return;
    for (uint64_t i = 0; i < file.entry_count; ++i) {
        const bundle_record record = bundle_file_record(&file, i);
        const uint8_t *id = file.bytes + record.id_offset;
        uint64_t number;
        bundle_record found;
        const bool has_hash = checksum_bucket_of(record.id_size, id) == record.hash;
        const ingot_status_t status = bundle_file_find(&file, record.id_size, id, &number, &found);
        if (has_hash && (status != INGOT_SUCCESS || number > i))
            abort();
        volatile uint8_t sum = 0; /* touch all that the record points to */
        for (uint64_t j = 0; j < record.blob_size; ++j)
            sum = static_cast<uint8_t>(sum + file.bytes[record.blob_offset + j]);
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

/*
 * cache_blob_fuzzer.cpp - reads any bytes as a blob and as an id. If they are accepted, everything in them must be
 * readable.
 *
 * A blob's checksum would reject nearly every input, so each input is also tried with a corrected checksum.
 */
#include <cstdlib>
#include <cstring>
#include <vector>

#include <xxhash.h>

#include <ingot/ingot.h>
#include <ingot/private/descriptor.h>

extern "C" {
#include "core/blob/cache_blob.h"
}

namespace
{

void read(const std::vector<uint8_t> &bytes)
{
    blob_view view;
    if (blob_read(&view, bytes.size(), bytes.data()) != INGOT_SUCCESS)
        return;
    volatile uint8_t sum = 0; /* reads all bytes that the view points to */
    for (size_t i = 0; i < view.names_size; ++i)
        sum = static_cast<uint8_t>(sum + view.names[i]);
    for (size_t i = 0; i < view.log_size; ++i)
        sum = static_cast<uint8_t>(sum + view.log[i]);
    for (size_t i = 0; i < view.source_name_size; ++i)
        sum = static_cast<uint8_t>(sum + view.source_name[i]);
    bytes_reader files;
    size_t name_size = 0;
    const char *name = nullptr;
    bytes_reader_init(&files, view.files_size, view.files);
    while (blob_next_file(&files, &name_size, &name) != nullptr)
        for (size_t i = 0; i < name_size; ++i)
            sum = static_cast<uint8_t>(sum + name[i]);
    for (uint32_t i = 0; i < view.section_count; ++i) {
        const ingot_binary_t binary = blob_find_section(&view, view.section_table + i * (DIGEST_SIZE + 8));
        if (binary.bytes == nullptr)
            abort();
        for (size_t j = 0; j < binary.size; ++j)
            sum = static_cast<uint8_t>(sum + binary.bytes[j]);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<uint8_t> bytes(data, data + size);
    read(bytes);
    if (size >= 16) {
        const XXH128_hash_t checksum = XXH3_128bits(data, size - 16);
        memcpy(bytes.data() + size - 16, &checksum.low64, 8);
        memcpy(bytes.data() + size - 8, &checksum.high64, 8);
        if (size >= 24) {
            const uint64_t total = size;
            memcpy(bytes.data() + 16, &total, 8);
            const XXH128_hash_t again = XXH3_128bits(bytes.data(), size - 16);
            memcpy(bytes.data() + size - 16, &again.low64, 8);
            memcpy(bytes.data() + size - 8, &again.high64, 8);
        }
        read(bytes);
    }
    size_t text_size = 0;
    if (ingot_cache_blob_id_describe(size, data, &text_size, nullptr) == INGOT_SUCCESS) {
        std::vector<char> text(text_size);
        if (ingot_cache_blob_id_describe(size, data, &text_size, text.data()) != INGOT_SUCCESS)
            abort();
        const auto differ = [](void *, const char *, const char *, const char *) { abort(); };
        if (ingot_cache_blob_id_compare(size, data, size, data, differ, nullptr) != INGOT_SUCCESS)
            abort();
    }
    return 0;
}

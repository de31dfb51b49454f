/*
 * image_fuzzer.cpp - reads any bytes as the manifest or, if they begin as one, as the index of an image in a registry.
 * What is accepted must agree with the limits, and must be the same after it was written and read again. Each index is
 * also tried with the counts that its size implies.
 */
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/fuzz_scratch.h"

extern "C" {
#include <cjson/cJSON.h>

#include "remote/oci/image.h"
#include "util/little_endian.h"
}

namespace
{

using fuzz::Bytes;

constexpr size_t kHeader = 64;
constexpr size_t kEntry = 96;
constexpr size_t kAtEntryCount = 16;
constexpr size_t kAtLayerCount = 24;
constexpr uint64_t kLayerSize = 1000;

void require(bool holds)
{
    if (!holds)
        abort();
}

registry_body body_of(const Bytes &bytes)
{
    return {bytes.size(), const_cast<uint8_t *>(bytes.data())};
}

bool is_same(const image_blob &one, const image_blob &other)
{
    return one.size == other.size && std::strcmp(one.digest, other.digest) == 0;
}

void read_manifest(const Bytes &bytes)
{
    image read = {};
    image again = {};
    request request = {};
    const registry_body body = body_of(bytes);
    if (image_read_manifest(&read, &request, &body) != OUTCOME_DONE) {
        require(read.layers == nullptr && request.failure[0] != '\0');
        return;
    }
    require(read.layer_count <= IMAGE_MOST_LAYERS && read.index.size <= IMAGE_MOST_INDEX_BYTES);
    char *text = image_write_manifest(&read, read.config.size, 0, nullptr);
    require(text != nullptr);
    const Bytes written(text, text + std::strlen(text));
    const registry_body written_body = body_of(written);
    cJSON_free(text);
    require(image_read_manifest(&again, &request, &written_body) == OUTCOME_DONE);
    require(is_same(read.config, again.config) && is_same(read.index, again.index));
    require(read.layer_count == again.layer_count);
    for (size_t i = 0; i < read.layer_count; ++i)
        require(is_same(read.layers[i], again.layers[i]));
    image_fini(&read);
    image_fini(&again);
}

void check_entries(const image &read)
{
    for (size_t i = 0; i < read.entry_count; ++i) {
        const image_entry &entry = read.entries[i];
        require(entry.layer < read.layer_count && entry.size != 0 && entry.size <= kLayerSize &&
                entry.offset <= kLayerSize - entry.size);
        require(image_find(&read, entry.key) == &entry);
    }
}

void read_index(const Bytes &bytes)
{
    image read = {};
    request request = {};
    const registry_body body = body_of(bytes);
    read.layer_count = bytes.size() < kHeader ? 0 : le_get_u64(bytes.data() + kAtLayerCount) % (IMAGE_MOST_LAYERS + 1);
    read.layers = static_cast<image_blob *>(calloc(read.layer_count + 1, sizeof(*read.layers)));
    for (size_t i = 0; i < read.layer_count; ++i)
        read.layers[i].size = kLayerSize;
    if (image_read_index(&read, &request, &body) == OUTCOME_DONE) {
        size_t size = 0;
        check_entries(read);
        uint8_t *written = image_write_index(&read, &size);
        require(written != nullptr && size == bytes.size());
        image again = {};
        const registry_body written_body = {size, written};
        again.layer_count = read.layer_count;
        again.layers = read.layers;
        require(image_read_index(&again, &request, &written_body) == OUTCOME_DONE);
        require(again.entry_count == read.entry_count);
        for (size_t i = 0; i < read.entry_count; ++i)
            require(std::memcmp(read.entries[i].digest, again.entries[i].digest, IMAGE_KEY_SIZE) == 0);
        free(again.entries);
        free(written);
    } else {
        require(read.entry_count == 0 && request.failure[0] != '\0');
    }
    image_fini(&read);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes bytes(data, data + size);
    if (size == 0 || data[0] != 0x89) {
        read_manifest(bytes);
        return 0;
    }
    read_index(bytes);
    if (size < kHeader)
        return 0;
    bytes.resize(size - (size - kHeader) % kEntry);
    bytes.shrink_to_fit();
    le_put_u64(bytes.data() + kAtEntryCount, (bytes.size() - kHeader) / kEntry);
    le_put_u64(bytes.data() + kAtLayerCount, le_get_u64(bytes.data() + kAtLayerCount) % 8);
    read_index(bytes);
    return 0;
}

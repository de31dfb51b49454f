/*
 * artifact_fuzzer.cpp - reads any bytes as the envelope and as the id of an artifact. If they are accepted, everything
 * in them must be readable and add up.
 *
 * An envelope's checksum would reject nearly every input, so each input is also tried with a corrected size and
 * checksum, and with the digest of the id that it is loaded with.
 */
#include <cstdlib>
#include <cstring>
#include <vector>

#include <ingot/private/artifact.h>
#include <ingot/private/descriptor.h>

extern "C" {
#include "core/artifact/artifact_blob.h"
#include "core/artifact/artifact_id.h"
#include "core/base/digest.h"
}

namespace
{

using Bytes = std::vector<uint8_t>;

constexpr size_t kAtTotalSize = 16;
constexpr size_t kAtDigest = 48;
const uint8_t kId[] = {'i', 'd'};

void read(const Bytes &bytes)
{
    ingot_buffer_t blob = {bytes.size(), bytes.data(), nullptr, nullptr};
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    size_t text_size = 0;
    artifact_view view;
    const bool is_valid = artifact_blob_read(&view, bytes.size(), bytes.data()) == INGOT_SUCCESS;
    const ingot_status_t described = ingot_cache_blob_describe(bytes.size(), bytes.data(), &text_size, nullptr);
    if (artifact_blob_is(bytes.size(), bytes.data()) && is_valid != (described == INGOT_SUCCESS))
        abort();
    const ingot_status_t status = ingot_artifact_unpack(sizeof(kId), kId, &blob, &value);
    if (!is_valid && status == INGOT_SUCCESS)
        abort();
    if (status != INGOT_SUCCESS)
        return;
    if (ingot_artifact_get_info(&value, &info) != INGOT_SUCCESS || !artifact_id_is_kind(strlen(info.kind), info.kind))
        abort();
    volatile size_t sum = strlen(info.label); /* reads all that the value points to */
    uint64_t left = value.size;
    for (size_t i = 0; i < info.part_count; ++i) {
        sum = sum + strlen(info.parts[i].name);
        if (info.parts[i].size > left)
            abort();
        left -= info.parts[i].size;
    }
    for (size_t i = 0; i < value.size; ++i)
        sum = sum + value.bytes[i];
    if (left != 0)
        abort();
    value.release(&value);
}

Bytes corrected(Bytes bytes)
{
    const uint64_t total = bytes.size();
    memcpy(bytes.data() + kAtTotalSize, &total, sizeof(total));
    digest_of(sizeof(kId), kId, bytes.data() + kAtDigest);
    const hash128 checksum = hash128_of(bytes.size() - 16, bytes.data());
    memcpy(bytes.data() + bytes.size() - 16, &checksum.low, 8);
    memcpy(bytes.data() + bytes.size() - 8, &checksum.high, 8);
    return bytes;
}

void visit(void *user, const char *path, size_t size, const uint8_t *value, bool)
{
    auto *sum = static_cast<size_t *>(user);
    *sum += strlen(path);
    for (size_t i = 0; i < size; ++i)
        *sum += value[i];
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const Bytes bytes(data, data + size);
    read(bytes);
    if (size >= kAtDigest + DIGEST_SIZE + 16)
        read(corrected(bytes));
    volatile size_t kept = 0; /* keeps the reads of the visitor */
    size_t sum = 0;
    const bool is_id = artifact_id_visit(size, bytes.data(), visit, &sum) == INGOT_SUCCESS;
    kept = sum;
    (void)kept;
    size_t text_size = 0;
    const auto differ = [](void *, const char *, const char *, const char *) { abort(); };
    if (is_id &&
        (ingot_cache_blob_id_describe(size, bytes.data(), &text_size, nullptr) != INGOT_SUCCESS ||
         ingot_cache_blob_id_compare(size, bytes.data(), size, bytes.data(), differ, nullptr) != INGOT_SUCCESS))
        abort();
    return 0;
}

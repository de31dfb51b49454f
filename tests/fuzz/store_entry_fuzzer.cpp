/*
 * store_entry_fuzzer.cpp - reads any bytes as the files key.bin and kernel.bin of an entry. If they are accepted, the
 * id and the blob must have the sizes in the header, and both ways to read an entry must give the same blob.
 *
 * Input: a byte with the size of kernel.bin, then key.bin, then kernel.bin. Each input is also tried with corrected
 * checksums.
 */
#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "persist/base/base.h"
#include "persist/directory/format/entry.h"
}

namespace
{

void read(const fuzz::Bytes &key_bytes, const fuzz::Bytes &blob_bytes)
{
    ingot_allocator_t allocator;
    key_file key;
    uint64_t time_ns = 0;
    ingot_buffer_t id = INGOT_BUFFER_INIT;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const size_t head = key_bytes.size() < KEY_FILE_HEADER_SIZE ? key_bytes.size() : KEY_FILE_HEADER_SIZE;
    const ingot_status_t decoded = key_file_decode(&key, key_bytes.size(), head, key_bytes.data());
    if (decoded == INGOT_SUCCESS && key.id_size_bytes + KEY_FILE_HEADER_SIZE != key_bytes.size())
        abort();
    fuzz::write_file(fuzz::scratch() + "/key.bin", key_bytes.data(), key_bytes.size());
    fuzz::write_file(fuzz::scratch() + "/kernel.bin", blob_bytes.data(), blob_bytes.size());
    const int folder = open(fuzz::scratch().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const entry_place entry = {folder, ".", geteuid()};
    if (memory_init(&allocator, nullptr) != INGOT_SUCCESS)
        abort();
    const ingot_status_t status = entry_read(&entry, 0, nullptr, &allocator, &key, &id, &blob, &time_ns);
    if (status == INGOT_SUCCESS && (decoded != INGOT_SUCCESS || blob.size != blob_bytes.size()))
        abort();
    ingot_buffer_t again = INGOT_BUFFER_INIT;
    if (status == INGOT_SUCCESS &&
        entry_read(&entry, id.size, id.bytes, &allocator, &key, nullptr, &again, &time_ns) != INGOT_SUCCESS)
        abort();
    if (again.size != blob.size || (again.size != 0 && std::memcmp(again.bytes, blob.bytes, blob.size) != 0))
        abort();
    memory_release_buffer(&again);
    memory_release_buffer(&id);
    memory_release_buffer(&blob);
    close(folder);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t blob_size = data[0] < size - 1 ? data[0] : size - 1;
    fuzz::Bytes key(data + 1, data + size - blob_size);
    const fuzz::Bytes blob(data + size - blob_size, data + size);
    read(key, blob);
    if (key.size() <= KEY_FILE_HEADER_SIZE)
        return 0;
    fuzz::set_checksum(&key, 32, KEY_FILE_HEADER_SIZE, key.size() - KEY_FILE_HEADER_SIZE);
    const struct checksum of_blob = checksum_of(blob.size(), blob.data());
    std::memcpy(key.data() + 48, of_blob.bytes, CHECKSUM_SIZE);
    fuzz::set_checksum(&key, 96, 0, 96);
    read(key, blob);
    return 0;
}

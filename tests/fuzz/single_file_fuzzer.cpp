/*
 * single_file_fuzzer.cpp - reads any bytes as a single-file storage. If the header is accepted, its sizes must add up
 * to the file's size, and a load must not crash. Each input is also tried with a corrected checksum of its header.
 */
#include "fuzz/fuzz_scratch.h"

#include <ingot/persist.h>

extern "C" {
#include "persist/directory/format/entry.h"
}

namespace
{

void read(const fuzz::Bytes &bytes)
{
    key_file key;
    const size_t head = bytes.size() < KEY_FILE_HEADER_SIZE ? bytes.size() : KEY_FILE_HEADER_SIZE;
    if (key_file_decode_single(&key, bytes.size(), head, bytes.data()) != INGOT_SUCCESS)
        return;
    if (KEY_FILE_HEADER_SIZE + key.id_size_bytes + key.blob_size_bytes != bytes.size())
        abort();
    const std::string path = fuzz::scratch() + "/single";
    ingot_storage_t storage = nullptr;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    fuzz::write_file(path, bytes.data(), bytes.size());
    if (ingot_persist_open_file(&storage, path.c_str(), nullptr) != INGOT_SUCCESS)
        abort();
    const ingot_status_t status =
        ingot_storage_load(storage, key.id_size_bytes, bytes.data() + KEY_FILE_HEADER_SIZE, &blob);
    if (status == INGOT_SUCCESS && blob.size != key.blob_size_bytes)
        abort();
    if (blob.release != nullptr)
        blob.release(&blob);
    ingot_storage_release(storage);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz::Bytes bytes(data, data + size);
    read(bytes);
    fuzz::set_checksum(&bytes, 96, 0, 96);
    read(bytes);
    return 0;
}

/*
 * wish_fuzzer.cpp - reads any bytes as a wish in a store: a builder must get it as it is under the name of its
 * checksum, and never under another name. Any wish leads to the id of a request, or is refused.
 */
#include "fuzz/fuzz_scratch.h"

#include <ingot/private/wish.h>

#include <filesystem>

namespace
{

/* Returns how many wishes there are, each with these bytes. */
size_t count(ingot_storage_t store, const fuzz::Bytes &bytes)
{
    std::pair<const fuzz::Bytes *, size_t> seen = {&bytes, 0};
    const auto visit = [](void *user, size_t size, const uint8_t *id) {
        auto *all = static_cast<std::pair<const fuzz::Bytes *, size_t> *>(user);
        if (fuzz::Bytes(id, id + size) != *all->first)
            abort();
        ++all->second;
        return true;
    };
    if (ingot_persist_visit_wishes(store, visit, &seen) != INGOT_SUCCESS)
        abort();
    return seen.second;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const std::string path = fuzz::scratch() + "/store";
    static const ingot_storage_t store = [] {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        ingot_storage_t opened = nullptr;
        info.path = path.c_str();
        if (ingot_persist_open(&opened, &info) != INGOT_SUCCESS)
            abort();
        return opened;
    }();
    const fuzz::Bytes bytes(data, data + size);
    const bool is_wish = size != 0 && size <= INGOT_WISH_MAX_SIZE;
    if ((ingot_persist_leave_wish(store, size, data) == INGOT_SUCCESS) != is_wish || count(store, bytes) != is_wish)
        abort();
    for (const auto &item : std::filesystem::directory_iterator(path + "/wanted")) { /* under another name */
        std::string name = item.path().string();
        name.back() = name.back() == '0' ? '1' : '0';
        std::filesystem::rename(item.path(), name);
    }
    if (count(store, bytes) != 0 || !std::filesystem::is_empty(path + "/wanted"))
        abort();
    uint8_t request[512];
    size_t request_size = sizeof(request);
    if (ingot_wish_get_request_id(size, data, &request_size, request) == INGOT_SUCCESS &&
        (request_size == 0 || request_size > sizeof(request)))
        abort();
    return 0;
}

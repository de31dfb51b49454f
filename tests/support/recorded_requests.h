/*
 * recorded_requests.h - records requests in stores without compiling their programs, and reads them back.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ingot/private/directory.h>
#include <ingot/private/request.h>

#include "support/reference_context.h"
#include "support/store_fixture.h"

namespace recorded_requests
{

/* Opens a store that keeps the requests of its programs. */
inline store_fixture::Store open_keeping_store(const std::string &path, const char *name_space = nullptr)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path.c_str();
    info.name_space = name_space;
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    info.lock_timeout_ms = 60000;
    return store_fixture::Store(info);
}

/* Calls the function with each request of a store, and its id and blob. Returns how many there are. */
inline size_t visit(ingot_storage_t storage,
                    const std::function<void(const ingot_persist_entry_t &entry, ingot_kept_request_t &request)> &call)
{
    struct Visit {
        ingot_storage_t storage;
        const std::function<void(const ingot_persist_entry_t &, ingot_kept_request_t &)> &call;
        size_t count;
    } visit{storage, call, 0};
    const auto take = [](const ingot_persist_entry_t *entry, void *user) {
        auto *to = static_cast<Visit *>(user);
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        ingot_kept_request_t request;
        if (ingot_request_is_id(entry->id_size, entry->id) == 0)
            return INGOT_SUCCESS;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_load_entry(to->storage, entry, 0, &blob)) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, ingot_request_open(&request, entry->id_size, entry->id, &blob))
            << ingot_last_error_detail();
        to->call(*entry, request);
        ++to->count;
        ingot_request_close(&request);
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(storage, take, &visit));
    return visit.count;
}

/* Returns the number of requests in all namespaces of a store. */
inline size_t count(const std::string &path)
{
    const store_fixture::Store store(path);
    return visit(store.get(), [](const ingot_persist_entry_t &, ingot_kept_request_t &) {});
}

} // namespace recorded_requests

/*
 * held_storage.h - a reference to a storage, with operations that take vectors of bytes, its settings, functions that
 * open storages of each kind, and storages that tests implement, as applications do.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <ingot/persist.h>
#include <ingot/private/directory.h>

/* Loads a blob. Copies it unless `blob` is NULL. */
inline ingot_status_t load_blob(ingot_storage_t storage, const std::vector<uint8_t> &id,
                                std::vector<uint8_t> *blob = nullptr)
{
    ingot_buffer_t buffer = INGOT_BUFFER_INIT;
    const ingot_status_t status = ingot_storage_load(storage, id.size(), id.data(), &buffer);
    if (status != INGOT_SUCCESS)
        return status;
    if (blob != nullptr)
        blob->assign(buffer.bytes, buffer.bytes + buffer.size);
    if (buffer.release != nullptr)
        buffer.release(&buffer);
    return status;
}

/* Removes all entries of a store, and leftovers. */
inline ingot_status_t clear_store(ingot_storage_t store)
{
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    limits.max_entries = INGOT_NONE;
    return ingot_persist_evict(store, &limits, nullptr, nullptr);
}

/* The destructor releases the storage. */
class HeldStorage
{
public:
    explicit HeldStorage(ingot_storage_t storage = nullptr) : storage_(storage) {}
    HeldStorage(HeldStorage &&other) noexcept : storage_(other.storage_) { other.storage_ = nullptr; }
    ~HeldStorage() { ingot_storage_release(storage_); }

    ingot_storage_t get() const { return storage_; }
    ingot_status_t put(const std::vector<uint8_t> &id, const std::vector<uint8_t> &blob) const
    {
        return ingot_storage_store(storage_, id.size(), id.data(), blob.size(), blob.data());
    }
    ingot_status_t put_sealed(const std::vector<uint8_t> &id, const std::vector<uint8_t> &bytes) const
    {
        return ingot_persist_store_sealed(storage_, id.size(), id.data(), bytes.size(), bytes.data());
    }
    ingot_status_t load(const std::vector<uint8_t> &id, std::vector<uint8_t> *blob = nullptr) const
    {
        return load_blob(storage_, id, blob);
    }
    ingot_status_t remove(const std::vector<uint8_t> &id) const
    {
        return ingot_storage_remove(storage_, id.size(), id.data());
    }
    /* Sets a policy: an object with a function get(). */
    template <typename Policy> ingot_status_t trust(const Policy &policy) const
    {
        return ingot_persist_set_trust(storage_, policy.get());
    }
    ingot_persist_stats_t stats() const
    {
        ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
        ingot_persist_get_stats(storage_, &stats);
        return stats;
    }

protected:
    ingot_storage_t storage_;
};

/* Calls open(&storage), which must succeed. */
template <typename Open> HeldStorage opened(const Open &open)
{
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, open(&storage)) << ingot_last_error_detail();
    return HeldStorage(storage);
}

inline HeldStorage chain_of(const std::vector<ingot_storage_t> &tiers)
{
    return opened([&](ingot_storage_t *made) { return ingot_persist_chain(made, tiers.size(), tiers.data()); });
}

inline HeldStorage open_directory(const std::filesystem::path &path)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path.c_str();
    return opened([&](ingot_storage_t *made) { return ingot_persist_open(made, &info); });
}

inline HeldStorage open_file(const std::filesystem::path &path, const ingot_persist_trust_t *trust = nullptr)
{
    return opened([&](ingot_storage_t *made) { return ingot_persist_open_file(made, path.c_str(), trust); });
}

inline HeldStorage open_bundle(const std::filesystem::path &path, const ingot_persist_trust_t *trust = nullptr)
{
    return opened([&](ingot_storage_t *made) { return ingot_persist_open_bundle(made, path.c_str(), trust); });
}

/* Bundles the blobs of a storage, and opens the bundle. */
inline HeldStorage bundle_of(const HeldStorage &storage, const std::filesystem::path &path)
{
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(storage.get(), path.c_str(), nullptr, nullptr, nullptr));
    return open_bundle(path);
}

/* Changes one setting of a storage, and leaves the others as they are. */
template <typename Value>
ingot_status_t set_setting(ingot_storage_t storage, Value ingot_persist_settings_t::*field,
                           std::common_type_t<Value> value)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    const ingot_status_t status = ingot_persist_get_settings(storage, &settings);
    settings.*field = value;
    return status == INGOT_SUCCESS ? ingot_persist_set_settings(storage, &settings) : status;
}

inline ingot_persist_settings_t settings_of(const HeldStorage &storage)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_settings(storage.get(), &settings));
    return settings;
}

namespace own_storage
{

inline ingot_status_t find_nothing(void *, size_t, const uint8_t *, ingot_buffer_t *)
{
    return INGOT_NOT_FOUND;
}

/* Returns a table with these operations. Without any, the storage is empty and takes nothing. */
inline ingot_storage_ops_t operations(decltype(ingot_storage_ops_t::store) store = nullptr,
                                      decltype(ingot_storage_ops_t::load) load = find_nothing,
                                      decltype(ingot_storage_ops_t::destroy) destroy = nullptr)
{
    ingot_storage_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.load = load;
    ops.store = store;
    ops.destroy = destroy;
    return ops;
}

} // namespace own_storage

/* A storage of an application, in memory. Its buffers are freed by the address in `bytes`, so the library must not
 * change it. */
struct Kept {
    using Bytes = std::vector<uint8_t>;

    std::mutex mutex;
    std::map<Bytes, Bytes> blobs;
    int stores = 0;                        /* how often it was told to store */
    int ends = 0;                          /* how often the storage was destroyed */
    ingot_status_t answer = INGOT_SUCCESS; /* to stores; with a failure, it keeps nothing */
    std::function<void()> after_load;      /* the next load calls it when it has read */
    std::function<void()> before_store;    /* the next store calls it */

    static ingot_status_t load(void *user, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
    {
        auto *self = static_cast<Kept *>(user);
        std::unique_lock<std::mutex> guard(self->mutex);
        const auto found = self->blobs.find(Bytes(id, id + id_size));
        const bool is_found = found != self->blobs.end();
        const Bytes kept = is_found ? found->second : Bytes();
        const auto hook = std::exchange(self->after_load, nullptr);
        guard.unlock();
        if (hook)
            hook();
        if (!is_found)
            return INGOT_NOT_FOUND;
        auto *bytes = static_cast<uint8_t *>(std::malloc(kept.size() + 1));
        std::copy(kept.begin(), kept.end(), bytes);
        const auto release = [](ingot_buffer_t *buffer) {
            std::free(const_cast<uint8_t *>(buffer->bytes)); /* aborts if it is not the start of the block */
        };
        *blob = {kept.size(), bytes, release, nullptr};
        return INGOT_SUCCESS;
    }
    static ingot_status_t store(void *user, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
    {
        auto *self = static_cast<Kept *>(user);
        std::unique_lock<std::mutex> guard(self->mutex);
        const auto hook = std::exchange(self->before_store, nullptr);
        guard.unlock();
        if (hook)
            hook();
        guard.lock();
        ++self->stores;
        if (self->answer == INGOT_SUCCESS)
            self->blobs[Bytes(id, id + id_size)] = Bytes(blob, blob + blob_size);
        return self->answer;
    }
    static ingot_status_t remove(void *user, size_t id_size, const uint8_t *id)
    {
        auto *self = static_cast<Kept *>(user);
        const std::lock_guard<std::mutex> guard(self->mutex);
        return self->blobs.erase(Bytes(id, id + id_size)) != 0 ? INGOT_SUCCESS : INGOT_NOT_FOUND;
    }
    static ingot_storage_ops_t operations()
    {
        ingot_storage_ops_t ops =
            own_storage::operations(store, load, [](void *user) { ++static_cast<Kept *>(user)->ends; });
        ops.remove = remove;
        return ops;
    }

    HeldStorage open(const ingot_storage_ops_t &ops = operations())
    {
        return opened([&](ingot_storage_t *made) { return ingot_storage_create(made, &ops, this); });
    }
};

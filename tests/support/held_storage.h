/*
 * held_storage.h - a reference to a storage, with operations that take vectors of bytes.
 */
#pragma once

#include <cstdint>
#include <vector>

#include <ingot/persist.h>

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

/* The destructor releases the storage. */
class HeldStorage
{
public:
    explicit HeldStorage(ingot_storage_t storage = nullptr) : storage_(storage) {}
    HeldStorage(HeldStorage &&other) noexcept : storage_(other.storage_) { other.storage_ = nullptr; }
    HeldStorage(const HeldStorage &) = delete;
    HeldStorage &operator=(const HeldStorage &) = delete;
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
    ingot_persist_stats_t stats() const
    {
        ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
        ingot_persist_get_stats(storage_, &stats);
        return stats;
    }

protected:
    ingot_storage_t storage_;
};

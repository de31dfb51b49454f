/*
 * trust_fixture.h - keys and policies, and a custom storage whose bytes a test can read and change.
 */
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/persist.h>

#include "support/held_storage.h"
#include "support/own_storage.h"
#include "support/store_fixture.h"

namespace trust_fixture
{

using store_fixture::Bytes;

struct Key {
    ingot_persist_key_kind_t kind;
    Bytes bytes;
};

inline Key secret_key(uint64_t seed)
{
    return {INGOT_PERSIST_KEY_BLAKE2B, random_bytes(seed, INGOT_PERSIST_KEY_SIZE)};
}

inline Key signing_key(uint64_t seed)
{
    return {INGOT_PERSIST_KEY_ED25519_SECRET, random_bytes(seed, INGOT_PERSIST_KEY_SIZE)};
}

/* A policy whose keys come from a callback. */
class Trust
{
public:
    Trust(ingot_persist_trust_policy_t policy, std::vector<Key> keys) : keys_(std::move(keys))
    {
        trust_.policy = policy;
        trust_.next_key = next_key;
        trust_.user = &keys_;
    }
    Trust(const Trust &) = delete;
    Trust &operator=(const Trust &) = delete;
    const ingot_persist_trust_t *get() const { return &trust_; }

private:
    static ingot_status_t next_key(size_t index, ingot_persist_key_t *key, void *user)
    {
        const auto &keys = *static_cast<const std::vector<Key> *>(user);
        if (index >= keys.size())
            return INGOT_NOT_FOUND;
        key->kind = keys[index].kind;
        std::memcpy(key->bytes, keys[index].bytes.data(), INGOT_PERSIST_KEY_SIZE);
        return INGOT_SUCCESS;
    }

    std::vector<Key> keys_;
    ingot_persist_trust_t trust_ = INGOT_PERSIST_TRUST_INIT;
};

/* A storage that a test can give a trust. */
class Held : public HeldStorage
{
public:
    using HeldStorage::HeldStorage;
    ingot_status_t trust(const Trust &trust) const { return ingot_persist_set_trust(storage_, trust.get()); }
};

/* A custom storage in memory. Its buffers are freed by the address in `bytes`, so the library must not change it. */
struct Kept {
    std::mutex mutex;
    std::map<Bytes, Bytes> blobs;

    static ingot_status_t load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
    {
        auto *kept = static_cast<Kept *>(self);
        const std::lock_guard<std::mutex> guard(kept->mutex);
        const auto found = kept->blobs.find(Bytes(id, id + id_size));
        if (found == kept->blobs.end())
            return INGOT_NOT_FOUND;
        auto *bytes = static_cast<uint8_t *>(std::malloc(found->second.size() + 1));
        std::copy(found->second.begin(), found->second.end(), bytes);
        const auto release = [](ingot_buffer_t *buffer) {
            std::free(const_cast<uint8_t *>(buffer->bytes)); /* aborts if it is not the start of the block */
        };
        *blob = {found->second.size(), bytes, release, nullptr};
        return INGOT_SUCCESS;
    }
    static ingot_status_t store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
    {
        auto *kept = static_cast<Kept *>(self);
        const std::lock_guard<std::mutex> guard(kept->mutex);
        kept->blobs[Bytes(id, id + id_size)] = Bytes(blob, blob + blob_size);
        return INGOT_SUCCESS;
    }

    Held open()
    {
        const ingot_storage_ops_t ops = own_storage::operations(store, load);
        ingot_storage_t storage = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, this));
        return Held(storage);
    }
};

/* Returns the blob with a seal that was made with this key. */
inline Bytes sealed(const Key &key, const Bytes &id, const Bytes &blob)
{
    Kept kept;
    const Held storage = kept.open();
    EXPECT_EQ(INGOT_SUCCESS, storage.trust(Trust(INGOT_PERSIST_TRUST_VERIFY, {key})));
    EXPECT_EQ(INGOT_SUCCESS, storage.put(id, blob));
    return kept.blobs[id];
}

} // namespace trust_fixture

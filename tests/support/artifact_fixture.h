/*
 * artifact_fixture.h - keys and caches for the tests of artifacts, which use the combined library.
 */
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/persist.h>
#include <ingot/private/artifact.h>

extern "C" {
#include "front/cache.h"
}

#include "support/held_storage.h"
#include "support/not_copied.h"

namespace artifact_fixture
{

/* A key with the field "name". */
class Key : NotCopied
{
public:
    explicit Key(std::string name) : name_(std::move(name))
    {
        fields_[0] = {"name", name_.size(), name_.data()};
        fields_[1] = {"version", 1, "1"};
        key_.kind = "test";
        key_.field_count = 2;
        key_.fields = fields_;
    }
    const ingot_artifact_key_t *get() const { return &key_; }
    std::vector<uint8_t> id() const
    {
        size_t size = 0;
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key_, &size, nullptr));
        std::vector<uint8_t> id(size);
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key_, &size, id.data()));
        return id;
    }

private:
    std::string name_;
    ingot_artifact_field_t fields_[2];
    ingot_artifact_key_t key_ = INGOT_ARTIFACT_KEY_INIT;
};

/* Takes the value's bytes and releases it. */
inline std::string take(ingot_buffer_t *value)
{
    std::string text(reinterpret_cast<const char *>(value->bytes), value->size);
    if (value->release != nullptr)
        value->release(value);
    return text;
}

/* A cache with a storage of the test's own. */
class Cache : NotCopied
{
public:
    /* Takes over the reference to the storage. */
    explicit Cache(ingot_storage_t storage) { cache_.storage = storage; }
    explicit Cache(const HeldStorage &storage) : Cache(storage.get()) { ingot_storage_retain(cache_.storage); }
    explicit Cache(const ingot_persist_info_t &info)
    {
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_open(&cache_.storage, &info)) << ingot_last_error_detail();
    }
    ~Cache() { ingot_storage_release(cache_.storage); }

    ingot_cache_t get() { return &cache_; }
    ingot_storage_t storage() const { return cache_.storage; }

    ingot_status_t put(const Key &key, const std::string &bytes)
    {
        return ingot_artifact_put(get(), key.get(), nullptr, bytes.size(), bytes.data());
    }
    /* Returns "-" and the status's name if there is no artifact. */
    std::string load(const Key &key)
    {
        ingot_buffer_t value = INGOT_BUFFER_INIT;
        const ingot_status_t status = ingot_artifact_get(get(), key.get(), &value);
        return status == INGOT_SUCCESS ? take(&value) : std::string("-") + ingot_status_name(status);
    }
    ingot_persist_stats_t stats() const
    {
        ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_stats(cache_.storage, &stats));
        return stats;
    }

    /* Makes an artifact by ingot_artifact_get_or_create. `count` counts the makers' calls. */
    std::string make(const Key &key, const std::string &bytes, int *count, ingot_status_t made = INGOT_SUCCESS)
    {
        struct Making {
            const std::string *bytes;
            int *count;
            ingot_status_t status;
        } making{&bytes, count, made};
        const auto maker = [](void *user, ingot_artifact_info_t *, ingot_buffer_t *value) {
            auto *self = static_cast<Making *>(user);
            ++*self->count;
            *value = {self->bytes->size(), reinterpret_cast<const uint8_t *>(self->bytes->data()), nullptr, nullptr};
            return self->status;
        };
        ingot_buffer_t value = INGOT_BUFFER_INIT;
        const ingot_status_t status = ingot_artifact_get_or_create(get(), key.get(), maker, &making, &value, nullptr);
        return status == INGOT_SUCCESS ? take(&value) : std::string("-") + ingot_status_name(status);
    }

private:
    ingot_cache cache_{};
};

} // namespace artifact_fixture

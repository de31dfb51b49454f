/*
 * probes_keeper.h - keeps the probes of memos in memory, as a store does on disk.
 */
#ifndef INGOT_TESTS_SUPPORT_PROBES_KEEPER_H
#define INGOT_TESTS_SUPPORT_PROBES_KEEPER_H

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include <gtest/gtest.h>
#include <ingot/backend.h>

extern "C" {
#include "core/memo/header_memo.h"
#include "core/memo/probes.h"
}

/* Any thread may use it. */
class Keeper
{
public:
    Keeper() = default;
    Keeper(const Keeper &other) { *this = other; }
    Keeper &operator=(const Keeper &other)
    {
        if (this == &other)
            return *this;
        const std::scoped_lock lock(lock_, other.lock_);
        entries = other.entries;
        return *this;
    }
    ~Keeper() = default;

    void keep_for(struct ingot_header_memo *memo, const uint8_t *library = kLibrary)
    {
        const ingot_probes_keeper_t keeper = {load, store, release};
        ++users;
        EXPECT_EQ(INGOT_SUCCESS, header_memo_keep(memo, library, &keeper, this));
    }

    /* Write and read all entries, so that another process can continue with them. */
    std::string bytes() const
    {
        std::string all;
        for (const auto &[id, content] : entries)
            all += id + std::to_string(content.size()) + " " + content;
        return all;
    }
    void take(const std::string &bytes)
    {
        for (size_t at = 0; at < bytes.size();) {
            const std::string id = bytes.substr(at, PROBES_ID_SIZE);
            const size_t begin = bytes.find(' ', at += PROBES_ID_SIZE) + 1;
            const size_t size = std::stoul(bytes.substr(at));
            entries[id] = bytes.substr(begin, size);
            at = begin + size;
        }
    }

    std::map<std::string, std::string> entries; /* content by id */
    std::atomic<size_t> loads{0};
    std::atomic<size_t> stores{0};
    std::atomic<int> users{0};
    static constexpr uint8_t kLibrary[DIGEST_SIZE] = {1, 2, 3};

private:
    static ingot_status_t load(void *user, size_t id_size, const uint8_t *id, ingot_buffer_t *content)
    {
        auto *keeper = static_cast<Keeper *>(user);
        const std::lock_guard<std::mutex> lock(keeper->lock_);
        ++keeper->loads;
        const auto found = keeper->entries.find({reinterpret_cast<const char *>(id), id_size});
        if (found == keeper->entries.end())
            return ingot_set_error_detail(INGOT_NOT_FOUND, "the keeper has nothing");
        auto *copy = new std::string(found->second);
        *content = {copy->size(), reinterpret_cast<const uint8_t *>(copy->data()),
                    [](ingot_buffer_t *buffer) { delete static_cast<std::string *>(buffer->owner); }, copy};
        return INGOT_SUCCESS;
    }
    static void store(void *user, size_t id_size, const uint8_t *id, size_t size, const uint8_t *content)
    {
        auto *keeper = static_cast<Keeper *>(user);
        const std::lock_guard<std::mutex> lock(keeper->lock_);
        ++keeper->stores;
        keeper->entries[{reinterpret_cast<const char *>(id), id_size}] = {reinterpret_cast<const char *>(content),
                                                                          size};
    }
    static void release(void *user) { --static_cast<Keeper *>(user)->users; }

    mutable std::mutex lock_;
};

#endif

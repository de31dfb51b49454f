/*
 * Tests how much memory the blobs of a prewarm take. A prewarm loads programs before they are requested. It loads their
 * blobs in groups, and keeps each blob until its program is made.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <ingot/prewarm.h>

#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

constexpr size_t kPrograms = 40;
constexpr size_t kBlobSize = 1 << 20;
constexpr size_t kLimit = 16 << 20;

/* A storage that returns a blob of 1 MiB for each id. The blob does not contain a program. Counts the bytes of all
 * blobs in memory. */
class Counted
{
public:
    Counted()
    {
        ingot_storage_ops_t ops{};
        ops.struct_size = sizeof(ops);
        ops.load = load;
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage_, &ops, this));
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_set_load_many(storage_, load_many));
    }
    Counted(const Counted &) = delete;
    Counted &operator=(const Counted &) = delete;
    ~Counted() { ingot_storage_release(storage_); }

    ingot_storage_t get() const { return storage_; }
    size_t most_bytes() const { return most_bytes_; }
    size_t bytes() const { return bytes_; }
    std::vector<size_t> groups() const { return groups_; }

private:
    static ingot_status_t load(void *user, size_t, const uint8_t *, ingot_buffer_t *blob)
    {
        auto *self = static_cast<Counted *>(user);
        const size_t now = self->bytes_ += kBlobSize;
        size_t most = self->most_bytes_;
        while (now > most && !self->most_bytes_.compare_exchange_weak(most, now)) {
        }
        blob->bytes = static_cast<uint8_t *>(std::calloc(1, kBlobSize));
        blob->size = kBlobSize;
        blob->owner = self;
        blob->release = [](ingot_buffer_t *buffer) {
            std::free(const_cast<uint8_t *>(buffer->bytes));
            static_cast<Counted *>(buffer->owner)->bytes_ -= kBlobSize;
        };
        return INGOT_SUCCESS;
    }
    static void load_many(void *user, size_t count, const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded,
                          void *receiver)
    {
        auto *self = static_cast<Counted *>(user);
        size_t delivered = 0;
        bool goes_on = true;
        while (delivered < count && goes_on) {
            ingot_buffer_t blob = INGOT_BUFFER_INIT;
            load(self, ids[delivered].size, ids[delivered].bytes, &blob);
            goes_on = on_loaded(delivered++, INGOT_SUCCESS, &blob, receiver) != 0;
        }
        const std::lock_guard<std::mutex> guard(self->mutex_);
        self->groups_.push_back(delivered);
    }

    ingot_storage_t storage_ = nullptr;
    std::atomic<size_t> bytes_{0};
    std::atomic<size_t> most_bytes_{0};
    std::mutex mutex_;
    std::vector<size_t> groups_;
};

class PersistPrewarmFetch : public testing::Test
{
protected:
    void SetUp() override
    {
        const std::string root = scratch_.path() / "store";
        ingot_persist_info_t store_info = INGOT_PERSIST_INFO_INIT;
        store_info.path = root.c_str();
        store_info.store_mode = INGOT_PERSIST_STORE_NOW;
        const Store store(store_info);
        ingot_persist_record_info_t info = INGOT_PERSIST_RECORD_INFO_INIT;
        info.path = manifest_.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_record(store.get(), &info));
        const Session session;
        for (size_t number = 0; number < kPrograms; ++number)
            session.create(session.describe(numbered_source(int(number))), store);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get()));
    }
    ingot_prewarm_progress_t prewarm(const Counted &storage, uint32_t thread_count) const
    {
        const Session session;
        ingot_prewarm_t prewarm = nullptr;
        ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        info.manifest = manifest_.c_str();
        info.thread_count = thread_count;
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_start(&prewarm, session.context.get(), storage.get(), &info));
        EXPECT_EQ(INGOT_SUCCESS, ingot_prewarm_wait(prewarm, &progress));
        ingot_prewarm_release(prewarm);
        return progress;
    }
    const ScratchDirectory scratch_;
    const std::string manifest_ = scratch_.path() / "manifest";
};

} // namespace

TEST_F(PersistPrewarmFetch, AGroupEndsWhenItsBlobsHaveSixteenMebibytes)
{
    const Counted storage;
    const ingot_prewarm_progress_t progress = prewarm(storage, 1);
    EXPECT_EQ(INGOT_PREWARM_COMPLETE, progress.state);
    EXPECT_EQ((std::vector<size_t>{16, 16, 8}), storage.groups());
    EXPECT_EQ(kLimit, storage.most_bytes());
    EXPECT_EQ(0u, storage.bytes());
}

TEST_F(PersistPrewarmFetch, ThreadsShareTheLimit)
{
    for (const uint32_t thread_count : {2u, 4u}) {
        const Counted storage;
        const ingot_prewarm_progress_t progress = prewarm(storage, thread_count);
        EXPECT_EQ(INGOT_PREWARM_COMPLETE, progress.state);
        /* Each thread may hold one more blob, because it knows the size of a blob only after it has loaded the blob. */
        EXPECT_LE(storage.most_bytes(), kLimit + thread_count * kBlobSize);
        EXPECT_EQ(0u, storage.bytes());
    }
}

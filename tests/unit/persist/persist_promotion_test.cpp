/*
 * Tests that a load's promotion never undoes what is stored or removed while the load reads a lower tier.
 */
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "support/gate.h"
#include "support/own_storage.h"
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kOther = bytes_of("another id");
const Bytes kOld = random_bytes(1, 300);
const Bytes kNew = random_bytes(2, 200);

/* A storage of an application, in memory. Its next load calls after_load, and its next store before_store. */
struct Memory {
    static ingot_storage_t create(Memory *self)
    {
        ingot_storage_ops_t ops = own_storage::operations(store, load);
        ops.remove = remove;
        ingot_storage_t made = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&made, &ops, self));
        return made;
    }
    static ingot_status_t load(void *user, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
    {
        auto *self = static_cast<Memory *>(user);
        std::unique_lock<std::mutex> guard(self->mutex);
        const auto found = self->blobs.find(Bytes(id, id + id_size));
        auto *copy = found != self->blobs.end() ? new Bytes(found->second) : nullptr;
        const auto hook = std::exchange(self->after_load, nullptr);
        guard.unlock();
        if (hook)
            hook();
        if (copy == nullptr)
            return INGOT_NOT_FOUND;
        const auto release = [](ingot_buffer_t *buffer) { delete static_cast<Bytes *>(buffer->owner); };
        *blob = {copy->size(), copy->data(), release, copy};
        return INGOT_SUCCESS;
    }
    static ingot_status_t store(void *user, size_t id_size, const uint8_t *id, size_t size, const uint8_t *blob)
    {
        auto *self = static_cast<Memory *>(user);
        std::unique_lock<std::mutex> guard(self->mutex);
        const auto hook = std::exchange(self->before_store, nullptr);
        guard.unlock();
        if (hook)
            hook();
        guard.lock();
        self->blobs[Bytes(id, id + id_size)] = Bytes(blob, blob + size);
        return INGOT_SUCCESS;
    }
    static ingot_status_t remove(void *user, size_t id_size, const uint8_t *id)
    {
        auto *self = static_cast<Memory *>(user);
        const std::lock_guard<std::mutex> guard(self->mutex);
        return self->blobs.erase(Bytes(id, id + id_size)) != 0 ? INGOT_SUCCESS : INGOT_NOT_FOUND;
    }

    std::mutex mutex;
    std::map<Bytes, Bytes> blobs;
    std::function<void()> after_load;
    std::function<void()> before_store;
    HeldStorage storage{create(this)};
};

Bytes loaded(const HeldStorage &storage, const Bytes &id = kId)
{
    Bytes blob;
    const ingot_status_t status = storage.load(id, &blob);
    return status == INGOT_SUCCESS ? blob : bytes_of(ingot_status_name(status));
}

/* A chain of an upper tier and a lower one, whose load a test can hold after it has read the old blob. */
class Promotion : public testing::Test
{
protected:
    HeldStorage chain_of(const HeldStorage &upper)
    {
        const ingot_storage_t tiers[] = {upper.get(), lower_.storage.get()};
        ingot_storage_t chain = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 2, tiers));
        return HeldStorage(chain);
    }

    /* Loads the old blob from the lower tier, and calls `meanwhile` before the load gets it. */
    void load_while(const HeldStorage &chain, const std::function<void()> &meanwhile)
    {
        const Gate has_read, go_on;
        lower_.blobs[kId] = kOld;
        lower_.after_load = [&] {
            has_read.open();
            go_on.wait();
        };
        std::thread loader([&] { EXPECT_EQ(kOld, loaded(chain)); });
        has_read.wait();
        meanwhile();
        go_on.open();
        loader.join();
    }

    fs::path at(const char *name) const { return scratch_.path() / name; }

    Memory lower_;

private:
    ScratchDirectory scratch_;
};

const Bytes kNothing = bytes_of("INGOT_NOT_FOUND");

} // namespace

TEST_F(Promotion, DoesNotReplaceWhatWasStoredMeanwhile)
{
    const Store store(at("store"));
    const HeldStorage chain = chain_of(store);
    load_while(chain, [&] { EXPECT_EQ(INGOT_SUCCESS, chain.put(kId, kNew)); });
    EXPECT_EQ(kNew, loaded(store));

    Memory memory;
    const HeldStorage other = chain_of(memory.storage);
    load_while(other, [&] { EXPECT_EQ(INGOT_SUCCESS, other.put(kId, kNew)); });
    EXPECT_EQ(kNew, loaded(memory.storage));
}

TEST_F(Promotion, DoesNotReplaceWhatAnotherProcessHasStored)
{
    const Store store(at("store"));
    const Store as_another_process(at("store"));
    load_while(chain_of(store), [&] { EXPECT_EQ(INGOT_SUCCESS, as_another_process.put(kId, kNew)); });
    EXPECT_EQ(kNew, loaded(store));
}

TEST_F(Promotion, DoesNotBringBackWhatWasRemovedMeanwhile)
{
    const Store store(at("store"));
    Memory memory;
    const std::initializer_list<const HeldStorage *> uppers = {&store, &memory.storage};
    for (const HeldStorage *upper : uppers) {
        const HeldStorage chain = chain_of(*upper);
        load_while(chain, [&] { EXPECT_EQ(INGOT_SUCCESS, chain.remove(kId)); });
        ASSERT_EQ(kNothing, loaded(*upper));
        EXPECT_EQ(kNothing, loaded(chain));
        /* another id may change meanwhile */
        load_while(chain, [&] { EXPECT_EQ(INGOT_NOT_FOUND, chain.remove(kOther)); });
        EXPECT_EQ(kOld, loaded(*upper));
    }
}

/* The removal has passed the upper tier, and not yet reached the lower one. */
TEST_F(Promotion, DoesNotBringBackWhatIsBeingRemoved)
{
    Memory upper;
    std::function<void()> during_removal;
    ingot_storage_ops_t ops = own_storage::operations();
    ops.remove = [](void *user, size_t, const uint8_t *) {
        (*static_cast<std::function<void()> *>(user))();
        return INGOT_NOT_FOUND;
    };
    ingot_storage_t made = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&made, &ops, &during_removal));
    const HeldStorage middle(made);
    const ingot_storage_t tiers[] = {upper.storage.get(), middle.get(), lower_.storage.get()};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&made, 3, tiers));
    const HeldStorage chain(made);
    lower_.blobs[kId] = kOld;
    during_removal = [&] { std::thread([&] { EXPECT_EQ(kOld, loaded(chain)); }).join(); };
    EXPECT_EQ(INGOT_SUCCESS, chain.remove(kId));
    EXPECT_EQ(kNothing, loaded(upper.storage));
}

/* The promotion is storing already. The later store or removal waits for it, and has the last word. */
TEST_F(Promotion, IsFollowedByAChangeThatCameLater)
{
    for (const bool removes : {false, true}) {
        Memory memory;
        const HeldStorage chain = chain_of(memory.storage);
        const Gate is_storing, go_on;
        lower_.blobs[kId] = kOld;
        memory.before_store = [&] {
            is_storing.open();
            go_on.wait();
        };
        std::thread loader([&] { EXPECT_EQ(kOld, loaded(chain)); });
        is_storing.wait();
        std::thread changer([&] { EXPECT_EQ(INGOT_SUCCESS, removes ? chain.remove(kId) : chain.put(kId, kNew)); });
        go_on.open();
        loader.join();
        changer.join();
        EXPECT_EQ(removes ? kNothing : kNew, loaded(memory.storage));
    }
}

/* A callback may use the chain in the middle of a promotion. */
TEST_F(Promotion, DoesNotWaitForItself)
{
    Memory memory;
    const HeldStorage chain = chain_of(memory.storage);
    lower_.blobs[kId] = kOld;
    memory.before_store = [&] { EXPECT_EQ(INGOT_SUCCESS, chain.put(kId, kNew)); };
    EXPECT_EQ(kOld, loaded(chain));
}

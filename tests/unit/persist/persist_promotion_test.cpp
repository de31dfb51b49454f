/*
 * Tests that a load's promotion never undoes what is stored or removed while the load reads a lower tier.
 */
#include <sys/resource.h>

#include "support/store_fixture.h"
#include "support/threads.h"

using namespace store_fixture;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kOther = bytes_of("another id");
const Bytes kOld = random_bytes(1, 300);
const Bytes kNew = random_bytes(2, 200);

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
    HeldStorage chain_behind(const HeldStorage &upper) const { return chain_of({upper.get(), lower_storage_.get()}); }

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

    Kept lower_;
    const HeldStorage lower_storage_ = lower_.open();

private:
    ScratchDirectory scratch_;
};

const Bytes kNothing = bytes_of("INGOT_NOT_FOUND");

} // namespace

TEST_F(Promotion, DoesNotReplaceWhatWasStoredMeanwhile)
{
    const Store store(at("store"));
    const HeldStorage chain = chain_behind(store);
    load_while(chain, [&] { EXPECT_EQ(INGOT_SUCCESS, chain.put(kId, kNew)); });
    EXPECT_EQ(kNew, loaded(store));

    Kept memory;
    const HeldStorage storage = memory.open();
    const HeldStorage other = chain_behind(storage);
    load_while(other, [&] { EXPECT_EQ(INGOT_SUCCESS, other.put(kId, kNew)); });
    EXPECT_EQ(kNew, loaded(storage));
}

TEST_F(Promotion, DoesNotReplaceWhatAnotherProcessHasStored)
{
    const Store store(at("store"));
    const Store as_another_process(at("store"));
    load_while(chain_behind(store), [&] { EXPECT_EQ(INGOT_SUCCESS, as_another_process.put(kId, kNew)); });
    EXPECT_EQ(kNew, loaded(store));
}

TEST_F(Promotion, DoesNotReplaceWhatCouldNotBeRead)
{
    const Store store(at("store"));
    const HeldStorage chain = chain_behind(store);
    ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kNew));
    rlimit limit = {};
    ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    const rlimit none = {0, limit.rlim_max};
    lower_.blobs[kId] = kOld;
    lower_.after_load = [&] { setrlimit(RLIMIT_NOFILE, &limit); };
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
    EXPECT_EQ(kOld, loaded(chain));
    EXPECT_EQ(kNew, loaded(store));
}

TEST_F(Promotion, DoesNotBringBackWhatWasRemovedMeanwhile)
{
    const Store store(at("store"));
    Kept memory;
    const HeldStorage storage = memory.open();
    const std::initializer_list<const HeldStorage *> uppers = {&store, &storage};
    for (const HeldStorage *upper : uppers) {
        const HeldStorage chain = chain_behind(*upper);
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
    Kept upper;
    const HeldStorage first = upper.open();
    std::function<void()> during_removal;
    ingot_storage_ops_t ops = own_storage::operations();
    ops.remove = [](void *user, size_t, const uint8_t *) {
        (*static_cast<std::function<void()> *>(user))();
        return INGOT_NOT_FOUND;
    };
    const HeldStorage middle =
        opened([&](ingot_storage_t *made) { return ingot_storage_create(made, &ops, &during_removal); });
    const HeldStorage chain = chain_of({first.get(), middle.get(), lower_storage_.get()});
    lower_.blobs[kId] = kOld;
    during_removal = [&] { std::thread([&] { EXPECT_EQ(kOld, loaded(chain)); }).join(); };
    EXPECT_EQ(INGOT_SUCCESS, chain.remove(kId));
    EXPECT_EQ(kNothing, loaded(first));
}

/* The promotion is storing already. The later store or removal waits for it, and has the last word. */
TEST_F(Promotion, IsFollowedByAChangeThatCameLater)
{
    for (const bool removes : {false, true}) {
        Kept memory;
        const HeldStorage storage = memory.open();
        const HeldStorage chain = chain_behind(storage);
        const Gate is_storing, go_on;
        lower_.blobs[kId] = kOld;
        memory.before_store = [&] {
            is_storing.open();
            go_on.wait();
        };
        std::thread loader([&] { EXPECT_EQ(kOld, loaded(chain)); });
        is_storing.wait();
        std::thread changer([&] { EXPECT_EQ(INGOT_SUCCESS, removes ? chain.remove(kId) : chain.put(kId, kNew)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); /* one that did not wait would end now */
        go_on.open();
        loader.join();
        changer.join();
        EXPECT_EQ(removes ? kNothing : kNew, loaded(storage));
    }
}

/* A callback may use the chain in the middle of a promotion. */
TEST_F(Promotion, DoesNotWaitForItself)
{
    Kept memory;
    const HeldStorage storage = memory.open();
    const HeldStorage chain = chain_behind(storage);
    lower_.blobs[kId] = kOld;
    memory.before_store = [&] { EXPECT_EQ(INGOT_SUCCESS, chain.put(kId, kNew)); };
    EXPECT_EQ(kOld, loaded(chain));
}

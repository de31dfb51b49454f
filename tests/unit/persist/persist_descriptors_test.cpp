/*
 * Tests that no file of the application is harmed if the application closes descriptors that Ingot keeps open, and gets
 * their numbers for its own files.
 */
#include <cstring>
#include <memory>

#include "support/forked_child.h"
#include "support/store_fixture.h"
#include "support/stray_close.h"

extern "C" {
#include "persist/storage/kinds.h"

void *storage_self(ingot_storage_t storage, enum storage_kind kind);
}

using namespace store_fixture;
using stray_close::Successors;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kOther = bytes_of("another id");
const Bytes kBlob = random_bytes(1, 1000);

ingot_persist_info_t info_of(const std::string &path)
{
    ingot_persist_info_t info = info_at(path);
    info.lock_timeout_ms = 60000;
    return info;
}

} // namespace

class PersistDescriptors : public testing::Test
{
protected:
    ScratchDirectory scratch;
    const std::string root = (scratch.path() / "store").string();
    const ingot_persist_info_t info = info_of(root);
    const std::set<int> before = stray_close::open_descriptors();
};

TEST_F(PersistDescriptors, AStoreKeepsNone)
{
    Store store(info);
    EXPECT_EQ(before, stray_close::open_descriptors());
    EXPECT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, store.put(kId, kId));
    EXPECT_EQ(INGOT_SUCCESS, store.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(kOther));
    EXPECT_EQ(INGOT_SUCCESS, store.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, store.remove(kId));
    ingot_persist_count_t count = {};
    ingot_persist_verification_t found = {};
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_verify(store.get(), 1, nullptr, nullptr, &found));
    EXPECT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    EXPECT_EQ(0u, store.stats().bytes);
    EXPECT_EQ(before, stray_close::open_descriptors());
}

TEST_F(PersistDescriptors, ABuildLockHarmsNoFile)
{
    auto store = std::make_unique<Store>(info);
    void *self = storage_self(store->get(), STORAGE_DIRECTORY);
    struct build_lock *lock = build_lock_open(self, kId.size(), kId.data());
    struct build_lock *kept = build_lock_open(self, kOther.size(), kOther.data());
    ASSERT_TRUE(lock != nullptr && kept != nullptr);
    ASSERT_EQ(BUILD_LOCK_TAKEN, build_lock_try_take(lock));
    ASSERT_EQ(BUILD_LOCK_TAKEN, build_lock_try_take(kept));
    build_lock_close(kept, true);
    const Successors successors(scratch.path() / "data", stray_close::opened_since(before));
    EXPECT_EQ(0, forked_child::run([&] { return successors.damage() != ""; }));
    EXPECT_EQ(BUILD_LOCK_UNUSABLE, build_lock_try_take(lock));
    build_lock_close(lock, false);
    struct build_lock *next = build_lock_open(self, kId.size(), kId.data());
    ASSERT_NE(nullptr, next);
    EXPECT_EQ(BUILD_LOCK_TAKEN, build_lock_try_take(next));
    build_lock_close(next, false);
    store.reset();
    EXPECT_EQ("", successors.damage());
}

TEST_F(PersistDescriptors, ABundleHarmsNoFile)
{
    const fs::path path = scratch.path() / "bundle";
    {
        Store store(info);
        ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(store.get(), path.c_str(), nullptr, nullptr, nullptr));
    }
    ingot_storage_t bundle = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_bundle(&bundle, path.c_str(), nullptr));
    const Successors successors(scratch.path() / "data", stray_close::opened_since(before));
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_IO_ERROR, ingot_storage_load(bundle, kId.size(), kId.data(), &blob));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "closed the descriptor")) << ingot_last_error_detail();
    ingot_storage_release(bundle);
    EXPECT_EQ("", successors.damage());
}

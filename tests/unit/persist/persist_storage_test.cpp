/*
 * Tests storages that are made from an application's own table of operations.
 */
#include <cerrno>

#include "support/persist_session.h"

using store_fixture::Bytes;
using store_fixture::bytes_of;

namespace
{

const Bytes kId = bytes_of("id");
const Bytes kBlob = bytes_of("blob");

} // namespace

TEST(PersistStorage, KeepsWhatItsTableKeeps)
{
    Kept kept;
    const HeldStorage storage = kept.open();
    Bytes blob;
    EXPECT_EQ(INGOT_NOT_FOUND, storage.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kId, kBlob));
    ASSERT_EQ(INGOT_SUCCESS, storage.load(kId, &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(INGOT_SUCCESS, storage.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, storage.remove(kId));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage.get(), nullptr, nullptr));
}

TEST(PersistStorage, IsDestroyedWithItsLastReference)
{
    Kept kept;
    {
        const HeldStorage storage = kept.open();
        ingot_storage_retain(storage.get());
        ingot_storage_release(storage.get());
        EXPECT_EQ(0, kept.ends);
    }
    EXPECT_EQ(1, kept.ends);
    ingot_storage_release(nullptr);
}

TEST(PersistStorage, IsReadOnlyWhereItsTableLacksStoreAndRemove)
{
    Kept kept;
    ingot_storage_ops_t ops = Kept::operations();
    ops.struct_size = offsetof(ingot_storage_ops_t, store); /* like the table of an older caller */
    const HeldStorage storage = kept.open(ops);
    EXPECT_EQ(INGOT_READ_ONLY, storage.put(kId, kBlob));
    EXPECT_EQ(INGOT_READ_ONLY, storage.remove(kId));
}

TEST(PersistStorage, RefusesMalformedArguments)
{
    ingot_storage_t none = nullptr;
    const ingot_storage_ops_t whole = Kept::operations();
    ingot_storage_ops_t without_load = whole, without_size = whole;
    without_load.load = nullptr;
    without_size.struct_size = 0;
    for (const ingot_storage_ops_t *ops : {&without_load, &without_size, static_cast<ingot_storage_ops_t *>(nullptr)})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&none, ops, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(nullptr, &whole, nullptr));
    EXPECT_EQ(nullptr, none);
    ingot_storage_retain(nullptr);

    Kept kept;
    const HeldStorage held = kept.open();
    ingot_storage_t storage = held.get();
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    for (const ingot_status_t status :
         {ingot_persist_flush(nullptr, nullptr, nullptr), clear_store(nullptr),
          ingot_storage_load(nullptr, kId.size(), kId.data(), &blob), ingot_storage_load(storage, 0, kId.data(), &blob),
          ingot_storage_load(storage, kId.size(), nullptr, &blob),
          ingot_storage_load(storage, kId.size(), kId.data(), nullptr),
          ingot_storage_store(storage, kId.size(), kId.data(), 0, kBlob.data()),
          ingot_storage_store(storage, kId.size(), kId.data(), 1, nullptr),
          ingot_storage_remove(storage, 0, kId.data()), ingot_persist_get_stats(nullptr, &stats),
          ingot_persist_get_stats(storage, nullptr)})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, status);
    EXPECT_EQ(INGOT_UNIMPLEMENTED, clear_store(storage));
}

/* When the storage is released, this thread first stores a program that was waiting. That fails, and destroying the
 * storage fails, too. Neither failure may replace the earlier error. */
TEST(StorageRelease, LeavesTheSentenceAndCodeOfAFailure)
{
    const ingot_storage_ops_t ops = own_storage::operations(
        [](void *stores, size_t, const uint8_t *, size_t, const uint8_t *) {
            ++*static_cast<int *>(stores);
            return ingot_set_error(INGOT_NO_SPACE, 28, "no space");
        },
        own_storage::find_nothing, [](void *) { ingot_set_error(INGOT_IO_ERROR, 5, "closing"); });
    int stores = 0;
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, &stores));
    Session session(true);
    ASSERT_EQ(INGOT_SUCCESS, request_through(session.describe(), storage));
    ingot_set_error(INGOT_BUILD_FAILED, -11, "line 3");
    ingot_storage_release(storage);
    EXPECT_EQ(1, stores);
    EXPECT_STREQ("line 3", ingot_last_error_detail());
    EXPECT_EQ(-11, ingot_last_error_code());
}

TEST(ErrorCode, IsTheErrnoOfASystemCall)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = "/proc/no-such-directory/store";
    ingot_storage_t storage = nullptr;
    EXPECT_NE(INGOT_SUCCESS, ingot_persist_open(&storage, &info));
    EXPECT_EQ(ENOENT, ingot_last_error_code()) << ingot_last_error_detail();
}

/*
 * Tests storages that are made from an application's own table of operations.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "support/own_storage.h"
#include "support/persist_session.h"
#include "support/store_fixture.h"

using store_fixture::Bytes;
using store_fixture::bytes_of;

namespace
{

/* The storage of an application: a map. */
struct MapStorage {
    std::map<Bytes, Bytes> blobs;
    bool *is_destroyed = nullptr;
};

void release(ingot_buffer_t *buffer)
{
    delete static_cast<Bytes *>(buffer->owner);
}

ingot_status_t load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    auto *map = static_cast<MapStorage *>(self);
    const auto found = map->blobs.find(Bytes(id, id + id_size));
    if (found == map->blobs.end())
        return INGOT_NOT_FOUND;
    auto *copy = new Bytes(found->second);
    *blob = {copy->size(), copy->data(), release, copy};
    return INGOT_SUCCESS;
}

ingot_status_t store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    static_cast<MapStorage *>(self)->blobs[Bytes(id, id + id_size)] = Bytes(blob, blob + blob_size);
    return INGOT_SUCCESS;
}

ingot_status_t remove_id(void *self, size_t id_size, const uint8_t *id)
{
    return static_cast<MapStorage *>(self)->blobs.erase(Bytes(id, id + id_size)) != 0 ? INGOT_SUCCESS : INGOT_NOT_FOUND;
}

void destroy(void *self)
{
    auto *map = static_cast<MapStorage *>(self);
    if (map->is_destroyed != nullptr)
        *map->is_destroyed = true;
    delete map;
}

ingot_storage_ops_t table()
{
    ingot_storage_ops_t ops = own_storage::operations(store, load, destroy);
    ops.remove = remove_id;
    return ops;
}

const Bytes kId = bytes_of("id");
const Bytes kBlob = bytes_of("blob");

} // namespace

TEST(PersistStorage, KeepsWhatItsTableKeeps)
{
    ingot_storage_t storage = nullptr;
    const ingot_storage_ops_t ops = table();
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, new MapStorage));
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_storage_load(storage, kId.size(), kId.data(), &blob));
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_store(storage, kId.size(), kId.data(), kBlob.size(), kBlob.data()));
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(storage, kId.size(), kId.data(), &blob));
    EXPECT_EQ(kBlob, Bytes(blob.bytes, blob.bytes + blob.size));
    blob.release(&blob);
    EXPECT_EQ(INGOT_SUCCESS, ingot_storage_remove(storage, kId.size(), kId.data()));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_storage_remove(storage, kId.size(), kId.data()));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage, nullptr, nullptr));
    ingot_storage_release(storage);
}

TEST(PersistStorage, IsDestroyedWithItsLastReference)
{
    bool is_destroyed = false;
    ingot_storage_t storage = nullptr;
    const ingot_storage_ops_t ops = table();
    auto *map = new MapStorage;
    map->is_destroyed = &is_destroyed;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, map));
    ingot_storage_retain(storage);
    ingot_storage_release(storage);
    EXPECT_FALSE(is_destroyed);
    ingot_storage_release(storage);
    EXPECT_TRUE(is_destroyed);
    ingot_storage_release(nullptr);
}

TEST(PersistStorage, IsReadOnlyWhereItsTableLacksStoreAndRemove)
{
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops = table();
    ops.struct_size = offsetof(ingot_storage_ops_t, store); /* like the table of an older caller */
    MapStorage map;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, &map));
    EXPECT_EQ(INGOT_READ_ONLY, ingot_storage_store(storage, kId.size(), kId.data(), kBlob.size(), kBlob.data()));
    EXPECT_EQ(INGOT_READ_ONLY, ingot_storage_remove(storage, kId.size(), kId.data()));
    ingot_storage_release(storage);
}

TEST(PersistStorage, RefusesMalformedArguments)
{
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops = table();
    ops.load = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, &ops, nullptr));
    ops = table();
    ops.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, &ops, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, nullptr, nullptr));
    ops = table();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(nullptr, &ops, nullptr));
    EXPECT_EQ(nullptr, storage);
    ingot_storage_retain(nullptr);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_flush(nullptr, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_clear(nullptr));

    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_create(&storage, &ops, new MapStorage));
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_load(nullptr, kId.size(), kId.data(), &blob));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_load(storage, 0, kId.data(), &blob));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_load(storage, kId.size(), nullptr, &blob));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_load(storage, kId.size(), kId.data(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_store(storage, kId.size(), kId.data(), 0, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_store(storage, kId.size(), kId.data(), 1, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_remove(storage, 0, kId.data()));
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_get_stats(nullptr, &stats));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_get_stats(storage, nullptr));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_persist_clear(storage));
    ingot_storage_release(storage);
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
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, session.describe().get(), storage, nullptr));
    ingot_program_release(program);
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

TEST(Flags, ThatAreUnknownAreRefusedByADirectoryStore)
{
    ScratchDirectory scratch;
    const std::string root = (scratch.path() / "store").string();
    for (uint32_t flag = INGOT_PERSIST_KEEP_REQUESTS * 2; flag != 0; flag <<= 1) {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root.c_str();
        info.flags = flag;
        ingot_storage_t storage = nullptr;
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open(&storage, &info)) << flag;
    }
}

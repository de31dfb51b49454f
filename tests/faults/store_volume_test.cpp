/*
 * store_volume_test.cpp - tests stores, bundles and single files on a volume that is actually full: a small tmpfs that
 * a child mounts in its own namespace. A second run has a limit on the size of files, which makes the same calls fail,
 * and whose signal would end the process. The first run is skipped if the machine does not allow the mount.
 */
#include <sys/resource.h>

#include "support/own_mounts.h"
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

constexpr unsigned kIds = 60;

Bytes numbered_blob(unsigned number)
{
    return random_bytes(number, 1000 + number * 300);
}

constexpr int kNoMount = 77; /* as run_with_mounts returns it */

void limit_files()
{
    const rlimit limit = {14000, 14000}; /* less than most blobs */
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(100);
}

enum class Want { Volume, Limit };

/* Runs work() in a child, on a small volume or with a limit on the size of files. Expects that it returns 0, and not
 * the number of a check that failed. */
void on_a_small_volume(Want want, const std::function<int(const fs::path &)> &work)
{
    const ScratchDirectory scratch;
    const int failed_check = (want == Want::Volume ? run_with_mounts : forked_child::run)([&] {
        if (want == Want::Limit)
            limit_files();
        else if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=256k,mode=0700") != 0)
            return kNoMount;
        return work(scratch.path());
    });
    if (failed_check == kNoMount)
        GTEST_SKIP() << "this machine allows no mount of a small volume";
    EXPECT_EQ(0, failed_check);
}

ingot_status_t put(ingot_storage_t storage, unsigned number)
{
    const Bytes id = numbered_id(number);
    const Bytes blob = numbered_blob(number);
    return ingot_storage_store(storage, id.size(), id.data(), blob.size(), blob.data());
}

class StoreVolume : public ::testing::TestWithParam<Want>
{
};

} // namespace

TEST_P(StoreVolume, AFullOneStoresNothingHalf)
{
    on_a_small_volume(GetParam(), [](const fs::path &volume) {
        const fs::path root = volume / "store";
        Store store(root);
        bool was_stored[kIds];
        unsigned full = 0;
        for (unsigned i = 0; i < kIds; ++i) {
            const ingot_status_t status = put(store.get(), i);
            was_stored[i] = status == INGOT_SUCCESS;
            full += status == INGOT_NO_SPACE ? 1 : 0;
            if (status != INGOT_SUCCESS && status != INGOT_NO_SPACE)
                return 1;
        }
        if (full == 0 || full == kIds || store.stats().no_space != full)
            return 2;
        for (unsigned i = 0; i < kIds; ++i) {
            Bytes blob;
            const ingot_status_t status = store.load(numbered_id(i), &blob);
            if (was_stored[i] ? blob != numbered_blob(i) : status != INGOT_NOT_FOUND)
                return 3;
        }
        if (leftovers_in(root) != 0)
            return 4;
        if (clear_store(store.get()) != INGOT_SUCCESS || put(store.get(), 0) != INGOT_SUCCESS)
            return 5;
        return 0;
    });
}

TEST_P(StoreVolume, AFullOneLeavesTheOldBundleAndTheOldFile)
{
    on_a_small_volume(GetParam(), [](const fs::path &volume) {
        const fs::path bundle = volume / "bundle";
        ingot_storage_t file = nullptr;
        Store store(volume / "store");
        if (put(store.get(), 1) != INGOT_SUCCESS ||
            ingot_persist_write_bundle(store.get(), bundle.c_str(), nullptr, nullptr, nullptr) != INGOT_SUCCESS ||
            ingot_persist_open_file(&file, (volume / "single").c_str(), nullptr) != INGOT_SUCCESS ||
            put(file, 1) != INGOT_SUCCESS)
            return 1;
        for (unsigned i = 2; i < kIds; ++i)
            put(store.get(), i); /* until the volume is full */
        if (ingot_persist_write_bundle(store.get(), bundle.c_str(), nullptr, nullptr, nullptr) != INGOT_NO_SPACE)
            return 2;
        if (put(file, kIds - 1) != INGOT_NO_SPACE)
            return 3;
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        const Bytes id = numbered_id(1);
        if (ingot_storage_load(file, id.size(), id.data(), &blob) != INGOT_SUCCESS)
            return 4;
        blob.release(&blob);
        ingot_storage_release(file);
        ingot_storage_t opened = nullptr;
        if (ingot_persist_open_bundle(&opened, bundle.c_str(), nullptr) != INGOT_SUCCESS ||
            ingot_storage_load(opened, id.size(), id.data(), &blob) != INGOT_SUCCESS)
            return 5;
        blob.release(&blob);
        ingot_storage_release(opened);
        return fs::exists(bundle.string() + ".new") ? 6 : 0;
    });
}

INSTANTIATE_TEST_SUITE_P(Wants, StoreVolume, ::testing::Values(Want::Volume, Want::Limit), [](const auto &want) {
    return std::string(want.param == Want::Volume ? "SmallVolume" : "LimitedFiles");
});

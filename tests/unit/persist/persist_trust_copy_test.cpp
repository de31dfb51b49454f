/*
 * Tests which blobs get from one storage into another: only those that every policy on the way accepts, and never with
 * a new seal.
 */
#include <sys/inotify.h>

#include <cerrno>

#include "support/trust_fixture.h"

extern "C" {
#include "persist/bundle/bundle_file.h"
#include "persist/directory/format/entry.h"
}

using namespace store_fixture;
using namespace trust_fixture;
using PersistTrustCopy = StoreTest;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kBlob = random_bytes(1, 100);
} // namespace

TEST_F(PersistTrustCopy, AKeptBlobIsStoredAsItIs)
{
    const Bytes good = sealed(kSecret, kId, kBlob);
    Kept kept;
    const Held storage = kept.open();
    EXPECT_EQ(INGOT_SUCCESS, storage.put_sealed(kId, kBlob)) << "no policy";
    EXPECT_EQ(kBlob, kept.blobs[kId]);
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kVerify, {kSecret})));
    kept.blobs.clear();
    EXPECT_EQ(INGOT_SUCCESS, storage.put_sealed(kId, kBlob));
    EXPECT_EQ(kBlob, kept.blobs[kId]) << "a key must not vouch for what came from elsewhere";
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kSecret})));
    kept.blobs.clear();
    EXPECT_EQ(INGOT_UNTRUSTED, storage.put_sealed(kId, kBlob));
    EXPECT_EQ(INGOT_UNTRUSTED, storage.put_sealed(kId, sealed(kOther, kId, kBlob)));
    EXPECT_TRUE(kept.blobs.empty());
    EXPECT_EQ(INGOT_SUCCESS, storage.put_sealed(kId, good));
    EXPECT_EQ(good, kept.blobs[kId]);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(nullptr, 1, kId.data(), 1, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(storage.get(), 0, kId.data(), 1, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(storage.get(), 1, kId.data(), 0, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(storage.get(), 1, kId.data(), 1, nullptr));
}

/* A blob may begin with any bytes. A storage that cannot return a blob as it was must refuse to store it. */
TEST_F(PersistTrustCopy, WhatIsStoredIsWhatIsLoadedWhateverItBeginsWith)
{
    const std::vector<std::string> magics = {"\x89INGSEL\n", "\x89INGKEY\n", "\x89INGBDL\n", "\x89INGMAN\n",
                                             "\x89INGRCP\n", "\x89INGIDX\n", "\x89INGOBJ\n", "\x89INGOCI\n",
                                             "INGOTRID",     "INGOTRES",     "INGOTMEM",     "INGOTCUD",
                                             "INGOTZEM",     "INGOTAID",     "INGOTART",     "ingot key 1\n"};
    const ScratchDirectory scratch(fast_volume());
    const fs::path store = scratch.path() / "store";
    Kept kept;
    std::vector<std::pair<std::string, Held>> storages;
    storages.emplace_back("directory", open_directory(store));
    storages.emplace_back("single file", open_file(scratch.path() / "file"));
    storages.emplace_back("custom", kept.open());
    storages.emplace_back("chain", chain_of({kept.open().get(), open_directory(store).get()}));
    storages.emplace_back("chain in a chain", chain_of({chain_of({open_directory(store).get()}).get()}));
    for (const auto &[name, storage] : storages)
        for (const auto policy : {INGOT_PERSIST_TRUST_NONE, kVerify, kRequire})
            for (const std::string &magic : magics)
                for (const uint8_t version : {1, 2})
                    for (const size_t size : {size_t{0}, size_t{1000}}) {
                        Bytes blob = bytes_of(magic);
                        const Bytes rest = random_bytes(size, size);
                        blob.insert(blob.end(), {version, 0, 0, 0});
                        blob.insert(blob.end(), rest.begin(), rest.end());
                        ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(policy, {kSecret})));
                        (void)storage.remove(kId);
                        kept.blobs.clear();
                        const ingot_status_t status = storage.put(kId, blob);
                        Bytes loaded;
                        if (status == INGOT_SUCCESS) {
                            EXPECT_EQ(INGOT_SUCCESS, storage.load(kId, &loaded)) << name << ", " << magic;
                            EXPECT_EQ(blob, loaded) << name << ", " << magic << ", version " << unsigned(version);
                        } else {
                            EXPECT_EQ(magics[0], magic) << name << ": " << ingot_last_error_detail();
                            EXPECT_NE(std::string(""), ingot_last_error_detail());
                            EXPECT_EQ(INGOT_NOT_FOUND, storage.load(kId));
                        }
                    }
}

TEST_F(PersistTrustCopy, APolicyAroundAChainHoldsBeforeItPromotes)
{
    for (const bool is_nested : {false, true}) {
        SCOPED_TRACE(is_nested);
        Kept upper_kept, bad_kept, good_kept;
        bad_kept.blobs[kId] = kBlob;
        const Held upper = upper_kept.open();
        const Held bad = bad_kept.open();
        const Held good = good_kept.open();
        const Held inner = chain_of({upper.get(), bad.get(), good.get()});
        const Held outer = chain_of({is_nested ? chain_of({inner.get()}).get() : inner.get()});
        ASSERT_EQ(INGOT_SUCCESS, outer.trust(Trust(kRequire, {kSecret})));
        EXPECT_EQ(INGOT_UNTRUSTED, outer.load(kId));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(inner.get(), nullptr, nullptr));
        EXPECT_TRUE(upper_kept.blobs.empty()) << "users of the first tier alone would run it";
        EXPECT_EQ(1u, outer.stats().distrusted);
        EXPECT_EQ(1u, outer.stats().untrusted);
        EXPECT_EQ(1u, bad.stats().distrusted);
        EXPECT_EQ(0u, bad.stats().hits);

        good_kept.blobs[kId] = sealed(kSecret, kId, kBlob);
        Bytes loaded;
        EXPECT_EQ(INGOT_SUCCESS, outer.load(kId, &loaded)) << "the next tier has it";
        EXPECT_EQ(kBlob, loaded);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(inner.get(), nullptr, nullptr));
        EXPECT_EQ(good_kept.blobs[kId], upper_kept.blobs[kId]);
    }
}

TEST_F(PersistTrustCopy, ASingleFileOfAnotherUserIsOnlyRead)
{
    const Bytes good = sealed(kSecret, kId, kBlob);
    const Trust trust(kRequire, {kSecret});
    const fs::path folder = scratch_.path() / "folder";
    const fs::path path = folder / "file";
    fs::create_directory(folder);
    ASSERT_EQ(0, chmod(folder.c_str(), 0755));
    ASSERT_EQ(INGOT_SUCCESS, open_file(path).put_sealed(kId, good));
    const Bytes before = read_file(path);
    ASSERT_EQ(0, chmod(path.c_str(), 0666));
    const Held held = open_file(path, trust.get());
    EXPECT_EQ(INGOT_SUCCESS, held.load(kId));
    EXPECT_EQ(INGOT_READ_ONLY, held.put(kId, kBlob));
    EXPECT_EQ(INGOT_READ_ONLY, held.remove(kId));
    EXPECT_EQ(before, read_file(path));
    EXPECT_EQ(1, std::distance(fs::directory_iterator(folder), fs::directory_iterator())) << "nothing is left there";
    if (geteuid() == 0) {
        ASSERT_EQ(0, chmod(path.c_str(), 0600));
        ASSERT_EQ(0, chown(path.c_str(), 65534, 65534));
        EXPECT_EQ(INGOT_SUCCESS, held.load(kId));
        EXPECT_EQ(INGOT_READ_ONLY, held.put(kId, kBlob));
        EXPECT_EQ(INGOT_READ_ONLY, held.remove(kId));
        EXPECT_EQ(before, read_file(path));
        ASSERT_EQ(0, chown(path.c_str(), 0, 0));
    }
    ASSERT_EQ(0, chmod(path.c_str(), 0600));
    EXPECT_EQ(INGOT_SUCCESS, held.put(kId, random_bytes(2, 50))) << "the user's own";
    EXPECT_EQ(INGOT_SUCCESS, held.remove(kId));
    EXPECT_FALSE(fs::exists(path));
    ASSERT_EQ(0, chmod(folder.c_str(), 0777));
    EXPECT_EQ(INGOT_READ_ONLY, held.put(kId, kBlob)) << "others may make files there";
    ASSERT_EQ(0, chmod(folder.c_str(), 0755));
    EXPECT_EQ(INGOT_SUCCESS, held.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, held.load(kId));
}

TEST_F(PersistTrustCopy, AReadOnlyStoreOpensNoFileForWriting)
{
    const Trust trust(kRequire, {kSecret});
    ingot_persist_info_t info = info_at(root_);
    info.eviction = INGOT_PERSIST_EVICT_LRU;
    info.trust = trust.get();
    {
        const Store writer(info);
        ASSERT_EQ(INGOT_SUCCESS, writer.put(kId, kBlob)) << ingot_last_error_detail();
    }
    const fs::path blob = entries_of(root_).at(0) / "kernel.bin";
    set_time_of(blob.parent_path(), 1000000000);
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(watch, 0);
    ASSERT_GE(inotify_add_watch(watch, blob.c_str(), IN_CLOSE_WRITE | IN_ATTRIB), 0);
    info.flags = INGOT_PERSIST_READ_ONLY;
    {
        const Store reader(info);
        EXPECT_EQ(INGOT_SUCCESS, reader.load(kId)) << ingot_last_error_detail();
    }
    char event[4096];
    EXPECT_EQ(-1, read(watch, event, sizeof(event))) << "kernel.bin was open for writing, or its time was changed";
    EXPECT_EQ(EAGAIN, errno);
    close(watch);
}

TEST_F(PersistTrustCopy, ARefusalKeepsItsReasonWhateverTheCallbackDoes)
{
    const Trust trust(kRequire, {kSecret});
    ingot_persist_info_t info = info_at(root_);
    (void)filled_directory(root_, kId, kBlob);
    info.trust = trust.get();
    info.on_event = [](const ingot_event_t *event, void *) {
        if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
            ingot_storage_retain(nullptr); /* fails, and sets another error detail */
    };
    const Store store(info);
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId));
    EXPECT_NE(nullptr, std::strstr(ingot_last_error_detail(), "without a seal")) << ingot_last_error_detail();
}

TEST_F(PersistTrustCopy, AFileOfAnyOwnerIsReadUpToALimit)
{
    constexpr uint64_t kLarge = (uint64_t(256) << 20) + 1;
    const Trust trust(kRequire, {kSecret});
    ingot_persist_info_t info = info_at(root_);
    (void)filled_directory(root_, kId, sealed(kSecret, kId, kBlob));
    struct key_file key = key_file_of(kId.size(), kId.data(), kBlob.size(), kBlob.data(), 1);
    key.blob_size_bytes = kLarge;
    Bytes file(KEY_FILE_HEADER_SIZE);
    key_file_encode(&key, file.data());
    file.insert(file.end(), kId.begin(), kId.end());
    const fs::path entry = entries_of(root_).at(0);
    write_file(entry / "key.bin", file);
    ASSERT_EQ(0, truncate((entry / "kernel.bin").c_str(), kLarge)) << "a sparse file";
    const std::string single = scratch_.path() / "file";
    write_file(single, file);
    ASSERT_EQ(0, truncate(single.c_str(), static_cast<off_t>(file.size() + kLarge)));
    info.trust = trust.get();
    info.flags = INGOT_PERSIST_READ_ONLY;
    const Store store(info);
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId));
    EXPECT_NE(nullptr, std::strstr(ingot_last_error_detail(), "256 MiB")) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_UNTRUSTED, open_file(single, trust.get()).load(kId)) << ingot_last_error_detail();
}

TEST_F(PersistTrustCopy, ABundleOfAnyOwnerIsReadUpToALimit)
{
    constexpr uint64_t kLarge = (uint64_t(256) << 20) + 8;
    const std::string path = scratch_.path() / "bundle";
    const Trust trust(kRequire, {kSecret});
    bundle_record record = {};
    record.hash = checksum_bucket_of(kId.size(), kId.data());
    record.id_offset = BUNDLE_HEADER_SIZE;
    record.id_size = kId.size();
    record.blob_offset = BUNDLE_HEADER_SIZE + (kId.size() + BUNDLE_ALIGNMENT - 1) / BUNDLE_ALIGNMENT * BUNDLE_ALIGNMENT;
    record.blob_size = kLarge;
    Bytes index(BUNDLE_RECORD_SIZE);
    bundle_file_encode_record(&record, index.data());
    const checksum index_checksum = checksum_of(index.size(), index.data());
    Bytes begin(BUNDLE_HEADER_SIZE);
    bundle_file_encode_header(begin.data(), 1, record.blob_offset + kLarge, 1, &index_checksum);
    begin.insert(begin.end(), kId.begin(), kId.end());
    write_file(path, begin);
    ASSERT_EQ(0, truncate(path.c_str(), static_cast<off_t>(record.blob_offset + kLarge))) << "a sparse file";
    std::ofstream(path, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char *>(index.data()), static_cast<std::streamsize>(index.size()));
    const Held bundle = open_bundle(path, trust.get());
    const auto load = [](const ingot_persist_entry_t *entry, void *user) {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_SUCCESS, entry->status) << entry->reason;
        EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_load_entry(static_cast<ingot_storage_t>(user), entry, 0, &blob));
        EXPECT_NE(nullptr, std::strstr(ingot_last_error_detail(), "256 MiB")) << ingot_last_error_detail();
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(bundle.get(), load, bundle.get()));
}

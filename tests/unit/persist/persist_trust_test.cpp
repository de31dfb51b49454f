/*
 * Tests storages that seal blobs and check seals: what each kind of storage accepts and refuses with each policy.
 */
#include <ingot/private/trust.h>

#include "support/failing_allocator.h"
#include "support/threads.h"
#include "support/trust_fixture.h"

using namespace store_fixture;
using namespace trust_fixture;
using PersistTrust = StoreTest;

namespace
{

constexpr uid_t kNobody = 65534;
const Bytes kId = bytes_of("an id");
const Bytes kOtherId = bytes_of("another id");
const Bytes kBlob = random_bytes(1, 100);

/* Returns the public key of kSigning, for storages that cannot seal. */
Key public_key()
{
    ScratchDirectory scratch;
    const fs::path path = scratch.path() / "key";
    std::string text = "ingot key 1\nalgorithm: ed25519\nkind: secret\nid: ";
    static const char digits[] = "0123456789abcdef";
    const auto hex = [](const uint8_t *bytes, size_t size) {
        std::string result;
        for (size_t i = 0; i < size; ++i)
            result += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        return result;
    };
    const Bytes envelope = sealed(kSigning, kId, kBlob);
    text += hex(envelope.data() + 16, 16) + "\nkey: " + hex(kSigning.bytes.data(), 32) + "\n";
    write_file(path, bytes_of(text));
    ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_key_describe(path.c_str(), &info)) << ingot_last_error_detail();
    return {INGOT_PERSIST_KEY_ED25519_PUBLIC, Bytes(info.public_key, info.public_key + sizeof(info.public_key))};
}

} // namespace

TEST_F(PersistTrust, EveryKindOfStorageFollowsItsPolicy)
{
    struct Case {
        const char *name;
        Bytes bytes;
        ingot_status_t verified;
        ingot_status_t required;
    };
    const std::vector<Case> cases = {
        {"not sealed", kBlob, INGOT_SUCCESS, INGOT_UNTRUSTED},
        {"by the secret", sealed(kSecret, kId, kBlob), INGOT_SUCCESS, INGOT_SUCCESS},
        {"signed", sealed(kSigning, kId, kBlob), INGOT_SUCCESS, INGOT_SUCCESS},
        {"by a key that is not known", sealed(kOther, kId, kBlob), INGOT_UNTRUSTED, INGOT_UNTRUSTED},
        {"for another id", sealed(kSecret, kOtherId, kBlob), INGOT_UNTRUSTED, INGOT_UNTRUSTED},
        {"signed for another id", sealed(kSigning, kOtherId, kBlob), INGOT_UNTRUSTED, INGOT_UNTRUSTED},
        {"changed", flipped(sealed(kSecret, kId, kBlob), kSealSize), INGOT_UNTRUSTED, INGOT_UNTRUSTED},
    };
    for (const Kind &kind : kinds()) {
        if (std::string(kind.name) == "chain")
            continue; /* the first load would store the blob in its first tier */
        for (const Case &each : cases) {
            SCOPED_TRACE(std::string(kind.name) + ", " + each.name);
            ScratchDirectory scratch;
            Kept kept;
            const Held storage = kind.make(scratch.path(), kept, kId, each.bytes);
            Bytes loaded;
            EXPECT_EQ(INGOT_SUCCESS, storage.load(kId, &loaded));
            EXPECT_EQ(kBlob.size(), loaded.size()) << "a seal is opened without a policy, too";
            for (const auto &[policy, expected] : {std::pair{kVerify, each.verified}, {kRequire, each.required}}) {
                ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(policy, {kSecret, kSigning})));
                const uint64_t distrusted = storage.stats().distrusted;
                loaded.clear();
                EXPECT_EQ(expected, storage.load(kId, &loaded)) << ingot_last_error_detail();
                EXPECT_EQ(expected == INGOT_SUCCESS ? kBlob : Bytes(), loaded);
                EXPECT_EQ(distrusted + (expected == INGOT_SUCCESS ? 0 : 1), storage.stats().distrusted);
            }
            EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(storage.get(), nullptr));
            EXPECT_EQ(INGOT_SUCCESS, storage.load(kId));
        }
    }
}

TEST_F(PersistTrust, RefusesEveryChangedByteAndEveryTruncation)
{
    const Bytes blob = random_bytes(5, 40);
    for (const Key &key : {kSecret, kSigning}) {
        const Bytes right = sealed(key, kId, blob);
        ASSERT_EQ(kSealSize + blob.size(), right.size());
        Kept kept;
        const Held storage = kept.open();
        ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {key})));
        for (size_t at = 0; at < right.size(); ++at) {
            kept.blobs[kId] = flipped(right, at);
            EXPECT_EQ(INGOT_UNTRUSTED, storage.load(kId)) << "byte " << at;
        }
        for (size_t size = 0; size < right.size(); ++size) {
            kept.blobs[kId] = Bytes(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_EQ(INGOT_UNTRUSTED, storage.load(kId)) << size << " bytes";
        }
        kept.blobs[kId] = right;
        kept.blobs[kId].push_back(0);
        EXPECT_EQ(INGOT_UNTRUSTED, storage.load(kId));
        for (size_t at = 0; at < kId.size(); ++at) {
            kept.blobs = {{flipped(kId, at), right}};
            EXPECT_EQ(INGOT_UNTRUSTED, storage.load(flipped(kId, at))) << "byte " << at << " of the id";
        }
        const ingot_persist_stats_t refusals = storage.stats();
        EXPECT_EQ(2 * right.size() + 1 + kId.size(), refusals.distrusted);
        EXPECT_EQ(refusals.distrusted, refusals.untrusted);
        EXPECT_EQ(refusals.distrusted, refusals.misses);
        EXPECT_EQ(refusals.distrusted, refusals.failures);
        EXPECT_EQ(0u, refusals.hits);
        kept.blobs = {{kId, right}};
        Bytes loaded;
        EXPECT_EQ(INGOT_SUCCESS, storage.load(kId, &loaded));
        EXPECT_EQ(blob, loaded);
    }
}

TEST_F(PersistTrust, AnOpenReaderRefusesOnlyWhatItCannotOpen)
{
    Kept kept;
    const Held storage = kept.open();
    const Bytes right = sealed(kSecret, kId, kBlob);
    kept.blobs[kId] = flipped(right, 8);
    EXPECT_EQ(INGOT_BLOB_VERSION, storage.load(kId));
    kept.blobs[kId] = Bytes(right.begin(), right.begin() + kSealSize);
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, storage.load(kId));
    kept.blobs[kId] = flipped(right, 12); /* an algorithm that a later library may have */
    EXPECT_EQ(INGOT_SUCCESS, storage.load(kId));
}

TEST_F(PersistTrust, SealsWithTheFirstKeyThatCan)
{
    Kept kept;
    const Held storage = kept.open();
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {public_key(), kSecret, kOther})));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kId, kBlob));
    EXPECT_EQ(sealed(kSecret, kId, kBlob), kept.blobs[kId]);
    EXPECT_EQ(INGOT_SUCCESS, storage.put(kId, sealed(kOther, kId, kBlob)));
    EXPECT_EQ(sealed(kOther, kId, kBlob), kept.blobs[kId]) << "what is sealed keeps its seal";
    EXPECT_EQ(INGOT_UNTRUSTED, storage.put(kId, sealed(secret_key(9), kId, kBlob)));
    EXPECT_EQ(INGOT_UNTRUSTED, storage.put(kId, sealed(kSecret, kOtherId, kBlob)));
    EXPECT_EQ(sealed(kOther, kId, kBlob), kept.blobs[kId]);
    EXPECT_EQ(2u, storage.stats().untrusted);
}

TEST_F(PersistTrust, StoresNothingIfItRequiresSealsAndCannotSeal)
{
    Kept kept;
    const Held storage = kept.open();
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {public_key()})));
    EXPECT_EQ(INGOT_READ_ONLY, storage.put(kId, kBlob));
    EXPECT_TRUE(kept.blobs.empty());
    EXPECT_EQ(INGOT_SUCCESS, storage.put(kId, sealed(kSigning, kId, kBlob)));
    EXPECT_EQ(INGOT_SUCCESS, storage.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kVerify, {public_key()})));
    EXPECT_EQ(INGOT_SUCCESS, storage.put(kId, kBlob));
    EXPECT_EQ(kBlob, kept.blobs[kId]);
}

TEST_F(PersistTrust, KeysAreReplacedInThreeSteps)
{
    Kept kept;
    const Held storage = kept.open();
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kSecret})));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kId, kBlob));
    const Bytes old_seal = kept.blobs[kId];
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kSecret, kOther})));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kId, kBlob));
    EXPECT_EQ(old_seal, kept.blobs[kId]) << "until all readers have the new key, the old one seals";
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kOther, kSecret})));
    EXPECT_EQ(INGOT_SUCCESS, storage.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kOtherId, kBlob));
    EXPECT_EQ(sealed(kOther, kOtherId, kBlob), kept.blobs[kOtherId]);
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kOther})));
    EXPECT_EQ(INGOT_UNTRUSTED, storage.load(kId)) << "the old key was removed";
    EXPECT_EQ(INGOT_SUCCESS, storage.load(kOtherId));
}

TEST_F(PersistTrust, RefusesPoliciesThatMakeNoSense)
{
    Kept kept;
    const Held storage = kept.open();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, storage.trust(Trust(kRequire, {})));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, storage.trust(Trust(static_cast<ingot_persist_trust_policy_t>(3), {kSecret})));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, storage.trust(Trust(kRequire, std::vector<Key>(17, kSecret))));
    EXPECT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, std::vector<Key>(16, kSecret))));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, storage.trust(Trust(kRequire, {{INGOT_PERSIST_KEY_BLAKE2B, Bytes(32)}})));
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_trust(storage.get(), &trust));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_trust(nullptr, nullptr));
    trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = kVerify;
    trust.next_key = [](size_t, ingot_persist_key_t *, void *) { return INGOT_BUSY; };
    EXPECT_EQ(INGOT_BUSY, ingot_persist_set_trust(storage.get(), &trust)) << "the callback's own failure";
    trust.next_key = [](size_t, ingot_persist_key_t *key, void *) {
        const int unknown = 4;
        std::memcpy(&key->kind, &unknown, sizeof(key->kind));
        std::memset(key->bytes, 1, sizeof(key->bytes));
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_trust(storage.get(), &trust));
    EXPECT_EQ(INGOT_UNTRUSTED, [&] {
        kept.blobs[kId] = kBlob;
        return storage.load(kId);
    }()) << "the last policy that was accepted stays";
}

TEST_F(PersistTrust, AChainNeverSealsWhatATierHad)
{
    for (const bool is_nested : {false, true}) {
        ScratchDirectory scratch;
        const Held lower(filled_directory(scratch.path() / "store", kId, kBlob));
        Kept kept;
        const Held sealing = kept.open();
        ASSERT_EQ(INGOT_SUCCESS, sealing.trust(Trust(kRequire, {kSecret})));
        const Held forwarding = chain_of({sealing.get()});
        const Held held = chain_of({is_nested ? forwarding.get() : sealing.get(), lower.get()});
        ASSERT_EQ(INGOT_UNTRUSTED, held.load(kId)) << "what the first tier would refuse, the next one does not bring";
        EXPECT_TRUE(kept.blobs.empty()) << is_nested;
        EXPECT_EQ(1u, lower.stats().distrusted);
        EXPECT_EQ(0u, sealing.stats().untrusted);
        ASSERT_EQ(INGOT_SUCCESS, held.put(kOtherId, kBlob));
        EXPECT_EQ(sealed(kSecret, kOtherId, kBlob), kept.blobs[kOtherId]) << "but what the process made";
    }
}

TEST_F(PersistTrust, AChainAsksTheNextTierForWhatOneRefuses)
{
    Kept bad_kept, good_kept;
    bad_kept.blobs[kId] = sealed(kOther, kId, kBlob);
    good_kept.blobs[kId] = sealed(kSecret, kId, kBlob);
    const Held bad = bad_kept.open();
    const Held good = good_kept.open();
    ASSERT_EQ(INGOT_SUCCESS, bad.trust(Trust(kRequire, {kSecret})));
    const Held held = chain_of({bad.get(), good.get()});
    ASSERT_EQ(INGOT_SUCCESS, held.trust(Trust(kRequire, {kSecret})));
    EXPECT_EQ(INGOT_SUCCESS, held.load(kId));
    EXPECT_EQ(good_kept.blobs[kId], bad_kept.blobs[kId]) << "and replaces the refused one";
    EXPECT_EQ(1u, bad.stats().distrusted);
    EXPECT_EQ(1u, held.stats().distrusted);
}

TEST_F(PersistTrust, ADirectoryTellsItsOwnCallbackWhy)
{
    std::string reason;
    ingot_persist_info_t info = info_at(root_);
    const Trust trust(kRequire, {kSecret});
    info.trust = trust.get();
    info.on_event = [](const ingot_event_t *event, void *user) {
        if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
            *static_cast<std::string *>(user) = event->reason;
    };
    info.on_event_user = &reason;
    const Held plain(filled_directory(root_, kId, kBlob));
    Store store(info);
    ASSERT_EQ(INGOT_SUCCESS, store.status()) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId));
    EXPECT_NE(std::string::npos, reason.find("without a seal")) << reason;
    ASSERT_EQ(INGOT_SUCCESS, plain.put_sealed(kId, sealed(kOther, kId, kBlob)));
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId));
    EXPECT_NE(std::string::npos, reason.find("is not one of the storage's keys")) << reason;
}

TEST_F(PersistTrust, ReadsAForeignStoreInWhichEveryBlobMustBeSealed)
{
    {
        const Held writer(filled_directory(root_, kId, sealed(kSigning, kId, kBlob)));
        ASSERT_EQ(INGOT_SUCCESS, writer.put(kOtherId, kBlob));
    }
    for (const auto &item : fs::recursive_directory_iterator(root_))
        ASSERT_EQ(0, chmod(item.path().c_str(), 0777));
    ASSERT_EQ(0, chmod(root_.c_str(), 0777));
    if (geteuid() == 0) {
        for (const auto &item : fs::recursive_directory_iterator(root_))
            ASSERT_EQ(0, chown(item.path().c_str(), kNobody, kNobody));
        ASSERT_EQ(0, chown(root_.c_str(), kNobody, kNobody));
    }
    const Trust trust(kRequire, {public_key()});
    ingot_persist_info_t info = info_at(root_);
    for (const auto policy : {kNone, kVerify}) {
        const Trust weak(policy, {public_key()});
        info.trust = weak.get();
        info.flags = INGOT_PERSIST_READ_ONLY;
        EXPECT_EQ(INGOT_UNTRUSTED, Store(info).status());
    }
    info.trust = trust.get();
    info.flags = 0;
    EXPECT_EQ(INGOT_UNTRUSTED, Store(info).status()) << "it is not written";
    info.flags = INGOT_PERSIST_READ_ONLY;
    Store store(info);
    ASSERT_EQ(INGOT_SUCCESS, store.status()) << ingot_last_error_detail();
    Bytes loaded;
    EXPECT_EQ(INGOT_SUCCESS, store.load(kId, &loaded)) << ingot_last_error_detail();
    EXPECT_EQ(kBlob, loaded);
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kOtherId));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_trust(store.get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_trust(store.get(), Trust(kVerify, {kSecret}).get()));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(store.get(), Trust(kRequire, {kSecret}).get()));
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId));
}

TEST_F(PersistTrust, ReadsForeignFilesInWhichEveryBlobMustBeSealed)
{
    const std::string bundle_path = scratch_.path() / "bundle";
    const std::string file_path = scratch_.path() / "file";
    Kept kept;
    for (const Kind &kind : kinds()) /* also leaves a bundle and a file in the folder */
        (void)kind.make(scratch_.path(), kept, kId, sealed(kSigning, kId, kBlob));
    using Open = ingot_status_t (*)(ingot_storage_t *, const char *, const ingot_persist_trust_t *);
    for (const auto &[open, path] :
         {std::pair<Open, std::string>{ingot_persist_open_bundle, bundle_path}, {ingot_persist_open_file, file_path}}) {
        ASSERT_EQ(0, chmod(path.c_str(), 0666));
        if (geteuid() == 0) {
            ASSERT_EQ(0, chown(path.c_str(), kNobody, kNobody));
        }
        ingot_storage_t storage = nullptr;
        ingot_status_t status = open(&storage, path.c_str(), Trust(kVerify, {public_key()}).get());
        if (status == INGOT_SUCCESS) /* a single file is not opened before its first load */
            status = Held(storage).load(kId);
        EXPECT_EQ(INGOT_UNTRUSTED, status) << path;
        ASSERT_EQ(INGOT_SUCCESS, open(&storage, path.c_str(), Trust(kRequire, {public_key()}).get())) << path;
        const Held held(storage);
        Bytes loaded;
        EXPECT_EQ(INGOT_SUCCESS, held.load(kId, &loaded)) << ingot_last_error_detail();
        EXPECT_EQ(kBlob, loaded);
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_set_trust(storage, nullptr));
        ASSERT_EQ(INGOT_SUCCESS, held.trust(Trust(kRequire, {kOther})));
        EXPECT_EQ(INGOT_UNTRUSTED, held.load(kId));
    }
}

TEST_F(PersistTrust, EntriesAreVerifiedLoadedAndBundledWithTheirSeals)
{
    const Held storage(filled_directory(root_, kId, sealed(kSecret, kId, kBlob)));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kOtherId, kBlob));
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kSecret})));
    ingot_persist_verification_t found = verified(storage);
    EXPECT_EQ(2u, found.done_count);
    EXPECT_EQ(1u, found.foreign_count);
    EXPECT_EQ(0u, found.bad_count);

    struct Visit {
        ingot_storage_t storage;
        unsigned accepted;
        unsigned refused;
    } seen = {storage.get(), 0, 0};
    const auto visit = [](const ingot_persist_entry_t *entry, void *user) {
        auto *so_far = static_cast<Visit *>(user);
        ingot_buffer_t plain = INGOT_BUFFER_INIT;
        ingot_buffer_t envelope = INGOT_BUFFER_INIT;
        const ingot_status_t status = ingot_persist_load_entry(so_far->storage, entry, 0, &plain);
        EXPECT_EQ(status, ingot_persist_load_entry(so_far->storage, entry, 1, &envelope));
        if (status == INGOT_SUCCESS) {
            EXPECT_EQ(kBlob, Bytes(plain.bytes, plain.bytes + plain.size));
            EXPECT_EQ(sealed(kSecret, kId, kBlob), Bytes(envelope.bytes, envelope.bytes + envelope.size));
            plain.release(&plain);
            envelope.release(&envelope);
            ++so_far->accepted;
        }
        so_far->refused += status == INGOT_UNTRUSTED;
        return INGOT_SUCCESS;
    };
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_for_each(storage.get(), visit, &seen));
    EXPECT_EQ(1u, seen.accepted);
    EXPECT_EQ(1u, seen.refused);

    uint64_t count = 0;
    const std::string path = scratch_.path() / "bundle";
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(storage.get(), path.c_str(), nullptr, nullptr, &count));
    EXPECT_EQ(1u, count) << "what is refused is left out";
    const Held bundle = open_bundle(path, Trust(kRequire, {kSecret}).get());
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(kId));
    seen = {bundle.get(), 0, 0};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_for_each(bundle.get(), visit, &seen));
    EXPECT_EQ(1u, seen.accepted);
    ASSERT_EQ(INGOT_SUCCESS, bundle.trust(Trust(kRequire, {kOther})));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_verify(bundle.get(), 0, nullptr, nullptr, &found));
    EXPECT_EQ(1u, found.foreign_count);
}

TEST_F(PersistTrust, FailsCleanlyAtEveryAllocation)
{
    const Trust trust(kRequire, {kSecret});
    (void)Held(filled_directory(root_, kId, sealed(kSecret, kId, kBlob)));
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n);
        ingot_persist_info_t info = info_at(root_);
        info.allocator = allocator.table();
        info.trust = trust.get();
        bool is_done = false;
        {
            Store store(info);
            ingot_status_t status = store.status();
            if (status == INGOT_SUCCESS)
                status = store.load(kId);
            if (status == INGOT_SUCCESS)
                status = store.put(kId, random_bytes(n, 50));
            is_done = !allocator.failed();
            EXPECT_EQ(is_done ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY, status) << n << ": " << ingot_last_error_detail();
            if (store.status() == INGOT_SUCCESS) {
                allocator.stop_failing();
                ASSERT_EQ(INGOT_SUCCESS, store.put(kId, kBlob));
            }
        }
        ASSERT_EQ(0u, allocator.live_count()) << n;
        if (is_done)
            return;
    }
}

TEST_F(PersistTrust, KeysAreExchangedWhileThreadsLoadAndStore)
{
    Kept kept;
    const Held storage = kept.open();
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kSecret, kOther})));
    ASSERT_EQ(INGOT_SUCCESS, storage.put(kId, kBlob));
    std::atomic<bool> is_ended{false};
    std::atomic<unsigned> failures{0};
    Threads threads;
    for (int i = 0; i < 2; ++i)
        threads.start([&] {
            while (!is_ended)
                failures += storage.load(kId) != INGOT_SUCCESS || storage.put(kId, kBlob) != INGOT_SUCCESS;
        });
    for (int i = 0; i < 200; ++i)
        EXPECT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, i % 2 == 0 ? std::vector<Key>{kOther, kSecret}
                                                                          : std::vector<Key>{kSecret, kOther})));
    is_ended = true;
    threads.join();
    EXPECT_EQ(0u, failures);
}

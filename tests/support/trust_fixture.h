/*
 * trust_fixture.h - keys and policies, and a custom storage whose bytes a test can read and change.
 */
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/persist.h>

#include "support/held_storage.h"
#include "support/store_fixture.h"

namespace trust_fixture
{

using store_fixture::Bytes;

struct Key {
    ingot_persist_key_kind_t kind;
    Bytes bytes;
};

inline Key secret_key(uint64_t seed)
{
    return {INGOT_PERSIST_KEY_BLAKE2B, random_bytes(seed, INGOT_PERSIST_KEY_SIZE)};
}

inline Key signing_key(uint64_t seed)
{
    return {INGOT_PERSIST_KEY_ED25519_SECRET, random_bytes(seed, INGOT_PERSIST_KEY_SIZE)};
}

/* A policy whose keys come from a callback. */
class Trust : NotCopied
{
public:
    Trust(ingot_persist_trust_policy_t policy, std::vector<Key> keys) : keys_(std::move(keys))
    {
        trust_.policy = policy;
        trust_.next_key = next_key;
        trust_.user = &keys_;
    }
    const ingot_persist_trust_t *get() const { return &trust_; }

private:
    static ingot_status_t next_key(size_t index, ingot_persist_key_t *key, void *user)
    {
        const auto &keys = *static_cast<const std::vector<Key> *>(user);
        if (index >= keys.size())
            return INGOT_NOT_FOUND;
        key->kind = keys[index].kind;
        std::memcpy(key->bytes, keys[index].bytes.data(), INGOT_PERSIST_KEY_SIZE);
        return INGOT_SUCCESS;
    }

    std::vector<Key> keys_;
    ingot_persist_trust_t trust_ = INGOT_PERSIST_TRUST_INIT;
};

using ::Kept;
using Held = HeldStorage;

/* Most tests use these. */
constexpr auto kNone = INGOT_PERSIST_TRUST_NONE;
constexpr auto kVerify = INGOT_PERSIST_TRUST_VERIFY;
constexpr auto kRequire = INGOT_PERSIST_TRUST_REQUIRE;
constexpr size_t kSealSize = 128;
const Key kSecret = secret_key(1);
const Key kOther = secret_key(2);
const Key kSigning = signing_key(3);

inline Bytes flipped(Bytes bytes, size_t at)
{
    bytes[at] ^= 0x10;
    return bytes;
}

/* Returns the blob with a seal that was made with this key. */
inline Bytes sealed(const Key &key, const Bytes &id, const Bytes &blob)
{
    Kept kept;
    const HeldStorage storage = kept.open();
    EXPECT_EQ(INGOT_SUCCESS, storage.trust(Trust(INGOT_PERSIST_TRUST_VERIFY, {key})));
    EXPECT_EQ(INGOT_SUCCESS, storage.put(id, blob));
    return kept.blobs[id];
}

/* A directory store that has these bytes for an id. */
inline HeldStorage filled_directory(const std::filesystem::path &path, const Bytes &id, const Bytes &bytes)
{
    HeldStorage storage = open_directory(path);
    EXPECT_EQ(INGOT_SUCCESS, storage.put_sealed(id, bytes));
    return storage;
}

/* A kind of storage. `make` makes one, without a policy, that has these bytes for an id. */
struct Kind {
    const char *name;
    std::function<HeldStorage(const std::filesystem::path &folder, Kept &kept, const Bytes &id, const Bytes &bytes)>
        make;
};

inline const std::vector<Kind> &kinds()
{
    using Folder = std::filesystem::path;
    static const std::vector<Kind> all = {
        {"directory", [](const Folder &folder, Kept &, const Bytes &id,
                         const Bytes &bytes) { return filled_directory(folder / "tier", id, bytes); }},
        {"bundle",
         [](const Folder &folder, Kept &, const Bytes &id, const Bytes &bytes) {
             return bundle_of(filled_directory(folder / "tier", id, bytes), folder / "bundle");
         }},
        {"single file",
         [](const Folder &folder, Kept &, const Bytes &id, const Bytes &bytes) {
             HeldStorage file = open_file(folder / "file");
             EXPECT_EQ(INGOT_SUCCESS, file.put_sealed(id, bytes));
             return file;
         }},
        {"custom",
         [](const Folder &, Kept &kept, const Bytes &id, const Bytes &bytes) {
             kept.blobs = {{id, bytes}};
             return kept.open();
         }},
        {"chain",
         [](const Folder &folder, Kept &kept, const Bytes &id, const Bytes &bytes) {
             kept.blobs = {{id, bytes}};
             return chain_of({open_directory(folder / "empty").get(), kept.open().get()});
         }},
        {"chain in a chain in a chain",
         [](const Folder &folder, Kept &, const Bytes &id, const Bytes &bytes) {
             const HeldStorage store = filled_directory(folder / "tier", id, bytes);
             return chain_of({chain_of({chain_of({store.get()}).get()}).get()});
         }},
    };
    return all;
}

} // namespace trust_fixture

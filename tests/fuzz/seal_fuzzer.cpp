/*
 * seal_fuzzer.cpp - loads any bytes as a sealed blob, with the keys of the golden seals and each policy.
 *
 * If the policy requires a seal, only the golden seals may be accepted. If it verifies seals, bytes without a seal are
 * accepted too. Without a policy, the blob is what follows the seal. Each input is also tried after the beginning of a
 * golden seal: its magic, its version and its key's id.
 */
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <ingot/persist.h>

extern "C" {
#include "persist/trust/seal.h"
}
#include "support/not_copied.h"

namespace
{

using Bytes = std::vector<uint8_t>;

const uint8_t kId[] = {'g', 'o', 'l', 'd', 'e', 'n', ' ', 'i', 'd', ' ', 0x00, 0x01, 0xff};

Bytes golden(const char *name)
{
    std::ifstream file(std::string(INGOT_SOURCE_DIR "/tests/golden/seal/") + name, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

/* A storage with a policy. It returns the same bytes for every id. */
class Keeping : NotCopied
{
public:
    explicit Keeping(ingot_persist_trust_policy_t policy)
    {
        ingot_storage_ops_t ops{};
        ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
        ops.struct_size = sizeof(ops);
        ops.load = load;
        trust.policy = policy;
        trust.next_key = next_key;
        if (ingot_storage_create(&storage_, &ops, this) != INGOT_SUCCESS ||
            ingot_persist_set_trust(storage_, &trust) != INGOT_SUCCESS)
            abort();
    }
    ~Keeping() { ingot_storage_release(storage_); }

    /* Loads with these bytes in the storage. Returns true if a blob was returned. */
    bool load(const Bytes &bytes, Bytes *blob)
    {
        ingot_buffer_t buffer = INGOT_BUFFER_INIT;
        bytes_ = bytes;
        if (ingot_storage_load(storage_, sizeof(kId), kId, &buffer) != INGOT_SUCCESS)
            return false;
        blob->assign(buffer.bytes, buffer.bytes + buffer.size);
        buffer.release(&buffer);
        return true;
    }

private:
    static ingot_status_t load(void *self, size_t, const uint8_t *, ingot_buffer_t *blob)
    {
        const Bytes &bytes = static_cast<const Keeping *>(self)->bytes_;
        auto *copy = static_cast<uint8_t *>(std::malloc(bytes.size() + 1));
        if (copy == nullptr)
            abort();
        std::copy(bytes.begin(), bytes.end(), copy);
        const auto release = [](ingot_buffer_t *buffer) { std::free(const_cast<uint8_t *>(buffer->bytes)); };
        *blob = {bytes.size(), copy, release, nullptr};
        return INGOT_SUCCESS;
    }
    /* Supplies the two keys of the golden seals. The bytes of each key are 0, 1, 2, ... */
    static ingot_status_t next_key(size_t index, ingot_persist_key_t *key, void *)
    {
        if (index >= 2)
            return INGOT_NOT_FOUND;
        key->kind = index == 0 ? INGOT_PERSIST_KEY_BLAKE2B : INGOT_PERSIST_KEY_ED25519_SECRET;
        for (size_t i = 0; i < sizeof(key->bytes); ++i)
            key->bytes[i] = static_cast<uint8_t>(i);
        return INGOT_SUCCESS;
    }

    Bytes bytes_;
    ingot_storage_t storage_ = nullptr;
};

void check(const Bytes &bytes)
{
    static Keeping open(INGOT_PERSIST_TRUST_NONE);
    static Keeping verifying(INGOT_PERSIST_TRUST_VERIFY);
    static Keeping requiring(INGOT_PERSIST_TRUST_REQUIRE);
    static const Bytes by_secret = golden("blake2b.sealed");
    static const Bytes is_signed = golden("ed25519.sealed");
    static const Bytes right = golden("blob");
    const bool is_golden = !right.empty() && (bytes == by_secret || bytes == is_signed);
    const bool is_sealed = seal_is(bytes.size(), bytes.data());
    Bytes blob;
    if (requiring.load(bytes, &blob) != is_golden || (is_golden && blob != right))
        abort();
    if (verifying.load(bytes, &blob) != (is_golden || !is_sealed) || (!is_sealed && blob != bytes))
        abort();
    if (!open.load(bytes, &blob))
        return is_sealed ? void() : abort();
    if (is_sealed ? !std::equal(blob.begin(), blob.end(), bytes.begin() + SEAL_SIZE, bytes.end()) : blob != bytes)
        abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const Bytes bytes(data, data + size);
    check(bytes);
    for (const char *name : {"blake2b.sealed", "ed25519.sealed"}) {
        Bytes sealed = golden(name);
        sealed.resize(SEAL_AT_TAG);
        sealed.insert(sealed.end(), bytes.begin(), bytes.end());
        check(sealed);
    }
    return 0;
}

/*
 * startup_seals.cpp - measures how long checking the seal of a blob takes.
 */
#include "bench/startup_seals.h"

#include "bench/sample.h"
#include "bench/startup_programs.h"

#include <vector>

namespace startup
{

constexpr int kRounds = 51;

static ingot_status_t load(void *self, size_t, const uint8_t *, ingot_buffer_t *blob)
{
    const auto &bytes = *static_cast<const std::vector<uint8_t> *>(self);
    *blob = {bytes.size(), bytes.data(), nullptr, nullptr};
    return INGOT_SUCCESS;
}

static ingot_status_t store(void *self, size_t, const uint8_t *, size_t size, const uint8_t *blob)
{
    static_cast<std::vector<uint8_t> *>(self)->assign(blob, blob + size);
    return INGOT_SUCCESS;
}

static ingot_status_t next_key(size_t index, ingot_persist_key_t *key, void *user)
{
    if (index != 0)
        return INGOT_NOT_FOUND;
    key->kind = *static_cast<const ingot_persist_key_kind_t *>(user);
    for (size_t i = 0; i < sizeof(key->bytes); ++i)
        key->bytes[i] = static_cast<uint8_t>(i + 1);
    return INGOT_SUCCESS;
}

double check_seal_us(ingot_persist_key_kind_t kind, size_t id_size, const uint8_t *id, const ingot_buffer_t &blob)
{
    std::vector<uint8_t> kept;
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.load = load;
    ops.store = store;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.next_key = next_key;
    trust.user = &kind;
    require_ingot(ingot_storage_create(&storage, &ops, &kept), "storage");
    require_ingot(ingot_persist_set_trust(storage, &trust), "trust");
    require_ingot(ingot_storage_store(storage, id_size, id, blob.size, blob.bytes), "seal");
    bench::Sample sample;
    for (int i = 0; i < kRounds; ++i) {
        ingot_buffer_t opened = INGOT_BUFFER_INIT;
        const bench::Clock::time_point start = bench::Clock::now();
        require_ingot(ingot_storage_load(storage, id_size, id, &opened), "sealed blob");
        sample.values.push_back(bench::microseconds_since(start));
        if (opened.release != nullptr)
            opened.release(&opened);
    }
    ingot_storage_release(storage);
    return sample.median();
}

} // namespace startup

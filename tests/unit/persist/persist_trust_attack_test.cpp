/*
 * Tests what an attacker with access to a store can do to a sealed blob. Each attack costs the user one compilation,
 * whose result replaces the forged blob. persist_trust_test.cpp changes every byte and length.
 */
#include "support/persist_session.h"
#include "support/trust_fixture.h"

using namespace store_fixture;
using namespace trust_fixture;

namespace
{

Bytes without_seal(const Bytes &kept)
{
    return Bytes(kept.begin() + kSealSize, kept.end());
}

class PersistTrustAttack : public testing::TestWithParam<ingot_persist_key_kind_t>
{
protected:
    static Key key(uint64_t seed)
    {
        return GetParam() == INGOT_PERSIST_KEY_BLAKE2B ? secret_key(seed) : signing_key(seed);
    }
    using Forgery = std::function<Bytes(const Bytes &id, const Bytes &kept)>;
    /* Lets an attacker replace a sealed blob with the result of `forge`. Expects that it is refused, and that the
     * program is compiled once. */
    void expect_refused_and_rebuilt(const Forgery &forge) const
    {
        const ScratchDirectory scratch;
        const fs::path root = scratch.path() / "store";
        const Store store(root);
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_persist_set_trust(store.get(), Trust(INGOT_PERSIST_TRUST_REQUIRE, {key(1)}).get()));
        const Session first;
        const Desc desc = first.describe();
        ASSERT_EQ(INGOT_ORIGIN_BUILD, first.create(desc, store));
        const Bytes id = id_of(desc);
        const Bytes forged = forge(id, read_file(entries_of(root).at(0) / "kernel.bin"));
        const Store attacker(root); /* this store does not check seals */
        ASSERT_EQ(INGOT_SUCCESS, attacker.remove(id));
        ASSERT_EQ(INGOT_SUCCESS, attacker.put_sealed(id, forged));
        const ingot_persist_stats_t before = store.stats();

        Session second;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, second.create(second.describe(), store));
        EXPECT_EQ(1u, second.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_UNTRUSTED));
        EXPECT_EQ(1u, second.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_UNTRUSTED));
        EXPECT_EQ(before.distrusted + 1, store.stats().distrusted);
        EXPECT_EQ(before.untrusted + 1, store.stats().untrusted);
        EXPECT_EQ(before.misses + 1, store.stats().misses);
        EXPECT_EQ(before.hits, store.stats().hits);
        Session third;
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, third.create(third.describe(), store));
        EXPECT_EQ(0u, third.seen.count(INGOT_EVENT_STORAGE_LOAD, INGOT_UNTRUSTED));
    }
};

} // namespace

TEST_P(PersistTrustAttack, IsRefusedAndCostsOneCompilation)
{
    const std::pair<const char *, Forgery> forgeries[] = {
        {"the last byte is changed", [](const Bytes &, const Bytes &kept) { return flipped(kept, kept.size() - 1); }},
        {"the seal is taken off", [](const Bytes &, const Bytes &kept) { return without_seal(kept); }},
        {"a right blob of another program is in its place",
         [](const Bytes &, const Bytes &kept) {
             return sealed(key(1), bytes_of("the id of another program"), without_seal(kept));
         }},
        {"it is sealed with a key that was removed",
         [](const Bytes &id, const Bytes &kept) { return sealed(key(2), id, without_seal(kept)); }},
    };
    for (const auto &[name, forge] : forgeries) {
        SCOPED_TRACE(name);
        expect_refused_and_rebuilt(forge);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PersistTrustAttack,
                         testing::Values(INGOT_PERSIST_KEY_BLAKE2B, INGOT_PERSIST_KEY_ED25519_SECRET));

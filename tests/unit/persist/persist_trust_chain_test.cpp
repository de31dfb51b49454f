/*
 * Tests that the policy of a storage also covers what stands behind it in a chain: whatever the tier is, and however a
 * program is loaded, a blob that the first storage would refuse does not run. And that every tier gets sealed blobs.
 */
#include "support/persist_session.h"
#include "support/trust_fixture.h"

using namespace store_fixture;
using namespace trust_fixture;

namespace
{

const Bytes id = bytes_of("an id");
const Bytes blob = random_bytes(1, 100);

/* A way to put a storage with a policy in front of a tier. */
struct Front {
    const char *name;
    std::function<Held(const fs::path &folder, const Trust &trust, ingot_storage_t tier)> make;
};

Held with_policy(Held storage, const Trust &trust)
{
    EXPECT_EQ(INGOT_SUCCESS, storage.trust(trust)) << ingot_last_error_detail();
    return storage;
}

const std::vector<Front> &fronts()
{
    static const std::vector<Front> all = {
        {"directory",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             return chain_of({with_policy(open_directory(folder / "store"), trust).get(), tier});
         }},
        {"second directory",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             return chain_of({open_directory(folder / "first").get(),
                              with_policy(open_directory(folder / "store"), trust).get(), tier});
         }},
        {"chain",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             return chain_of({chain_of({with_policy(open_directory(folder / "store"), trust).get()}).get(), tier});
         }},
        {"directory, turned off",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             const Held store = with_policy(open_directory(folder / "store"), trust);
             EXPECT_EQ(INGOT_SUCCESS, set_setting(store.get(), &ingot_persist_settings_t::is_off, 1));
             return chain_of({store.get(), tier});
         }},
        {"directory, far",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             const Held inner = chain_of({open_directory(folder / "between").get(), tier});
             return chain_of(
                 {chain_of({with_policy(open_directory(folder / "store"), trust).get(), inner.get()}).get()});
         }},
        {"policy of the chain",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             return with_policy(chain_of({open_directory(folder / "store").get(), tier}), trust);
         }},
        {"policy of the tier",
         [](const fs::path &folder, const Trust &trust, ingot_storage_t tier) {
             EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(tier, trust.get()));
             return chain_of({open_directory(folder / "store").get(), tier});
         }},
    };
    return all;
}

/* A program of the reference backend, and its blob with several seals. */
struct Target {
    Target()
    {
        Kept kept;
        const Held storage = kept.open();
        const Session session;
        EXPECT_EQ(INGOT_SUCCESS, request_through(session.describe(), storage.get()));
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage.get(), nullptr, nullptr));
        EXPECT_EQ(1u, kept.blobs.size());
        id = kept.blobs.begin()->first;
        plain = kept.blobs.begin()->second;
    }
    Bytes id;
    Bytes plain;
};

/* Returns true if a request for the program gets it from the storage, and false if it compiles it. */
bool runs(ingot_storage_t storage)
{
    const Session session;
    const ingot_origin_t origin = origin_of(session.describe(), storage);
    EXPECT_NE(INGOT_ORIGIN_MEMORY, origin);
    return origin == INGOT_ORIGIN_STORAGE;
}

} // namespace

TEST(PersistTrustChain, NoTierBringsWhatTheFirstStorageWouldRefuse)
{
    const Target target;
    struct Case {
        const char *name;
        Bytes bytes;
        bool is_accepted[3]; /* indexed by the policy */
    };
    const std::vector<Case> cases = {
        {"not sealed", target.plain, {true, true, false}},
        {"sealed by a stranger", sealed(kOther, target.id, target.plain), {true, false, false}},
        {"sealed for another program", sealed(kSecret, bytes_of("another"), target.plain), {true, false, false}},
        {"sealed", sealed(kSecret, target.id, target.plain), {true, true, true}},
    };
    for (const Kind &kind : kinds())
        for (const Front &front : fronts())
            for (const auto policy : {kNone, kVerify, kRequire})
                for (const Case &each : cases)
                    for (const bool by_request : {false, true}) {
                        SCOPED_TRACE(std::string(kind.name) + " behind " + front.name + ", policy " +
                                     std::to_string(policy) + ", " + each.name);
                        const ScratchDirectory scratch(fast_volume());
                        Kept kept;
                        const Held tier = kind.make(scratch.path(), kept, target.id, each.bytes);
                        const Trust trust(policy, {kSecret});
                        const Held storage = front.make(scratch.path(), trust, tier.get());
                        EXPECT_EQ(each.is_accepted[policy],
                                  by_request ? runs(storage.get()) : storage.load(target.id) == INGOT_SUCCESS);
                    }
}

TEST(PersistTrustChain, EveryTierGetsSealedBlobsOrNone)
{
    const Bytes good = sealed(kSecret, id, blob);
    const Key public_only = {INGOT_PERSIST_KEY_ED25519_PUBLIC, kSigning.bytes};
    for (const Front &front : fronts())
        for (const bool is_nested : {false, true})
            for (const auto policy : {kNone, kVerify, kRequire}) {
                SCOPED_TRACE(std::string(front.name) + ", policy " + std::to_string(policy));
                const ScratchDirectory scratch(fast_volume());
                Kept kept;
                const Held server = kept.open();
                EXPECT_EQ(INGOT_SUCCESS, set_setting(server.get(), &ingot_persist_settings_t::write_through, 1));
                const Held inner = chain_of({server.get()});
                EXPECT_EQ(INGOT_SUCCESS, set_setting(inner.get(), &ingot_persist_settings_t::write_through, 1));
                const Held producer =
                    front.make(scratch.path(), Trust(policy, {kSecret}), is_nested ? inner.get() : server.get());
                const bool is_far = std::string(front.name) == "directory, far"; /* stores in `between` and not here */
                EXPECT_EQ(INGOT_SUCCESS, producer.put(id, blob));
                EXPECT_EQ(is_far ? Bytes() : policy == kNone ? blob : good, kept.blobs[id]);
                kept.blobs.clear();

                (void)producer.put_sealed(id, blob);
                EXPECT_EQ(policy == kRequire || is_far ? Bytes() : blob, kept.blobs[id]);
                kept.blobs.clear();

                if (policy != kRequire)
                    continue;
                const ScratchDirectory other(fast_volume());
                const Held reader =
                    front.make(other.path(), Trust(policy, {public_only}), is_nested ? inner.get() : server.get());
                (void)reader.put(id, blob);
                EXPECT_TRUE(kept.blobs.empty()) << "it could not be sealed, so no machine would accept it";
            }
}

/* The storages of a chain may have different keys. All of them get the same seal. */
TEST(PersistTrustChain, SealsWithTheKeyThatAllPoliciesAccept)
{
    struct Case {
        const char *name;
        std::vector<Key> front, tier;
        const Key *used; /* nullptr: none, so nothing is stored */
    };
    const std::vector<Case> cases = {
        {"the tier's", {kSecret, kOther}, {kOther}, &kOther},
        {"the front's", {kSecret}, {kOther, kSecret}, &kSecret},
        {"none", {kSecret}, {kOther}, nullptr},
    };
    for (const Case &each : cases) {
        SCOPED_TRACE(each.name);
        Kept front_kept, kept;
        const Held front = with_policy(front_kept.open(), Trust(kRequire, each.front));
        const Held tier = with_policy(kept.open(), Trust(kRequire, each.tier));
        EXPECT_EQ(INGOT_SUCCESS, set_setting(tier.get(), &ingot_persist_settings_t::write_through, 1));
        const Held chain = chain_of({front.get(), tier.get()});
        EXPECT_EQ(each.used != nullptr ? INGOT_SUCCESS : INGOT_UNTRUSTED, chain.put(id, blob));
        const Bytes expected = each.used != nullptr ? sealed(*each.used, id, blob) : Bytes();
        EXPECT_EQ(expected, front_kept.blobs[id]);
        EXPECT_EQ(expected, kept.blobs[id]);
        front_kept.blobs.clear();
        EXPECT_EQ(each.used != nullptr, chain.load(id) == INGOT_SUCCESS);
    }
}

TEST(PersistTrustChain, CountsAndReportsWhatItRefuses)
{
    const ScratchDirectory scratch;
    Seen seen;
    const Held lower = filled_directory(scratch.path() / "tier", id, blob);
    const std::string path = scratch.path() / "store";
    ingot_persist_info_t info = info_at(path);
    const Trust trust(kRequire, {kSecret});
    info.trust = trust.get();
    seen.listen(&info);
    const Held upper = opened([&](ingot_storage_t *made) { return ingot_persist_open(made, &info); });
    const Held chain = chain_of({upper.get(), lower.get()});
    EXPECT_EQ(INGOT_UNTRUSTED, chain.load(id));
    EXPECT_TRUE(last_error_has("without a seal"));
    EXPECT_EQ(1u, seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_UNTRUSTED));
    EXPECT_EQ(1u, lower.stats().distrusted);
    EXPECT_EQ(0u, lower.stats().hits);
    EXPECT_EQ(1u, lower.stats().misses);
    EXPECT_EQ(0u, upper.stats().distrusted);
    EXPECT_EQ(1u, upper.stats().misses);
    EXPECT_EQ(0u, upper.stats().hits);
    EXPECT_EQ(1u, chain.stats().misses);
}

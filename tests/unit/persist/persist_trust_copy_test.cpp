/*
 * What gets from one storage into another: only what every policy on the way accepts, and never with a new seal.
 */
#include <gtest/gtest.h>

#include "support/trust_fixture.h"

using namespace store_fixture;
using namespace trust_fixture;

namespace
{

constexpr auto kVerify = INGOT_PERSIST_TRUST_VERIFY;
constexpr auto kRequire = INGOT_PERSIST_TRUST_REQUIRE;

const Bytes kId = bytes_of("an id");
const Bytes kBlob = random_bytes(1, 100);
const Key kSecret = secret_key(1);
const Key kOther = secret_key(2);

} // namespace

TEST(PersistTrustCopy, AKeptBlobIsStoredAsItIs)
{
    const auto store_sealed = [](const Held &storage, const Bytes &bytes) {
        return ingot_persist_store_sealed(storage.get(), kId.size(), kId.data(), bytes.size(), bytes.data());
    };
    const Bytes good = sealed(kSecret, kId, kBlob);
    Kept kept;
    const Held storage = kept.open();
    EXPECT_EQ(INGOT_SUCCESS, store_sealed(storage, kBlob)) << "no policy";
    EXPECT_EQ(kBlob, kept.blobs[kId]);
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kVerify, {kSecret})));
    kept.blobs.clear();
    EXPECT_EQ(INGOT_SUCCESS, store_sealed(storage, kBlob));
    EXPECT_EQ(kBlob, kept.blobs[kId]) << "a key must not vouch for what came from elsewhere";
    ASSERT_EQ(INGOT_SUCCESS, storage.trust(Trust(kRequire, {kSecret})));
    kept.blobs.clear();
    EXPECT_EQ(INGOT_UNTRUSTED, store_sealed(storage, kBlob));
    EXPECT_EQ(INGOT_UNTRUSTED, store_sealed(storage, sealed(kOther, kId, kBlob)));
    EXPECT_TRUE(kept.blobs.empty());
    EXPECT_EQ(INGOT_SUCCESS, store_sealed(storage, good));
    EXPECT_EQ(good, kept.blobs[kId]);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(nullptr, 1, kId.data(), 1, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(storage.get(), 0, kId.data(), 1, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(storage.get(), 1, kId.data(), 0, kBlob.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_store_sealed(storage.get(), 1, kId.data(), 1, nullptr));
}

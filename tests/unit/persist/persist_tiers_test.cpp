/*
 * Tests two kinds of storage: a single file, which holds the blob of one program, and a chain of other storages, which
 * are its tiers.
 */
#include <ingot/backend.h>

#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kOther = bytes_of("another id");
const Bytes kBlob = random_bytes(1, 300);
const Bytes kOtherBlob = random_bytes(2, 200);

class PersistTiers : public testing::Test
{
protected:
    fs::path at(const char *name) const { return scratch_.path() / name; }
    size_t file_count() const
    {
        return static_cast<size_t>(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()));
    }

private:
    ScratchDirectory scratch_;
};

} // namespace

TEST_F(PersistTiers, AFileKeepsOneProgramsBlob)
{
    const HeldStorage file = open_file(at("blob"));
    EXPECT_EQ(INGOT_NOT_FOUND, file.load(kId));
    EXPECT_EQ(0u, file_count());
    ASSERT_EQ(INGOT_SUCCESS, file.put(kId, kBlob));
    Bytes blob;
    ASSERT_EQ(INGOT_SUCCESS, file.load(kId, &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(128u + kId.size() + kBlob.size(), fs::file_size(at("blob")));
    ASSERT_EQ(INGOT_SUCCESS, file.put(kOther, kOtherBlob));
    EXPECT_EQ(INGOT_NOT_FOUND, file.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, file.load(kOther));
    EXPECT_EQ(INGOT_NOT_FOUND, file.remove(kId));
    EXPECT_EQ(1u, file_count());
    EXPECT_EQ(INGOT_SUCCESS, file.remove(kOther));
    EXPECT_EQ(0u, file_count());
}

TEST_F(PersistTiers, AFileThatIsDamagedAnywhereIsAMissAndIsReplaced)
{
    const HeldStorage file = open_file(at("blob"));
    ASSERT_EQ(INGOT_SUCCESS, file.put(kId, kBlob));
    const Bytes whole = read_file(at("blob"));
    for (size_t size = 0; size < whole.size(); ++size) {
        write_file(at("blob"), Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        const ingot_status_t status = file.load(kId);
        ASSERT_TRUE(status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT) << size;
    }
    for (size_t i = 0; i < whole.size(); ++i) {
        Bytes flipped = whole;
        flipped[i] ^= 1;
        write_file(at("blob"), flipped);
        Bytes blob;
        const ingot_status_t status = file.load(kId, &blob);
        const bool is_last_use = i >= 112 && i < 128; /* no checksum covers it */
        ASSERT_EQ(is_last_use, status == INGOT_SUCCESS) << i;
        if (i >= 128 && i < 128 + kId.size()) { /* the damaged id must not lead to the blob of the other one */
            const auto begin = flipped.begin() + 128;
            const Bytes found(begin, begin + static_cast<std::ptrdiff_t>(kId.size()));
            ASSERT_EQ(INGOT_BLOB_CORRUPT, file.load(found)) << i;
        }
    }
    Bytes longer = whole;
    longer.push_back(1);
    write_file(at("blob"), longer);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, file.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, file.remove(kId));
    ASSERT_EQ(INGOT_SUCCESS, file.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, file.load(kId));
}

TEST_F(PersistTiers, AFileIsNotReadThroughLinksNorWhereOthersCouldWrite)
{
    const HeldStorage file = open_file(at("blob"));
    ASSERT_EQ(INGOT_SUCCESS, file.put(kId, kBlob));
    ASSERT_EQ(0, chmod(at("blob").c_str(), 0622));
    EXPECT_EQ(INGOT_UNTRUSTED, file.load(kId));
    ASSERT_EQ(0, chmod(at("blob").c_str(), 0600));
    fs::create_symlink(at("blob"), at("link"));
    const HeldStorage link = open_file(at("link"));
    EXPECT_EQ(INGOT_UNTRUSTED, link.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, link.put(kOther, kBlob)); /* the link is replaced, not what it points to */
    EXPECT_EQ(INGOT_SUCCESS, file.load(kId));
}

TEST_F(PersistTiers, AFileIsStoredWithoutWritingToAHardLinkAtItsTemporaryName)
{
    write_file(at("precious"), kOtherBlob);
    fs::create_hard_link(at("precious"), at("one.new"));
    const HeldStorage file = open_file(at("one"));
    EXPECT_EQ(INGOT_SUCCESS, file.put(kId, kBlob));
    EXPECT_EQ(kOtherBlob, read_file(at("precious")));
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, file.load(kId, &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(2u, file_count());
}

TEST_F(PersistTiers, AFileNeedsItsDirectoryAndAName)
{
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open_file(&storage, (at("missing") / "blob").c_str(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open_file(&storage, (at("").string()).c_str(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open_file(&storage, nullptr, nullptr));
}

TEST_F(PersistTiers, AChainPromotesWhatALowerTierHas)
{
    const HeldStorage first = open_file(at("first"));
    Store second(at("second"));
    Store third(at("third"));
    ASSERT_EQ(INGOT_SUCCESS, third.put(kId, kBlob));
    const HeldStorage chain = chain_of({first.get(), second.get(), third.get()});
    Bytes blob;
    ASSERT_EQ(INGOT_SUCCESS, chain.load(kId, &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(INGOT_SUCCESS, first.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, second.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, chain.remove(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, third.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, chain.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, chain.remove(kId));
}

TEST_F(PersistTiers, AChainPromotesIntoAChain)
{
    const HeldStorage first = open_file(at("first"));
    const HeldStorage copy = open_file(at("copy"));
    const Store last(at("last"));
    ASSERT_EQ(INGOT_SUCCESS, last.put(kId, kBlob));
    ASSERT_EQ(INGOT_SUCCESS, set_setting(copy.get(), &ingot_persist_settings_t::write_through, 1));
    const HeldStorage inner = chain_of({first.get(), copy.get()});
    const HeldStorage outer = chain_of({inner.get(), last.get()});
    ASSERT_EQ(INGOT_SUCCESS, outer.load(kId));
    for (const HeldStorage *tier : {&first, &copy}) {
        Bytes blob;
        EXPECT_EQ(INGOT_SUCCESS, tier->load(kId, &blob));
        EXPECT_EQ(kBlob, blob);
    }
}

/* Whenever programs are stored, a promotion is part of the load. */
TEST_F(PersistTiers, ALoadPromotesWhateverTheModeIs)
{
    for (const auto mode : {INGOT_PERSIST_STORE_AUTO, INGOT_PERSIST_STORE_NOW, INGOT_PERSIST_STORE_ON_FLUSH}) {
        Kept upper;
        Store second(at("second"));
        ASSERT_EQ(INGOT_SUCCESS, second.put(kId, kBlob));
        const HeldStorage chain = chain_of({upper.open().get(), second.get()});
        ASSERT_EQ(INGOT_SUCCESS, set_setting(chain.get(), &ingot_persist_settings_t::store_mode, mode));
        Bytes blob;
        ASSERT_EQ(INGOT_SUCCESS, chain.load(kId, &blob));
        EXPECT_EQ(kBlob, blob);
        EXPECT_EQ(1, upper.stores);
        EXPECT_EQ(kBlob, upper.blobs[kId]);
    }
}

TEST_F(PersistTiers, APromotionThatFailsIsTold)
{
    std::vector<std::pair<ingot_status_t, std::string>> told;
    Kept upper;
    upper.answer = INGOT_NO_SPACE;
    const std::string path = at("second").string();
    ingot_persist_info_t info = info_at(path);
    info.on_event_user = &told;
    info.on_event = [](const ingot_event_t *event, void *user) {
        if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
            static_cast<decltype(told) *>(user)->emplace_back(event->status, event->reason);
    };
    Store second(info);
    ASSERT_EQ(INGOT_SUCCESS, second.put(kId, kBlob));
    const HeldStorage chain = chain_of({upper.open().get(), second.get()});
    ASSERT_EQ(INGOT_SUCCESS, chain.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(chain.get(), nullptr, nullptr)); /* a tier has the blob */
    ASSERT_EQ(1u, told.size());
    EXPECT_EQ(INGOT_NO_SPACE, told[0].first);
    EXPECT_EQ(0u, told[0].second.find("a blob was not promoted to tier 0: ")) << told[0].second;
}

TEST_F(PersistTiers, AChainStoresInTheFirstTierThatCanBeWritten)
{
    Store source(at("source"));
    ASSERT_EQ(INGOT_SUCCESS, source.put(kId, kBlob));
    const HeldStorage bundle = bundle_of(source, at("bundle"));
    Store second(at("second"));
    Store third(at("third"));
    const HeldStorage chain = chain_of({bundle.get(), second.get(), third.get()});
    EXPECT_EQ(INGOT_SUCCESS, chain.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, second.load(kId)); /* blobs are not promoted to tiers behind the one that has them */
    ASSERT_EQ(INGOT_SUCCESS, chain.put(kOther, kOtherBlob));
    EXPECT_EQ(INGOT_SUCCESS, second.load(kOther));
    EXPECT_EQ(INGOT_NOT_FOUND, third.load(kOther));
    EXPECT_EQ(INGOT_READ_ONLY, chain_of({bundle.get()}).put(kOther, kOtherBlob));
}

TEST_F(PersistTiers, AChainWritesThroughToATierThatAsksForIt)
{
    const Store directory(at("store"));
    const HeldStorage middle = open_file(at("middle"));
    const HeldStorage shared = open_file(at("shared"));
    const HeldStorage chain = chain_of({directory.get(), middle.get(), shared.get()});
    ASSERT_EQ(INGOT_SUCCESS, chain.put(kOther, kOtherBlob));
    EXPECT_EQ(INGOT_NOT_FOUND, shared.load(kOther)) << "off at first";
    ASSERT_EQ(INGOT_SUCCESS, set_setting(shared.get(), &ingot_persist_settings_t::write_through, 1));
    ASSERT_EQ(INGOT_SUCCESS, chain.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, directory.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, middle.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, shared.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, set_setting(shared.get(), &ingot_persist_settings_t::write_through, 0));
    ASSERT_EQ(INGOT_SUCCESS, chain.put(kOther, kOtherBlob));
    EXPECT_EQ(INGOT_NOT_FOUND, shared.load(kOther));
}

TEST_F(PersistTiers, AFailureToWriteThroughIsToldAndIsNotTheChains)
{
    std::string reason;
    const fs::path path = at("store");
    ingot_persist_info_t info = info_at(path);
    info.on_event_user = &reason;
    info.on_event = [](const ingot_event_t *event, void *user) {
        if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
            *static_cast<std::string *>(user) = event->reason;
    };
    const Store directory(info);
    Kept kept;
    kept.answer = INGOT_NO_SPACE;
    const HeldStorage shared = kept.open();
    const HeldStorage chain = chain_of({directory.get(), shared.get()});
    ASSERT_EQ(INGOT_SUCCESS, set_setting(shared.get(), &ingot_persist_settings_t::write_through, 1));
    EXPECT_EQ(INGOT_SUCCESS, chain.put(kId, kBlob));
    EXPECT_NE(std::string::npos, reason.find("not stored in tier 1")) << reason;
}

TEST_F(PersistTiers, TheDetailOfAFailureIsNotThatOfATierThatIsWrittenThrough)
{
    const fs::path path = at("store");
    ingot_persist_info_t info = info_at(path);
    info.max_blob_bytes = 1;
    const Store directory(info);
    ingot_storage_ops_t ops = Kept::operations();
    ops.store = [](void *, size_t, const uint8_t *, size_t, const uint8_t *) {
        return ingot_set_error_detail(INGOT_IO_ERROR, "of the shared tier");
    };
    Kept kept;
    const HeldStorage shared = kept.open(ops);
    const HeldStorage chain = chain_of({directory.get(), shared.get()});
    ASSERT_EQ(INGOT_SUCCESS, set_setting(shared.get(), &ingot_persist_settings_t::write_through, 1));
    EXPECT_EQ(INGOT_NO_SPACE, directory.put(kId, kBlob));
    const std::string detail = ingot_last_error_detail();
    EXPECT_EQ(INGOT_NO_SPACE, chain.put(kId, kBlob));
    EXPECT_EQ(detail, ingot_last_error_detail());
}

TEST_F(PersistTiers, ABadTierIsAMissOfThatTier)
{
    const HeldStorage first = open_file(at("first"));
    Store second(at("second"));
    write_file(at("first"), bytes_of("garbage"));
    const HeldStorage chain = chain_of({first.get(), second.get()});
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, chain.load(kId));
    ASSERT_EQ(INGOT_SUCCESS, second.put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, chain.load(kId));
    EXPECT_EQ(INGOT_SUCCESS, first.load(kId)); /* the promoted blob replaced the damaged one */
}

TEST_F(PersistTiers, AChainTakesSixteenTiersAndItsOwnReferences)
{
    Store store(at("store"));
    std::vector<ingot_storage_t> tiers(17, store.get());
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_chain(&storage, 17, tiers.data()));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_chain(&storage, 0, tiers.data()));
    tiers[3] = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_chain(&storage, 16, tiers.data()));
    EXPECT_EQ(INGOT_SUCCESS, chain_of({open_file(at("file")).get()}).put(kId, kBlob));
}

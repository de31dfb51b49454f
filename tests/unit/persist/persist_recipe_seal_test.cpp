/*
 * Tests sealed recipes: which keys can seal them, what a seal covers, and what readers with a policy refuse.
 */
#include <gtest/gtest.h>

#include "support/forged_recipe.h"
#include "support/recipe_fixture.h"
#include "support/scratch_directory.h"
#include "support/trust_fixture.h"

extern "C" {
#include "persist/recipe/check.h"
#include "persist/recipe/reader.h"
#include "persist/recipe/writer.h"
}

using namespace forged_recipe;
using namespace recipe_fixture;
using trust_fixture::secret_key;
using trust_fixture::signing_key;
using trust_fixture::Trust;

namespace
{

constexpr auto kVerify = INGOT_PERSIST_TRUST_VERIFY;
constexpr auto kRequire = INGOT_PERSIST_TRUST_REQUIRE;

class PersistRecipeSeal : public testing::Test
{
protected:
    std::filesystem::path path(const std::string &name = "programs.recipe") const { return scratch_.path() / name; }

    void record(const std::string &option)
    {
        ProgramText text;
        text.compile_options = option;
        add(open_writer(path()), text.make(context_));
    }
    ingot_status_t seal(const trust_fixture::Key &key, int *is_new = nullptr) const
    {
        const Trust trust(INGOT_PERSIST_TRUST_NONE, {key});
        return ingot_recipe_seal(path().c_str(), trust.get(), is_new);
    }
    ingot_status_t open_trusted(ingot_persist_trust_policy_t policy, const trust_fixture::Key &key,
                                Recipe *recipe = nullptr) const
    {
        const Trust trust(policy, {key});
        ingot_recipe_t opened = nullptr;
        const ingot_status_t status = ingot_recipe_open(&opened, path().c_str(), trust.get());
        Recipe own(opened);
        if (recipe != nullptr)
            *recipe = std::move(own);
        return status;
    }
    /* Expects that both policies refuse the file for this reason. */
    void expect_refused(const trust_fixture::Key &key, const std::string &reason) const
    {
        for (const auto policy : {kVerify, kRequire}) {
            EXPECT_EQ(INGOT_UNTRUSTED, open_trusted(policy, key));
            EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find(reason))
                << ingot_last_error_detail();
        }
    }
    /* Returns the records of the file, each with its header. */
    std::vector<Bytes> records() const
    {
        const Bytes file = read_file(path());
        std::vector<Bytes> found;
        for (size_t at = RECIPE_HEADER_SIZE; at < file.size();) {
            const size_t size = RECIPE_RECORD_SIZE + le_get_u64(file.data() + at + 8);
            found.emplace_back(file.begin() + static_cast<std::ptrdiff_t>(at),
                               file.begin() + static_cast<std::ptrdiff_t>(at + size));
            at += size;
        }
        return found;
    }

    ScratchDirectory scratch_;
    ReferenceDevice device_;
    Context context_ = device_.make();
    const trust_fixture::Key key_ = signing_key(1);
};

/* Returns everything that a recipe says, as one text. */
std::string content_of(const Recipe &recipe)
{
    std::string all;
    for (size_t i = 0; i < summary_of(recipe).program_count; ++i) {
        const ingot_recipe_program_t program = program_of(recipe, i);
        all += std::string(program.name) + program.group + program.built_for + program.compile_options + program.reason;
        all += std::to_string(program.build_time_ns) + std::to_string(program.status);
        for (size_t j = 0; j < program.source_count; ++j) {
            size_t size = program.sources[j].size;
            std::string text(size, '\0');
            const ingot_status_t status = ingot_recipe_get_text(recipe.get(), program.sources[j].text, &size,
                                                                reinterpret_cast<uint8_t *>(text.data()));
            all += status == INGOT_SUCCESS ? text : "damaged";
        }
    }
    return all;
}

} // namespace

TEST_F(PersistRecipeSeal, APolicyAcceptsWhatAKnownKeySealed)
{
    for (const auto &key : {secret_key(1), signing_key(2)}) {
        std::filesystem::remove(path());
        record("-DX=1");
        EXPECT_EQ(INGOT_SUCCESS, open_trusted(kVerify, key));
        EXPECT_EQ(INGOT_UNTRUSTED, open_trusted(kRequire, key));
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "it has no seal")) << ingot_last_error_detail();
        int is_new = 0;
        ASSERT_EQ(INGOT_SUCCESS, seal(key, &is_new)) << ingot_last_error_detail();
        EXPECT_EQ(1, is_new);
        Recipe recipe;
        EXPECT_EQ(INGOT_SUCCESS, open_trusted(kVerify, key));
        EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, key, &recipe)) << ingot_last_error_detail();
        EXPECT_EQ(1u, summary_of(recipe).program_count);
        EXPECT_EQ(1u, summary_of(recipe).seal_count);
        EXPECT_EQ(0u, summary_of(recipe).damaged_count);
        expect_refused(signing_key(3), "no known key made its seal");
        EXPECT_EQ(1u, summary_of(open_recipe(path())).program_count) << "without a policy";
    }
}

TEST_F(PersistRecipeSeal, SealingAgainChangesNothing)
{
    record("-DX=1");
    int is_new = 0;
    ASSERT_EQ(INGOT_SUCCESS, seal(key_, &is_new));
    const Bytes before = read_file(path());
    ASSERT_EQ(INGOT_SUCCESS, seal(key_, &is_new));
    EXPECT_EQ(0, is_new);
    EXPECT_EQ(before, read_file(path()));
}

TEST_F(PersistRecipeSeal, WhatIsRecordedLaterMustBeSealedAgain)
{
    record("-DX=1");
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    record("-DX=2");
    EXPECT_EQ(0u, summary_of(open_recipe(path())).seal_count);
    expect_refused(key_, "records were added after it was sealed");
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    Recipe recipe;
    EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, key_, &recipe));
    EXPECT_EQ(2u, summary_of(recipe).program_count);
}

TEST_F(PersistRecipeSeal, SeveralKeysSealOneFile)
{
    record("-DX=1");
    for (const uint64_t number : {1, 2, 3})
        ASSERT_EQ(INGOT_SUCCESS, seal(signing_key(number)));
    EXPECT_EQ(3u, summary_of(open_recipe(path())).seal_count);
    for (const uint64_t number : {1, 2, 3})
        EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, signing_key(number))) << number;
    EXPECT_EQ(INGOT_UNTRUSTED, open_trusted(kRequire, signing_key(4)));
}

TEST_F(PersistRecipeSeal, NoChangedByteIsAccepted)
{
    record("-DX=1");
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    const Bytes whole = read_file(path());
    Recipe sealed;
    ASSERT_EQ(INGOT_SUCCESS, open_trusted(kRequire, key_, &sealed));
    const std::string content = content_of(sealed);
    for (size_t i = 0; i < whole.size(); ++i) {
        Bytes changed = whole;
        changed[i] ^= 1;
        write_file(path(), changed);
        Recipe recipe;
        if (open_trusted(kRequire, key_, &recipe) != INGOT_SUCCESS)
            continue;
        const std::string found = content_of(recipe);
        EXPECT_TRUE(found == content || found.find("damaged") != std::string::npos) << "byte " << i;
    }
}

/* Each change leaves all checksums correct. */
TEST_F(PersistRecipeSeal, RecordsAreNeitherRemovedNorAddedNorMoved)
{
    record("-DX=1");
    record("-DX=2");
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    const std::vector<Bytes> all = records();
    ASSERT_LT(4u, all.size());
    for (size_t i = 0; i + 1 < all.size(); ++i) {
        std::vector<Bytes> less = all, twice = all, moved = all;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
        twice.insert(twice.begin(), all[i]);
        std::swap(moved[i], moved[(i + 1) % (all.size() - 1)]);
        for (const auto &changed : {less, twice, moved}) {
            write_file(path(), recipe_of(changed));
            EXPECT_EQ(INGOT_UNTRUSTED, open_trusted(kRequire, key_)) << i;
        }
    }
}

/* A remark is not part of a program's key, but the seal covers it. */
TEST_F(PersistRecipeSeal, RemarksAndUnknownRecordsAreCovered)
{
    const Bytes fields = join({field(1, u32(4)), field(2, text("reference")), field(14, text("why"))});
    const auto file_with = [&](const std::string &name, const std::string &unknown) {
        return std::vector<Bytes>{
            forged_recipe::record(RECIPE_RECORD_PROGRAM, key_of(fields), join({fields, field(64, text(name))})),
            forged_recipe::record(static_cast<recipe_record_kind>(77), Key{}, text(unknown))};
    };
    write_file(path(), recipe_of(file_with("name", "unknown")));
    ASSERT_EQ(INGOT_SUCCESS, seal(key_)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, key_)) << ingot_last_error_detail();
    const Bytes sealed = records().back();
    for (auto changed : {file_with("mane", "unknown"), file_with("name", "nuknown")}) {
        changed.push_back(sealed);
        write_file(path(), recipe_of(changed));
        expect_refused(key_, "no known key made its seal");
    }
}

/* Tests the seal of another file, and bytes that are not a seal. */
TEST_F(PersistRecipeSeal, WhatOnlyLooksLikeASealIsRefused)
{
    record("-DX=1");
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    const Bytes sealed = records().back();
    std::filesystem::remove(path());
    record("-DX=2");
    const std::vector<Bytes> unsealed = records();
    for (const Bytes &fake :
         {sealed, forged_recipe::record(RECIPE_RECORD_SEAL, Bytes(RECIPE_SEAL_SIZE)),
          forged_recipe::record(RECIPE_RECORD_SEAL, Bytes()), forged_recipe::record(RECIPE_RECORD_SEAL, Bytes(129))}) {
        std::vector<Bytes> file = unsealed;
        file.push_back(fake);
        write_file(path(), recipe_of(file));
        expect_refused(key_, "no known key made its seal");
    }
}

TEST_F(PersistRecipeSeal, SaysWhyAFileCannotBeSealed)
{
    EXPECT_EQ(INGOT_NOT_FOUND, seal(key_));
    EXPECT_FALSE(std::filesystem::exists(path()));
    record("-DX=1");
    const trust_fixture::Key only_public{INGOT_PERSIST_KEY_ED25519_PUBLIC, Bytes(32, 7)};
    EXPECT_EQ(INGOT_READ_ONLY, seal(only_public));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "none of the keys can seal")) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_seal(path().c_str(), nullptr, nullptr));
    std::vector<Bytes> all = records();
    for (Bytes &one : all)
        if (le_get_u32(one.data() + 4) == RECIPE_RECORD_PROGRAM)
            one.back() ^= 1;
    write_file(path(), recipe_of(all));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, seal(key_));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "is damaged, so the recipe is not sealed"))
        << ingot_last_error_detail();
    EXPECT_EQ(INGOT_UNTRUSTED, open_trusted(kRequire, key_));
}

TEST_F(PersistRecipeSeal, ADamagedSealIsNamed)
{
    record("-DX=1");
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    Bytes file = read_file(path());
    file.back() ^= 1;
    write_file(path(), file);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, seal(key_));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "ingot recipe prune")) << ingot_last_error_detail();
    ASSERT_EQ(INGOT_SUCCESS, seal(signing_key(2))) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, signing_key(2)));
}

TEST_F(PersistRecipeSeal, ADamagedTextIsNotSealed)
{
    record("-DX=1");
    std::vector<Bytes> all = records();
    ASSERT_EQ(RECIPE_RECORD_TEXT, le_get_u32(all[0].data() + 4));
    all[0].back() ^= 1;
    write_file(path(), recipe_of(all));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, seal(key_));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "ingot recipe prune")) << ingot_last_error_detail();
    EXPECT_EQ(all.size(), records().size());
}

/* If another file has taken the place of the one that was read, it gets no seal. */
TEST_F(PersistRecipeSeal, OnlyTheFileThatWasReadIsAppendedTo)
{
    record("-DX=1");
    const Writer writer = open_writer(path());
    file_facts facts{};
    ASSERT_EQ(INGOT_SUCCESS, recipe_check_file(open_recipe(path()).get(), &facts));
    writer_expect(writer.get(), &facts);
    ProgramText text;
    text.compile_options = "-DX=2";
    add(writer, text.make(context_));
    std::filesystem::copy_file(path(), path("copy"));
    std::filesystem::rename(path("copy"), path());
    const Bytes before = read_file(path());
    text.compile_options = "-DX=3";
    EXPECT_EQ(INGOT_BUSY, ingot_recipe_writer_add(writer.get(), text.make(context_).get(), nullptr, nullptr));
    EXPECT_EQ(before, read_file(path()));
    std::filesystem::permissions(path(), std::filesystem::perms(0602));
    EXPECT_EQ(INGOT_UNTRUSTED, recipe_check_file(open_recipe(path()).get(), &facts));
    EXPECT_EQ(INGOT_UNTRUSTED, seal(key_));
}

TEST_F(PersistRecipeSeal, AFileHasALimitedNumberOfSeals)
{
    record("-DX=1");
    for (uint64_t i = 1; i <= RECIPE_MAX_SEALS; ++i)
        ASSERT_EQ(INGOT_SUCCESS, seal(signing_key(i))) << i;
    EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, signing_key(RECIPE_MAX_SEALS)));
    EXPECT_EQ(INGOT_SUCCESS, seal(signing_key(1)));
    const trust_fixture::Key last = signing_key(RECIPE_MAX_SEALS + 1);
    const Bytes full = read_file(path());
    EXPECT_EQ(INGOT_NO_SPACE, seal(last));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "ingot recipe prune")) << ingot_last_error_detail();
    EXPECT_EQ(full, read_file(path()));
    record("-DX=2");
    EXPECT_EQ(INGOT_SUCCESS, seal(last)) << "only the seals at the end count";
    EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, last));
}

/* Examining a seal takes time, so readers must not examine more seals than a file may have. */
TEST_F(PersistRecipeSeal, ASealBehindManyOthersIsNotExamined)
{
    record("-DX=1");
    std::vector<Bytes> all = records();
    ASSERT_EQ(INGOT_SUCCESS, seal(key_));
    const Bytes sealed = records().back();
    for (uint8_t i = 0; i < RECIPE_MAX_SEALS - 1; ++i)
        all.push_back(forged_recipe::record(RECIPE_RECORD_SEAL, Bytes(RECIPE_SEAL_SIZE, i)));
    all.push_back(sealed);
    write_file(path(), recipe_of(all));
    EXPECT_EQ(INGOT_SUCCESS, open_trusted(kRequire, key_));
    all.insert(all.end() - 1, forged_recipe::record(RECIPE_RECORD_SEAL, Bytes(RECIPE_SEAL_SIZE, 0xff)));
    write_file(path(), recipe_of(all));
    EXPECT_EQ(INGOT_UNTRUSTED, open_trusted(kRequire, key_));
}

TEST_F(PersistRecipeSeal, TheGoldenFileIsSealed)
{
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    const std::string key = path("golden.key").string();
    std::filesystem::copy_file(INGOT_SOURCE_DIR "/tests/golden/seal/blake2b.key", key);
    std::filesystem::permissions(key, std::filesystem::perms::owner_read);
    trust.policy = kRequire;
    trust.key_files = key.c_str();
    ingot_recipe_t opened = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_open(&opened, INGOT_SOURCE_DIR "/tests/golden/recipe/sealed.recipe", &trust))
        << ingot_last_error_detail();
    const Recipe recipe(opened);
    EXPECT_EQ(5u, summary_of(recipe).program_count);
    EXPECT_EQ(1u, summary_of(recipe).seal_count);
    ASSERT_EQ(1u, program_of(recipe, 0).kernel_count);
    EXPECT_STREQ("k", program_of(recipe, 0).kernels[0]);
}

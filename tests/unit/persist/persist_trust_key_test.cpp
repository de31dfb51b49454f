/*
 * Tests key files and seals of the format in doc/seal-format.md: golden files, which tests/golden/seal/make.py wrote
 * without the library, and key files that must not be used.
 */
#include <ingot/private/trust.h>

#include "support/forked_child.h"
#include "support/trust_fixture.h"

using namespace store_fixture;
using namespace trust_fixture;

namespace
{

const fs::path kGolden = fs::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "seal";

Bytes golden_id()
{
    Bytes id = bytes_of("golden id ");
    id.insert(id.end(), {0x00, 0x01, 0xff});
    return id;
}

Bytes seed()
{
    Bytes bytes(INGOT_PERSIST_KEY_SIZE);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(i);
    return bytes;
}

class PersistTrustKey : public testing::Test
{
protected:
    /* Copies a golden file, and makes the copy readable by its owner alone, as a key file must be. Returns its path. */
    std::string copy(const char *name) const
    {
        const fs::path path = scratch_.path() / name;
        write_file(path, read_file(kGolden / name));
        return path;
    }
    static ingot_status_t describe(const std::string &path, ingot_persist_key_info_t *info = nullptr)
    {
        ingot_persist_key_info_t own = INGOT_PERSIST_KEY_INFO_INIT;
        return ingot_persist_key_describe(path.c_str(), info != nullptr ? info : &own);
    }
    static mode_t mode_of(const std::string &path)
    {
        struct stat found = {};
        EXPECT_EQ(0, stat(path.c_str(), &found)) << path;
        return found.st_mode & 07777;
    }

    ScratchDirectory scratch_;
};

ingot_status_t set_files(const Held &storage, const std::string &files)
{
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.key_files = files.c_str();
    return ingot_persist_set_trust(storage.get(), &trust);
}

} // namespace

TEST_F(PersistTrustKey, GoldenSealsAreWhatIsWritten)
{
    const Bytes blob = read_file(kGolden / "blob");
    for (const char *name : {"blake2b", "ed25519"}) {
        Kept kept;
        const Held storage = kept.open();
        ASSERT_EQ(INGOT_SUCCESS, set_files(storage, copy((std::string(name) + ".key").c_str())));
        ASSERT_EQ(INGOT_SUCCESS, storage.put(golden_id(), blob));
        EXPECT_EQ(read_file(kGolden / (std::string(name) + ".sealed")), kept.blobs[golden_id()]);
    }
}

TEST_F(PersistTrustKey, GoldenSealsAreReadWithTheKeysThatVerify)
{
    Kept kept;
    const Held storage = kept.open();
    ASSERT_EQ(INGOT_SUCCESS, set_files(storage, copy("ed25519.key.pub") + ":" + copy("blake2b.key")));
    for (const char *name : {"blake2b.sealed", "ed25519.sealed"}) {
        kept.blobs[golden_id()] = read_file(kGolden / name);
        Bytes blob;
        EXPECT_EQ(INGOT_SUCCESS, storage.load(golden_id(), &blob)) << ingot_last_error_detail();
        EXPECT_EQ(read_file(kGolden / "blob"), blob);
    }
}

TEST_F(PersistTrustKey, DescribesGoldenKeys)
{
    ingot_persist_key_info_t secret = INGOT_PERSIST_KEY_INFO_INIT;
    ingot_persist_key_info_t signing = INGOT_PERSIST_KEY_INFO_INIT;
    ingot_persist_key_info_t verifying = INGOT_PERSIST_KEY_INFO_INIT;
    ASSERT_EQ(INGOT_SUCCESS, describe(copy("blake2b.key"), &secret)) << ingot_last_error_detail();
    ASSERT_EQ(INGOT_SUCCESS, describe(copy("ed25519.key"), &signing)) << ingot_last_error_detail();
    ASSERT_EQ(INGOT_SUCCESS, describe(copy("ed25519.key.pub"), &verifying)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_PERSIST_KEY_BLAKE2B, secret.kind);
    EXPECT_EQ(INGOT_PERSIST_KEY_ED25519_SECRET, signing.kind);
    EXPECT_EQ(INGOT_PERSIST_KEY_ED25519_PUBLIC, verifying.kind);
    EXPECT_EQ(0, memcmp(signing.id, verifying.id, sizeof(signing.id)));
    EXPECT_EQ(0, memcmp(signing.public_key, verifying.public_key, sizeof(signing.public_key)));
    EXPECT_NE(0, memcmp(signing.public_key, seed().data(), sizeof(signing.public_key)));
    EXPECT_EQ(0xda, secret.id[0]);
    EXPECT_EQ(Bytes(INGOT_PERSIST_KEY_SIZE), Bytes(secret.public_key, secret.public_key + INGOT_PERSIST_KEY_SIZE));
}

TEST_F(PersistTrustKey, CreatesKeysThatOnlyTheirOwnerCanRead)
{
    const std::string secret = scratch_.path() / "secret";
    const std::string pair = scratch_.path() / "pair";
    ingot_persist_key_info_t made = INGOT_PERSIST_KEY_INFO_INIT;
    ingot_persist_key_info_t read = INGOT_PERSIST_KEY_INFO_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_key_create(secret.c_str(), INGOT_PERSIST_KEY_BLAKE2B, &made));
    EXPECT_EQ(0600u, mode_of(secret));
    ASSERT_EQ(INGOT_SUCCESS, describe(secret, &read));
    EXPECT_EQ(0, memcmp(made.id, read.id, sizeof(made.id)));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_key_create(pair.c_str(), INGOT_PERSIST_KEY_ED25519_SECRET, &made));
    EXPECT_EQ(0600u, mode_of(pair));
    EXPECT_EQ(0u, mode_of(pair + ".pub") & 0133u);
    for (const std::string &path : {pair, pair + ".pub"}) {
        ASSERT_EQ(INGOT_SUCCESS, describe(path, &read)) << ingot_last_error_detail();
        EXPECT_EQ(0, memcmp(made.id, read.id, sizeof(made.id)));
        EXPECT_EQ(0, memcmp(made.public_key, read.public_key, sizeof(made.public_key)));
    }
    const Bytes before = read_file(pair);
    for (const auto kind : {INGOT_PERSIST_KEY_BLAKE2B, INGOT_PERSIST_KEY_ED25519_SECRET})
        EXPECT_EQ(INGOT_READ_ONLY, ingot_persist_key_create(pair.c_str(), kind, nullptr));
    EXPECT_EQ(before, read_file(pair)) << "a key is never replaced";
    const std::string third = scratch_.path() / "third";
    write_file(third + ".pub", bytes_of("something"));
    EXPECT_EQ(INGOT_READ_ONLY, ingot_persist_key_create(third.c_str(), INGOT_PERSIST_KEY_ED25519_SECRET, nullptr));
    EXPECT_FALSE(fs::exists(third));
    EXPECT_EQ(bytes_of("something"), read_file(third + ".pub"));
    write_file(third, bytes_of("something"));
    fs::remove(third + ".pub");
    EXPECT_EQ(INGOT_READ_ONLY, ingot_persist_key_create(third.c_str(), INGOT_PERSIST_KEY_ED25519_SECRET, nullptr));
    EXPECT_FALSE(fs::exists(third + ".pub")) << "half a pair is taken back";
    const std::string nowhere = scratch_.path() / "missing" / "key";
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_key_create(nowhere.c_str(), INGOT_PERSIST_KEY_BLAKE2B, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_persist_key_create((pair + "2").c_str(), INGOT_PERSIST_KEY_ED25519_PUBLIC, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_key_create(nullptr, INGOT_PERSIST_KEY_BLAKE2B, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_key_create("", INGOT_PERSIST_KEY_BLAKE2B, nullptr));
}

TEST_F(PersistTrustKey, TwoKeysDiffer)
{
    Bytes keys[2];
    for (int i = 0; i < 2; ++i) {
        const std::string path = scratch_.path() / std::to_string(i);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_key_create(path.c_str(), INGOT_PERSIST_KEY_BLAKE2B, nullptr));
        keys[i] = read_file(path);
    }
    EXPECT_NE(keys[0], keys[1]);
}

TEST_F(PersistTrustKey, RefusesSecretsThatOthersCanRead)
{
    for (const char *name : {"blake2b.key", "ed25519.key"}) {
        const std::string path = copy(name);
        for (const mode_t mode : {0640, 0604, 0610, 0601, 0620, 0602, 0666}) {
            ASSERT_EQ(0, chmod(path.c_str(), mode));
            EXPECT_EQ(INGOT_UNTRUSTED, describe(path)) << name << " " << mode;
        }
        ASSERT_EQ(0, chmod(path.c_str(), 0400));
        EXPECT_EQ(INGOT_SUCCESS, describe(path));
    }
    const std::string path = copy("ed25519.key.pub");
    for (const mode_t mode : {0644, 0444, 0640}) {
        ASSERT_EQ(0, chmod(path.c_str(), mode));
        EXPECT_EQ(INGOT_SUCCESS, describe(path)) << mode;
    }
    for (const mode_t mode : {0664, 0646, 0666}) {
        ASSERT_EQ(0, chmod(path.c_str(), mode));
        EXPECT_EQ(INGOT_UNTRUSTED, describe(path)) << "others could choose the key: " << mode;
    }
}

TEST_F(PersistTrustKey, RefusesLinksAndOtherObjects)
{
    const std::string path = copy("blake2b.key");
    const std::string link = scratch_.path() / "link";
    const std::string fifo = scratch_.path() / "fifo";
    ASSERT_EQ(0, symlink(path.c_str(), link.c_str()));
    ASSERT_EQ(0, mkfifo(fifo.c_str(), 0600));
    EXPECT_EQ(INGOT_UNTRUSTED, describe(link));
    EXPECT_EQ(INGOT_UNTRUSTED, describe(fifo));
    EXPECT_EQ(INGOT_UNTRUSTED, describe(scratch_.path()));
    EXPECT_EQ(INGOT_NOT_FOUND, describe(scratch_.path() / "missing"));
}

TEST_F(PersistTrustKey, RefusesOtherOwners)
{
    SKIP_UNLESS_ROOT();
    for (const char *name : {"blake2b.key", "ed25519.key", "ed25519.key.pub"}) {
        const std::string foreign = copy(name);
        ASSERT_EQ(0, chown(foreign.c_str(), forked_child::kNobody, forked_child::kNobody));
        EXPECT_EQ(INGOT_UNTRUSTED, describe(foreign)) << name;
    }
}

TEST_F(PersistTrustKey, RefusesEveryOtherText)
{
    for (const char *name : {"blake2b.key", "ed25519.key", "ed25519.key.pub"}) {
        const std::string path = copy(name);
        const Bytes right = read_file(path);
        const auto refused = [&](const Bytes &bytes) {
            write_file(path, bytes);
            const ingot_status_t status = describe(path);
            return status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_VERSION;
        };
        for (size_t at = 0; at < right.size(); ++at) {
            for (const uint8_t change : {0x01, 0x20, 0x80}) {
                Bytes bytes = right;
                bytes[at] ^= change;
                EXPECT_TRUE(refused(bytes)) << name << ", byte " << at << " ^ " << int{change};
            }
        }
        for (size_t size = 0; size < right.size(); ++size)
            EXPECT_TRUE(refused(Bytes(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
        for (const uint8_t more : {'\n', ' ', '\0', 'a'}) {
            Bytes bytes = right;
            bytes.push_back(more);
            EXPECT_TRUE(refused(bytes)) << int{more};
        }
        Bytes long_file = right;
        long_file.resize(100000, '\n');
        EXPECT_TRUE(refused(long_file));
        write_file(path, right);
        EXPECT_EQ(INGOT_SUCCESS, describe(path));
    }
    const std::string path = copy("blake2b.key");
    Bytes later = read_file(path);
    later[10] = '2';
    write_file(path, later);
    EXPECT_EQ(INGOT_BLOB_VERSION, describe(path));
    const std::string text(later.begin(), later.end());
    EXPECT_EQ(std::string::npos, std::string(ingot_last_error_detail()).find(text.substr(90, 20)))
        << "an error sentence has no part of a key";
}

TEST_F(PersistTrustKey, AListOfFilesMayHaveEmptyNames)
{
    Kept kept;
    const Held storage = kept.open();
    const std::string one = copy("blake2b.key");
    const std::string two = copy("ed25519.key");
    EXPECT_EQ(INGOT_SUCCESS, set_files(storage, ":" + one + "::" + two + ":"));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, set_files(storage, ""));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, set_files(storage, ":::"));
    EXPECT_EQ(INGOT_NOT_FOUND, set_files(storage, one + ":" + two + "2"));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), (two + "2").c_str())) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, set_files(storage, std::string(5000, 'a')));
    std::string many = one;
    for (int i = 0; i < 16; ++i)
        many += ":" + one;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, set_files(storage, many));
}

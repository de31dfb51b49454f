/*
 * artifact_test.cpp - keys, ids and envelopes of artifacts, compared with golden files that doc/artifact-format.md
 * alone made (tests/golden/artifact/make.py).
 */
#include <cstring>

#include <ingot/private/artifact.h>

#include "support/byte_parts.h"

extern "C" {
#include "core/artifact/artifact_blob.h"
#include "core/base/digest.h"
}
#include "support/id_texts.h"
#include "support/not_copied.h"

namespace
{

using byte_parts::Bytes;
using Fields = std::vector<std::pair<std::string, std::string>>;
using Parts = std::vector<std::pair<std::string, std::string>>;

Bytes golden(const std::string &name)
{
    return byte_parts::read_file(INGOT_SOURCE_DIR "/tests/golden/artifact/" + name);
}

class Key : NotCopied
{
public:
    Key(std::string kind, Fields fields) : kind_(std::move(kind)), texts_(std::move(fields))
    {
        for (const auto &[name, value] : texts_)
            fields_.push_back({name.c_str(), value.size(), value.data()});
        key_.kind = kind_.c_str();
        key_.field_count = fields_.size();
        key_.fields = fields_.data();
    }
    ~Key() = default;

    ingot_artifact_key_t *get() { return &key_; }
    ingot_artifact_field_t &field(size_t index) { return fields_[index]; }

    ingot_status_t id(Bytes *id)
    {
        size_t size = 0;
        ingot_status_t status = ingot_artifact_key_get_id(&key_, &size, nullptr);
        if (status != INGOT_SUCCESS)
            return status;
        id->resize(size);
        return ingot_artifact_key_get_id(&key_, &size, id->data());
    }
    Bytes id()
    {
        Bytes made;
        EXPECT_EQ(INGOT_SUCCESS, id(&made)) << ingot_last_error_detail();
        return made;
    }

private:
    std::string kind_;
    Fields texts_;
    std::vector<ingot_artifact_field_t> fields_;
    ingot_artifact_key_t key_ = INGOT_ARTIFACT_KEY_INIT;
};

std::string all_bytes()
{
    std::string all;
    for (int i = 0; i < 256; ++i)
        all.push_back(static_cast<char>(i));
    return all;
}

Fields golden_fields()
{
    return {{"target", "cuda:90:32"}, {"source", std::string(257, 'x')}, {"flags", ""}, {"hash", all_bytes()}};
}

class Info : NotCopied
{
public:
    explicit Info(Parts parts) : texts_(std::move(parts))
    {
        for (const auto &[name, bytes] : texts_) {
            parts_.push_back({name.c_str(), bytes.size()});
            bytes_ += bytes;
        }
        info_.part_count = parts_.size();
        info_.parts = parts_.data();
    }
    ~Info() = default;

    ingot_artifact_info_t *get() { return &info_; }
    ingot_artifact_part_t &part(size_t index) { return parts_[index]; }
    const std::string &bytes() const { return bytes_; }

private:
    Parts texts_;
    std::vector<ingot_artifact_part_t> parts_;
    std::string bytes_;
    ingot_artifact_info_t info_ = INGOT_ARTIFACT_INFO_INIT;
};

Parts golden_parts()
{
    return {{"add.cubin", "\x7f"
                          "ELF code"},
            {"add.json", "{}"},
            {"add.log", ""}};
}

Bytes pack(Key *key, const ingot_artifact_info_t *info, const std::string &bytes)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const Bytes id = key->id();
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_pack(id.size(), id.data(), info, bytes.size(), bytes.data(), &blob))
        << ingot_last_error_detail();
    Bytes packed(blob.bytes, blob.bytes + blob.size);
    blob.release(&blob);
    return packed;
}

/* Unpacks a copy. Returns the status and, if it succeeds, the value, which the caller releases. */
ingot_status_t unpack(const Bytes &id, const Bytes &bytes, ingot_buffer_t *value)
{
    const auto release = [](ingot_buffer_t *buffer) { delete[] static_cast<uint8_t *>(buffer->owner); };
    auto *copy = new uint8_t[bytes.size()]; /* a copy of the exact size, so that a sanitizer sees reads past its end */
    std::copy(bytes.begin(), bytes.end(), copy);
    ingot_buffer_t blob = {bytes.size(), copy, release, copy};
    const ingot_status_t status = ingot_artifact_unpack(id.size(), id.data(), &blob, value);
    EXPECT_EQ(status == INGOT_SUCCESS, blob.release == nullptr);
    if (blob.release != nullptr)
        blob.release(&blob);
    return status;
}

std::string text_of(const ingot_buffer_t &value)
{
    return std::string(reinterpret_cast<const char *>(value.bytes), value.size);
}

} // namespace

TEST(ArtifactKey, IdIsThatOfTheGoldenFile)
{
    Key key("triton", golden_fields());
    EXPECT_EQ(golden("id-v1.bin"), key.id());
}

TEST(ArtifactKey, OrderOfFieldsDoesNotMatter)
{
    Fields fields = golden_fields();
    Key key("triton", fields);
    std::reverse(fields.begin(), fields.end());
    Key other("triton", fields);
    EXPECT_EQ(key.id(), other.id());
}

TEST(ArtifactKey, EveryPartOfAKeyChangesTheId)
{
    Key key("triton", {{"AB", "C"}, {"x", "1"}});
    for (const Fields &fields : {Fields{{"A", "BC"}, {"x", "1"}}, Fields{{"AB", "C"}, {"x", "2"}},
                                 Fields{{"AB", "C"}, {"y", "1"}}, Fields{{"AB", "C"}}}) {
        Key other("triton", fields);
        EXPECT_NE(key.id(), other.id());
    }
    Key other_kind("jax", {{"AB", "C"}, {"x", "1"}});
    EXPECT_NE(key.id(), other_kind.id());
    /* A long value whose digest is the value of another key. */
    Key long_value("triton", {{"x", std::string(257, 'x')}});
    uint8_t digest[DIGEST_SIZE];
    digest_of(257, std::string(257, 'x').data(), digest);
    Key its_digest("triton", {{"x", std::string(reinterpret_cast<char *>(digest), DIGEST_SIZE)}});
    EXPECT_NE(long_value.id(), its_digest.id());
}

TEST(ArtifactKey, WrongKeysAreRefusedByName)
{
    Bytes id;
    const auto refused = [&](Key &&key, const char *word) {
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, key.id(&id)) << word;
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), word)) << ingot_last_error_detail();
    };
    refused(Key("", {}), "kind");
    refused(Key("a b", {}), "kind");
    refused(Key(std::string(65, 'a'), {}), "kind");
    refused(Key("k", {{"", "x"}}), "name");
    refused(Key("k", {{std::string(256, 'n'), "x"}}), "name");
    refused(Key("k", {{"twice", "1"}, {"other", ""}, {"twice", "2"}}), "twice");
    refused(Key("k", Fields(257, {"n", ""})), "257");
    Fields large;
    for (int i = 0; i < 256; ++i)
        large.emplace_back("n" + std::to_string(i), std::string(256, 'v'));
    refused(Key("k", large), "more than 65536");
    Key null_value("k", {{"n", "v"}});
    null_value.field(0).value = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, null_value.id(&id));
    size_t size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_key_get_id(nullptr, &size, nullptr));
    Key fine(std::string(64, 'a'), {{std::string(255, 'n'), ""}});
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_key_get_id(fine.get(), nullptr, nullptr));
    EXPECT_EQ(INGOT_SUCCESS, fine.id(&id));
    size = id.size() - 1;
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_artifact_key_get_id(fine.get(), &size, id.data()));
    EXPECT_EQ(id.size(), size);
}

TEST(ArtifactKey, DifferencesAreExplainedByField)
{
    Key wanted("triton", {{"source", "a"}, {"target", "cuda:90"}, {"raw", std::string("\x01\xff", 2)}});
    Key found("triton", {{"source", "a"}, {"target", "cuda:80"}, {"long", std::string(1000, 'x')}});
    EXPECT_EQ(R"({"artifact": "triton", "key.raw": "01ff", "key.source": "a", "key.target": "cuda:90"})",
              describe_id(wanted.id()));
    const std::string text = explain_ids(wanted.id(), found.id());
    EXPECT_NE(std::string::npos, text.find(R"({"field": "key.target", "expected": "cuda:90", "found": "cuda:80"})"))
        << text;
    EXPECT_NE(std::string::npos, text.find(R"({"field": "key.long.blake2b", "expected": null)")) << text;
    EXPECT_EQ(std::string::npos, text.find("key.source")) << text;
    EXPECT_EQ("[]", explain_ids(wanted.id(), wanted.id()));
}

TEST(ArtifactBlob, GoldenFilesAreReadForEver)
{
    Key key("triton", golden_fields());
    Info info(golden_parts());
    info.get()->label = "add_kernel";
    info.get()->make_time_ms = 1234;
    info.get()->made_at_unix_ms = 1700000000123;
    EXPECT_EQ(golden("parts-v1.bin"), pack(&key, info.get(), info.bytes()));
    ingot_artifact_info_t plain = INGOT_ARTIFACT_INFO_INIT;
    plain.made_at_unix_ms = 1;
    EXPECT_EQ(golden("empty-v1.bin"), pack(&key, &plain, ""));

    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ASSERT_EQ(INGOT_SUCCESS, unpack(key.id(), golden("parts-v1.bin"), &value));
    EXPECT_EQ(info.bytes(), text_of(value));
    ingot_artifact_info_t read = INGOT_ARTIFACT_INFO_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_get_info(&value, &read));
    EXPECT_STREQ("triton", read.kind);
    EXPECT_STREQ("add_kernel", read.label);
    EXPECT_EQ(1234u, read.make_time_ms);
    EXPECT_EQ(1700000000123u, read.made_at_unix_ms);
    ASSERT_EQ(3u, read.part_count);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(golden_parts()[i].first, read.parts[i].name);
        EXPECT_EQ(golden_parts()[i].second.size(), read.parts[i].size);
    }
    value.release(&value);

    ASSERT_EQ(INGOT_SUCCESS, unpack(key.id(), golden("empty-v1.bin"), &value));
    EXPECT_EQ(0u, value.size);
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_get_info(&value, &read));
    ASSERT_EQ(1u, read.part_count);
    EXPECT_STREQ("", read.parts[0].name);
    value.release(&value);

    EXPECT_EQ(INGOT_BLOB_VERSION, unpack(key.id(), golden("later-v2.bin"), &value));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "version 2"));
    EXPECT_EQ(
        R"({"artifact": "triton", "label": "add_kernel", "make_time_ms": 1234, "made_at_unix_ms": 1700000000123, )"
        R"("parts": [{"name": "add.cubin", "bytes": 9}, {"name": "add.json", "bytes": 2}, )"
        R"({"name": "add.log", "bytes": 0}]})",
        describe_blob(golden("parts-v1.bin")));
}

TEST(ArtifactBlob, EveryCutAndEveryChangedByteIsRefused)
{
    Key key("triton", golden_fields());
    const Bytes id = key.id();
    const Bytes sound = golden("parts-v1.bin");
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    for (size_t i = 0; i < sound.size(); ++i) {
        const ingot_status_t cut = unpack(id, Bytes(sound.begin(), sound.begin() + static_cast<ptrdiff_t>(i)), &value);
        EXPECT_EQ(INGOT_BLOB_TRUNCATED, cut) << i;
        for (int bit = 0; bit < 8; ++bit) {
            Bytes changed = sound;
            changed[i] = static_cast<uint8_t>(changed[i] ^ (1u << bit));
            EXPECT_NE(INGOT_SUCCESS, unpack(id, changed, &value)) << i;
        }
    }
    Bytes longer = sound;
    longer.push_back(0);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, unpack(id, longer, &value));
    Key other("triton", {});
    EXPECT_EQ(INGOT_BLOB_MISMATCH, unpack(other.id(), sound, &value));
    EXPECT_EQ(nullptr, value.release);
}

/* The checksum is corrected, so only the checks of sizes can detect the wrong size. */
TEST(ArtifactBlob, LengthsThatLieAllocateNothing)
{
    const Bytes sound = golden("parts-v1.bin");
    Key key("triton", golden_fields());
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    for (const size_t offset : {12u, 24u, 80u, 88u, 96u}) {
        for (const uint64_t lie :
             {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX, uint64_t{sound.size()}, uint64_t{1} << 31}) {
            Bytes blob = sound;
            memcpy(blob.data() + offset, &lie, offset == 12 ? 4 : 8);
            if (blob == sound)
                continue; /* the last part is empty */
            const hash128 checksum = hash128_of(blob.size() - 16, blob.data());
            memcpy(blob.data() + blob.size() - 16, &checksum.low, 8);
            memcpy(blob.data() + blob.size() - 8, &checksum.high, 8);
            EXPECT_EQ(INGOT_BLOB_CORRUPT, unpack(key.id(), blob, &value)) << offset << " " << lie;
        }
    }
}

TEST(ArtifactBlob, WrongInfosAreRefused)
{
    const Bytes id = Key("k", {}).id();
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const auto refused = [&](Info *info, size_t size) {
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
                  ingot_artifact_pack(id.size(), id.data(), info->get(), size, info->bytes().data(), &blob));
        EXPECT_EQ(nullptr, blob.release);
    };
    Info info({{"a", "12"}, {"b", "3"}});
    refused(&info, 2);
    refused(&info, 4);
    info.part(1).size = UINT64_MAX;
    refused(&info, 1);
    Info long_name(Parts{{std::string(256, 'n'), ""}});
    refused(&long_name, 0);
    Info equal_names({{"a", "1"}, {"b", "2"}, {"a", "3"}});
    refused(&equal_names, 3);
    EXPECT_STREQ("info.parts has the name \"a\" twice", ingot_last_error_detail());
    Info null_name(Parts{{"x", ""}});
    null_name.part(0).name = nullptr;
    refused(&null_name, 0);
    Info no_size(Parts{});
    no_size.get()->struct_size = 0;
    refused(&no_size, 0);
    const std::string label(1024, 'l');
    Info long_label(Parts{});
    long_label.get()->label = label.c_str();
    refused(&long_label, 0);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_pack(id.size(), id.data(), nullptr, 1, nullptr, &blob));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_pack(0, nullptr, nullptr, 0, nullptr, &blob));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_pack(id.size(), id.data(), nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, ingot_artifact_pack(id.size() - 1, id.data(), nullptr, 0, nullptr, &blob));
    ingot_artifact_info_t read = INGOT_ARTIFACT_INFO_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_get_info(&blob, &read));
}

TEST(ArtifactBlob, TheTimeOfMakingIsNowByDefault)
{
    Key key("k", {});
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t read = INGOT_ARTIFACT_INFO_INIT;
    const auto before = static_cast<uint64_t>(time(nullptr)) * 1000;
    ASSERT_EQ(INGOT_SUCCESS, unpack(key.id(), pack(&key, nullptr, "x"), &value));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_get_info(&value, &read));
    EXPECT_GE(read.made_at_unix_ms, before);
    value.release(&value);
}

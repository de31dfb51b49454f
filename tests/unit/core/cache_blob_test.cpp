/*
 * cache_blob_test.cpp - tests how blobs are read back: sound ones, changed ones, and those of another program or
 * device.
 */
#include <chrono>
#include <ingot/private/descriptor.h>

#include "support/id_texts.h"
#include "support/reference_context.h"

extern "C" {
#include "core/blob/cache_blob.h"
}

namespace
{

Bytes blob_with(ReferenceDevice device, const ProgramText &text = {})
{
    const Context context = device.make();
    return blob_of(create_program(text.make(context)));
}

uint64_t now_ns()
{
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

uint64_t build_time_of(const Program &program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program.get(), &facts));
    return facts.build_time_ns;
}

uint64_t build_time_of(const Bytes &blob)
{
    blob_view view;
    EXPECT_EQ(INGOT_SUCCESS, blob_read(&view, blob.size(), blob.data()));
    return view.build_ns;
}

class CacheBlob : public testing::Test
{
protected:
    ReferenceDevice device_;
    const Context context_ = device_.make();
    const Desc desc_ = ProgramText().make(context_);
};

} // namespace

TEST_F(CacheBlob, AsksTheDriverOnceForSizeAndBytesAndFillsNoSmallerBuffer)
{
    const Program program = create_program(desc_);
    size_t needed = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &needed, nullptr));
    Bytes buffer(needed + 7, 0xee);
    for (size_t capacity = 0; capacity < needed; ++capacity) {
        size_t size = capacity;
        ASSERT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_program_get_cache_blob(program.get(), &size, buffer.data()));
        ASSERT_EQ(needed, size);
    }
    EXPECT_EQ(Bytes(needed + 7, 0xee), buffer);
    size_t size = buffer.size();
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &size, buffer.data()));
    EXPECT_EQ(needed, size);
    EXPECT_EQ(0xee, buffer[size]);
    EXPECT_EQ(1u, device_.counts.binaries_taken);
    EXPECT_EQ(1u, stats_of(context_).blobs_taken);
}

TEST_F(CacheBlob, RefusesEveryTruncationAndEveryFlippedByteBeforeTheDriverSeesIt)
{
    const auto blob = blob_with({});
    for (size_t length = 0; length < blob.size(); ++length) {
        const Bytes cut(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(length));
        ASSERT_EQ(INGOT_BLOB_TRUNCATED, load_program(desc_, cut)) << length;
    }
    EXPECT_EQ(blob.size(), stats_of(context_).load_failures);
    for (size_t i = 0; i < blob.size(); ++i) {
        for (const uint8_t mask : {0x01, 0x80, 0xff}) {
            Bytes flipped = blob;
            flipped[i] ^= mask;
            const ingot_status_t status = load_program(desc_, flipped);
            const bool is_known = i == 8 && (flipped[i] == 1 || flipped[i] == 2); /* an earlier version */
            const ingot_status_t expected = i >= 8 && i < 12 && !is_known ? INGOT_BLOB_VERSION : INGOT_BLOB_CORRUPT;
            if (i >= 16 && i < 24) /* the total size, which may now be larger */
                ASSERT_TRUE(status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT) << i;
            else
                ASSERT_EQ(expected, status) << i;
        }
    }
    Bytes longer = blob;
    longer.push_back(0);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, load_program(desc_, longer));
    EXPECT_EQ(0u, device_.counts.loads) << "the driver saw nothing";
    EXPECT_NE(nullptr, create_program(desc_));
}

TEST_F(CacheBlob, TellsAnotherProgramFromAnotherDevice)
{
    ProgramText other_program;
    other_program.compile_options = "-DA=1";
    EXPECT_EQ(INGOT_BLOB_MISMATCH, load_program(desc_, blob_with({}, other_program)));
    EXPECT_EQ(0u, std::string(ingot_last_error_detail()).find("request: expected ")) << ingot_last_error_detail();
    ReferenceDevice other_device;
    other_device.targets = {"beta"};
    EXPECT_EQ(INGOT_BLOB_STALE, load_program(desc_, blob_with(other_device)));
    EXPECT_EQ(0u, std::string(ingot_last_error_detail()).find("device[0] (device, driver and compiler): expected "))
        << ingot_last_error_detail();
    ReferenceDevice other_driver;
    other_driver.driver_version = "2";
    EXPECT_EQ(INGOT_BLOB_STALE, load_program(desc_, blob_with(other_driver)));
    ReferenceDevice other_backend;
    other_backend.name = "another";
    EXPECT_EQ(INGOT_BLOB_STALE, load_program(desc_, blob_with(other_backend)));
    EXPECT_EQ(0u, device_.counts.loads) << "decided before the driver sees the bytes";
}

/* In this test, only builds take a noticeable time. */
TEST_F(CacheBlob, KeepsTheSumOfTheBuildTimes)
{
    const auto slow = [](void *, const char *operation) {
        const uint64_t began = now_ns();
        while (std::string(operation) == "build" && now_ns() - began < 1000000) {
        }
        return INGOT_SUCCESS;
    };
    ReferenceDevice one;
    one.targets = {"beta"};
    one.hook = slow;
    const auto blob = blob_with(one);
    ReferenceDevice device;
    device.targets = {"alpha", "beta", "alpha"};
    device.hook = slow;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    EXPECT_LE(2000000u, build_time_of(create_program(desc))) << "of two distinct devices";
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    Program program;
    ASSERT_EQ(INGOT_SUCCESS, load_program(desc, blob, &program)) << ingot_last_error_detail();
    const uint64_t stored = build_time_of(blob);
    EXPECT_LE(1000000u, stored);
    EXPECT_LE(stored + 1000000u, build_time_of(program)) << "the blob's, and of the device that it lacks";
    EXPECT_EQ(build_time_of(program), build_time_of(blob_of(program)));

    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_facts(nullptr, &facts));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_facts(program.get(), nullptr));
    facts.struct_size = offsetof(ingot_program_facts_t, build_log); /* an older caller */
    facts.build_log = "untouched";
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program.get(), &facts));
    EXPECT_STREQ("untouched", facts.build_log);
    facts.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_facts(program.get(), &facts));
}

TEST_F(CacheBlob, IsDescribedWithoutADevice)
{
    ReferenceDevice device;
    device.targets = {"alpha", "beta", "alpha"};
    const std::string text = describe_blob(blob_with(device));
    EXPECT_EQ(0u, text.find(R"({"source_name": "test", "files": [], "kernels": ["square", "twice"], )"
                            R"("binaries": [{"device_blake2b": ")"))
        << text;
    size_t binaries = 0;
    for (size_t at = text.find("\"bytes\": "); at != std::string::npos; at = text.find("\"bytes\": ", at + 1))
        ++binaries;
    EXPECT_EQ(2u, binaries) << text; /* identical devices share a binary */
    EXPECT_NE(std::string::npos, text.find("], \"build_time_ns\": ")) << text;
    EXPECT_NE(std::string::npos, text.find(", \"build_log\": \"")) << text;
}

TEST_F(CacheBlob, IsNotDescribedWhenDamaged)
{
    auto blob = blob_with({});
    size_t size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_blob_describe(blob.size(), blob.data(), nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_blob_describe(blob.size(), nullptr, &size, nullptr));
    char small[4];
    size = sizeof(small);
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_cache_blob_describe(blob.size(), blob.data(), &size, small));
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, ingot_cache_blob_describe(blob.size() - 1, blob.data(), &size, nullptr));
    blob[blob.size() / 2] ^= 1;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_cache_blob_describe(blob.size(), blob.data(), &size, nullptr));
}

TEST_F(CacheBlob, IsUnimplementedWithoutBinaries)
{
    const auto blob = blob_with({});
    ReferenceDevice device;
    device.no_binaries = true;
    device.targets = {"alpha", "alpha"};
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const Program program = create_program(desc);
    EXPECT_EQ(INGOT_UNIMPLEMENTED, has_blob(program));
    ingot_context_clear_cache(context.get(), nullptr);
    EXPECT_EQ(INGOT_UNIMPLEMENTED, load_program(desc, blob));
}

TEST_F(CacheBlob, IsRefusedForWhatNothingCanVouchFor)
{
    ProgramText text;
    text.sources = {"kernel a x __DATE__ no_such_word\n"};
    const Desc desc = text.make(context_);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, load_program(desc, blob_with({})));
    const auto builds = device_.counts.builds;
    EXPECT_EQ(INGOT_BUILD_FAILED, request(desc));
    EXPECT_EQ(builds + 1, device_.counts.builds);
}

/* The first request compiles twice: without the includes, and then natively. Later requests only compile natively. */
TEST_F(CacheBlob, IsNotThereForAProgramThatOnlyBuildsNatively)
{
    ProgramText text;
    text.sources = {"kernel a x\n#include \"absent.h\"\n"};
    const Desc desc = text.make(context_);
    for (const uint64_t builds : {2u, 3u, 4u}) {
        EXPECT_EQ(INGOT_BUILD_FAILED, request(desc));
        EXPECT_EQ(builds, device_.counts.builds);
    }
    EXPECT_TRUE(last_error_has("no header absent.h"));
}

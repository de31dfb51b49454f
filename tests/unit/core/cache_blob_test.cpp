/*
 * cache_blob_test.cpp - tests how blobs are read back: sound ones, changed ones, and those of another program or
 * device.
 */
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "support/reference_context.h"

extern "C" {
#include "core/blob/cache_blob.h"
}

namespace
{

ingot_status_t try_load(const Desc &desc, const std::vector<uint8_t> &blob, Program *program = nullptr)
{
    ingot_program_t made = nullptr;
    const ingot_status_t status = ingot_program_create_from_cache_blob(&made, desc.get(), blob.size(), blob.data());
    EXPECT_EQ(status == INGOT_SUCCESS, made != nullptr);
    Program held(made);
    if (program != nullptr)
        *program = std::move(held);
    return status;
}

std::vector<uint8_t> blob_with(ReferenceDevice device, const ProgramText &text = {})
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

uint64_t build_time_of(const std::vector<uint8_t> &blob)
{
    blob_view view;
    EXPECT_EQ(INGOT_SUCCESS, blob_read(&view, blob.size(), blob.data()));
    return view.build_ns;
}

bool is_refusal(ingot_status_t status)
{
    return status >= INGOT_BLOB_TRUNCATED && status <= INGOT_BLOB_REJECTED;
}

class CacheBlob : public testing::Test
{
protected:
    ReferenceDevice device_;
    const Context context_ = device_.make();
    const Desc desc_ = ProgramText().make(context_);
};

} // namespace

TEST_F(CacheBlob, MakesTheProgramWithoutCompiling)
{
    const auto blob = blob_with({});
    Program program;
    ASSERT_EQ(INGOT_SUCCESS, try_load(desc_, blob, &program)) << ingot_last_error_detail();
    EXPECT_EQ(0u, device_.counts.builds);
    EXPECT_EQ(9, run(create_kernel(program, "square"), 3));
    size_t size = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_build_log(program.get(), &size, nullptr));
    std::string log(size, '\0');
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_build_log(program.get(), &size, log.data()));
    EXPECT_STREQ("compiled for alpha\n", log.c_str());
    EXPECT_EQ(blob, blob_of(program)) << "written again, byte for byte the same";
    EXPECT_EQ(blob, blob_of(program)) << "and again";
}

TEST_F(CacheBlob, KeepsToTheSizeProtocol)
{
    const Program program = create_program(desc_);
    const auto blob = blob_of(program);
    std::vector<uint8_t> out(blob.size() + 8, 0x77);
    const std::vector<uint8_t> untouched = out;
    for (size_t capacity = 0; capacity < blob.size(); ++capacity) {
        size_t size = capacity;
        ASSERT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_program_get_cache_blob(program.get(), &size, out.data()));
        ASSERT_EQ(blob.size(), size);
        ASSERT_EQ(untouched, out);
    }
    size_t size = out.size();
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &size, out.data()));
    EXPECT_EQ(blob.size(), size);
    EXPECT_TRUE(std::equal(blob.begin(), blob.end(), out.begin()));
    EXPECT_EQ(0x77, out[blob.size()]);
}

TEST_F(CacheBlob, AsksTheDriverOnceForSizeAndBytes)
{
    const Program program = create_program(desc_);
    (void)blob_of(program);
    EXPECT_EQ(1u, device_.counts.binaries_taken);
    EXPECT_EQ(1u, stats_of(context_).blobs_taken);
}

TEST_F(CacheBlob, RefusesEveryTruncation)
{
    const auto blob = blob_with({});
    for (size_t length = 0; length < blob.size(); ++length) {
        const std::vector<uint8_t> cut(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(length));
        ASSERT_EQ(INGOT_BLOB_TRUNCATED, try_load(desc_, cut)) << length;
    }
    EXPECT_EQ(0u, device_.counts.loads) << "the driver saw nothing";
    EXPECT_EQ(blob.size(), stats_of(context_).load_failures);
    EXPECT_NE(nullptr, create_program(desc_));
}

TEST_F(CacheBlob, RefusesEveryFlippedByte)
{
    const auto blob = blob_with({});
    for (size_t i = 0; i < blob.size(); ++i) {
        for (const uint8_t mask : {0x01, 0x80, 0xff}) {
            std::vector<uint8_t> flipped = blob;
            flipped[i] ^= mask;
            const ingot_status_t status = try_load(desc_, flipped);
            const bool is_known = i == 8 && (flipped[i] == 1 || flipped[i] == 2); /* an earlier version */
            const ingot_status_t expected = i >= 8 && i < 12 && !is_known ? INGOT_BLOB_VERSION : INGOT_BLOB_CORRUPT;
            if (i >= 16 && i < 24) /* the total size, which may now be larger */
                ASSERT_TRUE(status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT) << i;
            else
                ASSERT_EQ(expected, status) << i;
        }
    }
    EXPECT_EQ(0u, device_.counts.loads) << "the driver saw nothing";
    EXPECT_NE(nullptr, create_program(desc_));
}

TEST_F(CacheBlob, RefusesGarbage)
{
    std::mt19937 random(7);
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, try_load(desc_, {}));
    for (int round = 0; round < 1000; ++round) {
        std::vector<uint8_t> garbage(random() % 400);
        std::generate(garbage.begin(), garbage.end(), [&] { return static_cast<uint8_t>(random()); });
        ASSERT_TRUE(is_refusal(try_load(desc_, garbage)));
    }
    auto appended = blob_with({});
    appended.push_back(0);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_load(desc_, appended));
}

TEST_F(CacheBlob, TellsAnotherProgramFromAnotherDevice)
{
    ProgramText other_program;
    other_program.compile_options = "-DA=1";
    EXPECT_EQ(INGOT_BLOB_MISMATCH, try_load(desc_, blob_with({}, other_program)));
    EXPECT_EQ(0u, std::string(ingot_last_error_detail()).find("request: expected ")) << ingot_last_error_detail();
    ReferenceDevice other_device;
    other_device.targets = {"beta"};
    EXPECT_EQ(INGOT_BLOB_STALE, try_load(desc_, blob_with(other_device)));
    EXPECT_EQ(0u, std::string(ingot_last_error_detail()).find("device[0] (device, driver and compiler): expected "))
        << ingot_last_error_detail();
    ReferenceDevice other_driver;
    other_driver.driver_version = "2";
    EXPECT_EQ(INGOT_BLOB_STALE, try_load(desc_, blob_with(other_driver)));
    EXPECT_EQ(0u, device_.counts.loads) << "decided before the driver sees the bytes";
}

TEST_F(CacheBlob, BuildsOnlyTheDevicesThatItLacks)
{
    ReferenceDevice one;
    one.targets = {"beta"};
    const auto blob = blob_with(one);
    ReferenceDevice device;
    device.targets = {"alpha", "beta", "beta", "alpha"};
    const Context context = device.make();
    Program program;
    ASSERT_EQ(INGOT_SUCCESS, try_load(ProgramText().make(context), blob, &program)) << ingot_last_error_detail();
    EXPECT_EQ(1u, device.counts.builds) << "alpha, once";
    for (uint32_t i = 0; i < 4; ++i)
        EXPECT_EQ(16, run(create_kernel(program, "square", i), 4));
    ReferenceDevice both;
    both.targets = {"alpha", "beta"};
    EXPECT_EQ(blob_with(both).size(), blob_of(program).size());
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
    ASSERT_EQ(INGOT_SUCCESS, try_load(desc, blob, &program)) << ingot_last_error_detail();
    const uint64_t stored = build_time_of(blob);
    EXPECT_LE(1000000u, stored);
    EXPECT_LE(stored + 1000000u, build_time_of(program)) << "the blob's, and of the device that it lacks";
    EXPECT_EQ(build_time_of(program), build_time_of(blob_of(program)));

    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_facts(nullptr, &facts));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_facts(program.get(), nullptr));
    facts.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_facts(program.get(), &facts));
}

TEST_F(CacheBlob, ReportsTheDriversRefusal)
{
    const auto blob = blob_with({});
    ReferenceDevice device;
    device.hook = [](void *, const char *operation) {
        return std::string(operation) == "load" ? INGOT_BLOB_REJECTED : INGOT_SUCCESS;
    };
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    EXPECT_EQ(INGOT_BLOB_REJECTED, try_load(desc, blob));
    EXPECT_NE(nullptr, create_program(desc));
    EXPECT_EQ(0, device.counts.live_programs - 1);
}

TEST_F(CacheBlob, LosesToAProgramInMemory)
{
    const Program built = create_program(desc_);
    Program loaded;
    EXPECT_EQ(INGOT_SUCCESS, try_load(desc_, {1, 2, 3}, &loaded)) << "documented: the blob is not looked at";
    EXPECT_EQ(built, loaded);
}

TEST_F(CacheBlob, NeverPoisonsThoseWhoAskedWithoutOne)
{
    for (int round = 0; round < 50; ++round) {
        ingot_context_clear_cache(context_.get(), nullptr);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&, i] {
                if (i % 2 == 0) {
                    (void)try_load(desc_, {1, 2, 3});
                } else {
                    EXPECT_NE(nullptr, create_program(desc_));
                }
            });
        }
        for (auto &thread : threads)
            thread.join();
    }
}

std::string described(const std::vector<uint8_t> &blob)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_describe(blob.size(), blob.data(), &size, nullptr));
    std::string text(size, ' ');
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_describe(blob.size(), blob.data(), &size, text.data()));
    EXPECT_EQ('\0', text.back());
    text.pop_back();
    return text;
}

TEST_F(CacheBlob, IsDescribedWithoutADevice)
{
    ReferenceDevice device;
    device.targets = {"alpha", "beta", "alpha"};
    const std::string text = described(blob_with(device));
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
    size_t size = 0;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_program_get_cache_blob(program.get(), &size, nullptr));
    ingot_context_clear_cache(context.get(), nullptr);
    EXPECT_EQ(INGOT_UNIMPLEMENTED, try_load(desc, blob));
}

TEST_F(CacheBlob, IsRefusedForWhatNothingCanVouchFor)
{
    ProgramText text;
    text.sources = {"kernel a x __DATE__ no_such_word\n"};
    const Desc desc = text.make(context_);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, try_load(desc, blob_with({})));
    const auto builds = device_.counts.builds;
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
    EXPECT_EQ(builds + 1, device_.counts.builds);
}

/* The first request compiles twice: without the includes, and then natively. Later requests only compile natively. */
TEST_F(CacheBlob, IsNotThereForAProgramThatOnlyBuildsNatively)
{
    ProgramText text;
    text.sources = {"kernel a x\n#include \"absent.h\"\n"};
    const Desc desc = text.make(context_);
    ingot_program_t program = nullptr;
    for (const uint64_t builds : {2u, 3u, 4u}) {
        EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
        EXPECT_EQ(builds, device_.counts.builds);
    }
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("no header absent.h"));
}

/*
 * cache_hip_test.cpp - ingot_cache_hip_load with the real hipRTC.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <ingot/hip.hpp>

#include "support/hip_driver.h"
#include "support/scratch_directory.h"

namespace
{

const char *const twice = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= FACTOR; }";

class CacheHip : public testing::Test
{
protected:
    CacheHip() { open(); }

    void open() { cache_ = ingot::cache::open((scratch_.path() / "store").string()); }

    void unload(hipModule_t module)
    {
        hipFunction_t kernel = nullptr;
        driver_.call("hipModuleGetFunction", &kernel, module, static_cast<const char *>("twice"));
        driver_.call("hipModuleUnload", module);
    }

    ingot_status_t load(ingot_cache_t cache, const std::string &source, const std::vector<const char *> &options)
    {
        hipModule_t module = nullptr;
        const ingot_status_t status = ingot_cache_hip_load(cache, 0, source.data(), source.size(), "twice.hip",
                                                           options.data(), options.size(), &module, &origin_);
        if (status == INGOT_SUCCESS)
            unload(module);
        return status;
    }

    ScratchDirectory scratch_{nullptr};
    ingot::cache cache_;
    HipDriver &driver_ = HipDriver::get();
    ingot_origin_t origin_ = INGOT_ORIGIN_MEMORY;
};

TEST_F(CacheHip, BuildsOnceAndThenLoads)
{
    const std::vector<const char *> options = {"-DFACTOR=(1 + '\\0' + sizeof(\"it's\"))", "-ffast-math"};
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE, INGOT_ORIGIN_STORAGE}) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), twice, options)) << ingot_last_error_detail();
        EXPECT_EQ(expected, origin_);
        open();
    }
    ASSERT_EQ(INGOT_SUCCESS, load(nullptr, twice, options)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
}

TEST_F(CacheHip, ABegunModuleIsTakenLater)
{
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        std::string source = twice;
        ingot::pending<hipModule_t> begun = ingot::hip_begin(cache_, 0, source, "twice.hip", {"-DFACTOR=3"});
        std::fill(source.begin(), source.end(), '?'); /* it was copied */
        EXPECT_EQ(expected == INGOT_ORIGIN_STORAGE, begun.ready());
        unload(begun.take(&origin_));
        EXPECT_EQ(expected, origin_);
    }
}

/* Returns a code object in a fat binary, beside an empty one for the host. */
std::string bundle_of(const std::string &code)
{
    const std::string names[] = {"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a"};
    const uint64_t offset = 4096, count = 2, sizes[] = {0, code.size()};
    std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
    const auto put = [&](uint64_t number) { bundle.append(reinterpret_cast<const char *>(&number), sizeof(number)); };
    put(count);
    for (size_t i = 0; i < count; ++i) {
        put(offset);
        put(sizes[i]);
        put(names[i].size());
        bundle += names[i];
    }
    bundle.resize(offset);
    return bundle + code;
}

TEST_F(CacheHip, MachineCodeIsLoadedAsItIsAndNotStored)
{
    ingot_context_t context = nullptr;
    ingot_source_t source = nullptr;
    ingot_program_desc_t desc = nullptr;
    ingot_program_t program = nullptr;
    ingot_source_info_t text = INGOT_SOURCE_INFO_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    text.kind = INGOT_SOURCE_HIP_CPP;
    text.bytes = twice;
    text.size = strlen(twice);
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = "-DFACTOR=2";
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_context_create_for(&context, "gfx90a", nullptr)) << ingot_last_error_detail();
    ASSERT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &text));
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info));
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc, 0)) << ingot_last_error_detail();
    size_t size = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, nullptr)) << ingot_last_error_detail();
    std::string bytes(size, '\0');
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, reinterpret_cast<uint8_t *>(bytes.data())));
    const std::string code = bytes.substr(bytes.find("\177ELF"));
    const std::string bundle = bundle_of(code);
    for (const std::string &machine_code : {code, bundle, code}) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), machine_code, {})) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    }
    EXPECT_FALSE(ingot::hip_begin(cache_, 0, bundle).ready());
    for (const std::string &wrong : {code.substr(0, 100), bundle.substr(0, 50), bundle.substr(0, 5000), "CCOB" + code})
        EXPECT_EQ(INGOT_BUILD_FAILED, load(cache_.get(), wrong, {})) << wrong.size();
    ingot_program_release(program);
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    ingot_context_release(context);
}

TEST_F(CacheHip, AFailedBuildReturnsTheLogWithTheSourcesName)
{
    for (ingot_cache_t cache : {cache_.get(), static_cast<ingot_cache_t>(nullptr)}) {
        EXPECT_EQ(INGOT_BUILD_FAILED, load(cache, twice, {}));
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("twice.hip:1:"))
            << ingot_last_error_detail();
    }
}

TEST_F(CacheHip, RefusesWrongArguments)
{
    hipModule_t module = nullptr;
    const char *const options[] = {nullptr};
    const auto load_for = [&](int device, const char *source, size_t count) {
        return ingot_cache_hip_load(cache_.get(), device, source, 0, nullptr, options, count, &module, nullptr);
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, load_for(-1, twice, 0));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, load_for(0, nullptr, 0));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, load_for(0, twice, 1));
    EXPECT_EQ(INGOT_BACKEND_ERROR, load_for(99, twice, 0)) << "there is no such device";
}

} // namespace

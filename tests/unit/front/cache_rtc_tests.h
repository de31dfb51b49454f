/*
 * cache_rtc_tests.h - tests of the front door with the real compilers, for CUDA and for HIP. The file of each makes an
 * instance with its functions.
 */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include <ingot/cache.hpp>

#include "support/rtc_driver.h"
#include "support/scratch_directory.h"

inline const char *const kTwice = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= FACTOR; }";

template <typename Front> class CacheRtc : public testing::Test
{
protected:
    CacheRtc() { open(); }
    ~CacheRtc() override
    {
        if (Front::driver().is_stand_in()) {
            EXPECT_EQ(0, Front::driver().live_modules());
        }
    }

    void open() { cache_ = ingot::cache::open((scratch_.path() / "store").string()); }

    ingot_status_t load(ingot_cache_t cache, const std::string &source, const std::vector<const char *> &options)
    {
        typename Front::Module module = nullptr;
        const ingot_status_t status = Front::load(cache, source.c_str(), source.size(), options, &module, &origin_);
        if (status == INGOT_SUCCESS)
            Front::unload(module);
        return status;
    }

    ScratchDirectory scratch_{nullptr};
    ingot::cache cache_;
    ingot_origin_t origin_ = INGOT_ORIGIN_MEMORY;
};
TYPED_TEST_SUITE_P(CacheRtc);

/* Each option is passed as one word. */
TYPED_TEST_P(CacheRtc, BuildsOnceAndThenLoads)
{
    const std::vector<const char *> options = {"-DFACTOR=(1 + '\\0' + sizeof(\"it's\"))", TypeParam::kOption};
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE, INGOT_ORIGIN_STORAGE}) {
        ASSERT_EQ(INGOT_SUCCESS, this->load(this->cache_.get(), kTwice, options)) << ingot_last_error_detail();
        EXPECT_EQ(expected, this->origin_);
        if (expected == INGOT_ORIGIN_STORAGE)
            this->open();
    }
}

TYPED_TEST_P(CacheRtc, ANullCacheCompiles)
{
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(INGOT_SUCCESS, this->load(nullptr, kTwice, {"-DFACTOR=2"})) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, this->origin_);
    }
}

TYPED_TEST_P(CacheRtc, AFailedBuildReturnsTheLogWithTheSourcesName)
{
    for (ingot_cache_t cache : {this->cache_.get(), static_cast<ingot_cache_t>(nullptr)}) {
        EXPECT_EQ(INGOT_BUILD_FAILED, this->load(cache, kTwice, {}));
        for (const char *text : {"FACTOR", TypeParam::kPlace})
            EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find(text))
                << ingot_last_error_detail();
    }
}

TYPED_TEST_P(CacheRtc, BeginsAModuleAndTakesItLater)
{
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        std::string source = kTwice;
        auto begun = TypeParam::begin(this->cache_, source, {"-DFACTOR=3"});
        std::fill(source.begin(), source.end(), '?'); /* it was copied */
        EXPECT_EQ(expected == INGOT_ORIGIN_STORAGE, begun.ready());
        EXPECT_EQ(expected == INGOT_ORIGIN_STORAGE, begun.wait_for(std::chrono::milliseconds(1)));
        TypeParam::unload(begun.take(&this->origin_));
        EXPECT_EQ(expected, this->origin_);
        EXPECT_EQ(nullptr, begun.get());
    }
    TypeParam::unload(TypeParam::begin(ingot::cache(), kTwice, {"-DFACTOR=3"}).take());
}

TYPED_TEST_P(CacheRtc, ABegunModuleThatDoesNotCompileGivesTheLog)
{
    auto begun = TypeParam::begin(this->cache_, kTwice, {});
    try {
        (void)begun.take();
        FAIL() << "FACTOR is not defined";
    } catch (const ingot::error &failure) {
        EXPECT_EQ(INGOT_BUILD_FAILED, failure.status());
        EXPECT_NE(std::string::npos, std::string(failure.detail()).find("FACTOR"));
    }
    EXPECT_THROW((void)begun.take(), ingot::error) << "it is empty";
}

TYPED_TEST_P(CacheRtc, RefusesWrongArguments)
{
    typename TypeParam::Module module = nullptr;
    const auto load = [&](const char *source, const std::vector<const char *> &options) {
        return TypeParam::load(this->cache_.get(), source, 0, options, &module, nullptr);
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, load(nullptr, {}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, load(kTwice, {nullptr}));
    ASSERT_EQ(INGOT_SUCCESS, load(kTwice, {"-DFACTOR=2"})) << "the text ends with a NUL";
    TypeParam::unload(module);
}

REGISTER_TYPED_TEST_SUITE_P(CacheRtc, BuildsOnceAndThenLoads, ANullCacheCompiles,
                            AFailedBuildReturnsTheLogWithTheSourcesName, BeginsAModuleAndTakesItLater,
                            ABegunModuleThatDoesNotCompileGivesTheLog, RefusesWrongArguments);

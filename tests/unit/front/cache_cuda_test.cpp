/*
 * cache_cuda_test.cpp - ingot_cache_cuda_load with the toolkit's real compilers.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <ingot/cuda.hpp>

#include "support/cuda_driver.h"
#include "support/cuda_stand_in.h"
#include "support/scratch_directory.h"

namespace
{

const char *const twice = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= FACTOR; }";

class CacheCuda : public testing::Test
{
protected:
    CacheCuda() { open(); }

    void open() { cache_ = ingot::cache::open((scratch_.path() / "store").string()); }

    ingot_status_t load(ingot_cache_t cache, const char *source, const std::vector<const char *> &options)
    {
        const CudaDriver &driver = CudaDriver::get();
        CUmodule module = nullptr;
        const ingot_status_t status = ingot_cache_cuda_load(cache, driver.contexts()[0], source, 0, "twice.cu",
                                                            options.data(), options.size(), &module, &origin_);
        if (status == INGOT_SUCCESS) {
            CUfunction kernel = nullptr;
            CUcontext current = nullptr;
            driver.call("cuCtxPushCurrent_v2", driver.contexts()[0]);
            driver.call("cuModuleGetFunction", &kernel, module, static_cast<const char *>("twice"));
            driver.call("cuModuleUnload", module);
            driver.call("cuCtxPopCurrent_v2", &current);
        }
        return status;
    }

    ScratchDirectory scratch_{nullptr};
    ingot::cache cache_;
    ingot_origin_t origin_ = INGOT_ORIGIN_MEMORY;
};

TEST_F(CacheCuda, BuildsOnceAndThenLoads)
{
    const std::vector<const char *> options = {"-DFACTOR=2", "--use_fast_math"};
    ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), twice, options)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    for (int i = 0; i < 2; ++i, open()) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), twice, options));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_);
    }
}

TEST_F(CacheCuda, PassesEachOptionAsOneWord)
{
    ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), twice, {"-DFACTOR=(1 + '\\0' + sizeof(\"it's\"))"}))
        << ingot_last_error_detail();
}

TEST_F(CacheCuda, ANullCacheCompiles)
{
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(INGOT_SUCCESS, load(nullptr, twice, {"-DFACTOR=2"})) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    }
}

TEST_F(CacheCuda, LoadsPtx)
{
    const char *const ptx = "/* a comment */ // and another\n.version 7.0\n.target sm_75\n.address_size 64\n"
                            ".visible .entry twice() { ret; }\n";
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), ptx, {})) << ingot_last_error_detail();
        EXPECT_EQ(expected, origin_);
    }
}

TEST_F(CacheCuda, AFailedBuildReturnsTheLog)
{
    for (ingot_cache_t cache : {cache_.get(), static_cast<ingot_cache_t>(nullptr)}) {
        EXPECT_EQ(INGOT_BUILD_FAILED, load(cache, twice, {}));
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("FACTOR"));
    }
}

TEST_F(CacheCuda, LeavesNoModuleAndNoCurrentContext)
{
    ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), twice, {"-DFACTOR=2"}));
    ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), twice, {"-DFACTOR=2"}));
    const CudaDriver &driver = CudaDriver::get();
    EXPECT_EQ(0, driver.function<int (*)()>("cuda_stand_in_live_modules")());
    EXPECT_EQ(0, driver.function<int (*)()>("cuda_stand_in_stack_depth")());
}

/* ---- begun modules ---- */

void unload(CUmodule module)
{
    const CudaDriver &driver = CudaDriver::get();
    CUcontext current = nullptr;
    driver.call("cuCtxPushCurrent_v2", driver.contexts()[0]);
    driver.call("cuModuleUnload", module);
    driver.call("cuCtxPopCurrent_v2", &current);
}

TEST_F(CacheCuda, BeginsAModuleAndTakesItLater)
{
    const CudaDriver &driver = CudaDriver::get();
    const CUcontext context = driver.contexts()[0];
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        ingot::pending<CUmodule> begun;
        {
            std::string source = twice;
            begun = ingot::cuda_begin(cache_, context, source, "twice.cu", {"-DFACTOR=3"});
            std::fill(source.begin(), source.end(), '?'); /* it was copied */
        }
        EXPECT_EQ(expected == INGOT_ORIGIN_STORAGE, begun.ready());
        EXPECT_EQ(expected == INGOT_ORIGIN_STORAGE, begun.wait_for(std::chrono::milliseconds(1)));
        CUmodule module = begun.take(&origin_);
        EXPECT_EQ(expected, origin_);
        EXPECT_EQ(nullptr, begun.get());
        unload(module);
    }
    const ingot::cache none;
    unload(ingot::cuda_begin(none, context, twice, "", {"-DFACTOR=3"}).take());
    EXPECT_EQ(0, driver.function<int (*)()>("cuda_stand_in_live_modules")());
}

TEST_F(CacheCuda, ABegunModuleThatDoesNotCompileGivesTheLog)
{
    ingot::pending<CUmodule> begun = ingot::cuda_begin(cache_, CudaDriver::get().contexts()[0], twice);
    try {
        (void)begun.take();
        FAIL() << "FACTOR is not defined";
    } catch (const ingot::error &failure) {
        EXPECT_EQ(INGOT_BUILD_FAILED, failure.status());
        EXPECT_NE(std::string::npos, std::string(failure.detail()).find("FACTOR"));
    }
    EXPECT_THROW((void)begun.take(), ingot::error) << "it is empty";
}

TEST_F(CacheCuda, RefusesWrongArguments)
{
    CUmodule module = nullptr;
    const char *const options[] = {nullptr};
    const CUcontext context = CudaDriver::get().contexts()[0];
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_cache_cuda_load(cache_.get(), nullptr, twice, 0, nullptr, nullptr, 0, &module, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_cache_cuda_load(cache_.get(), context, nullptr, 0, nullptr, nullptr, 0, &module, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_cache_cuda_load(cache_.get(), context, twice, 0, nullptr, options, 1, &module, nullptr));
}

} // namespace

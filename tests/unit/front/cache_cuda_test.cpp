/*
 * cache_cuda_test.cpp - ingot_cache_cuda_load with the toolkit's real compilers.
 */
#include <ingot/cuda.hpp>

#include "support/cuda_driver.h"
#include "unit/front/cache_rtc_tests.h"

namespace
{

struct CudaFront {
    using Module = CUmodule;
    static constexpr const char *kOption = "--use_fast_math";
    static constexpr const char *kPlace = "twice.cu(1)";

    static const CudaDriver &driver() { return CudaDriver::get(); }
    static CUcontext context() { return driver().contexts()[0]; }

    static ingot_status_t load(ingot_cache_t cache, const char *source, size_t size,
                               const std::vector<const char *> &options, CUmodule *module, ingot_origin_t *origin)
    {
        return ingot_cache_cuda_load(cache, context(), source, size, "twice.cu", options.data(), options.size(), module,
                                     origin);
    }
    static ingot::pending<CUmodule> begin(const ingot::cache &cache, const std::string &source,
                                          const std::vector<std::string> &options)
    {
        return ingot::cuda_begin(cache, context(), source, "twice.cu", options);
    }
    static void unload(CUmodule module)
    {
        CUfunction kernel = nullptr;
        CUcontext current = nullptr;
        EXPECT_EQ(0, driver().function<int (*)()>("cuda_stand_in_stack_depth")()) << "the load left a current context";
        driver().call("cuCtxPushCurrent_v2", context());
        driver().call("cuModuleGetFunction", &kernel, module, static_cast<const char *>("twice"));
        driver().call("cuModuleUnload", module);
        driver().call("cuCtxPopCurrent_v2", &current);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, CacheRtc, CudaFront, );

using CacheCuda = CacheRtc<CudaFront>;

TEST_F(CacheCuda, LoadsPtx)
{
    const char *const ptx = "/* a comment */ // and another\n.version 7.0\n.target sm_75\n.address_size 64\n"
                            ".visible .entry twice() { ret; }\n";
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), ptx, {})) << ingot_last_error_detail();
        EXPECT_EQ(expected, origin_);
    }
}

TEST_F(CacheCuda, NeedsAContext)
{
    CUmodule module = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_cache_cuda_load(cache_.get(), nullptr, kTwice, 0, nullptr, nullptr, 0, &module, nullptr));
}

} // namespace

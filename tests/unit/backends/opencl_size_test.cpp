/*
 * opencl_size_test.cpp - tests the size that the in-memory cache counts for a program before its blob is taken.
 */
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <ingot/opencl.h>

#include "support/one_source.h"
#include "support/opencl_platform.h"

namespace
{

/* Returns the size that the cache counts after the build, and the real size of the program's binaries. */
std::pair<size_t, size_t> counted_and_real(const std::string &text)
{
    const OpenclContext native({OpenclPlatform::get().devices()[0]});
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, nullptr));
    ingot_program_desc_t desc = describe_one_source(context, INGOT_SOURCE_OPENCL_C, text);
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc, 0)) << ingot_last_error_detail();
    ingot_cache_stats_t counted = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context, &counted));
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, nullptr)) << ingot_last_error_detail();
    std::vector<uint8_t> blob(size);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, blob.data()));
    ingot_cache_stats_t real = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context, &real));
    ingot_program_release(program);
    ingot_program_desc_release(desc);
    ingot_context_release(context);
    return {counted.bytes, real.bytes};
}

std::string kernels(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += "__kernel void k" + std::to_string(i) + "(__global int *x) { x[get_global_id(0)] *= 3; }\n";
    return text;
}

/* PoCL's binaries have more for each kernel. Other drivers know the size of a binary right after the build. */
TEST(OpenclSize, IsCountedByKernelsUntilTheBlobIsTaken)
{
    for (const int count : {1, 4, 8}) {
        const auto [counted, real] = counted_and_real(kernels(count));
        EXPECT_LT(real / 2, counted) << count << " kernels";
        EXPECT_GT(real * 2, counted) << count << " kernels";
    }
}

} // namespace

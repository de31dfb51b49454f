/*
 * cuda_absent_test.cpp - tests the CUDA backend without a driver: the library path leads to a libcuda.so.1 without
 * functions.
 */
#include <cstring>

#include <gtest/gtest.h>

#include <ingot/cuda.h>

TEST(CudaContext, IsUnimplementedWithoutADriver)
{
    int place = 0;
    CUcontext native = reinterpret_cast<CUcontext>(&place);
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_cuda_context_create(&context, 1, &native, nullptr));
    EXPECT_EQ(nullptr, context);
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "no CUDA driver (libcuda.so.1)")) << ingot_last_error_detail();
}

/*
 * common.cuh - has what the kernels of the digits example share, in CUDA C++. The OpenCL kernels are in
 * examples/digits.
 */
#pragma once

#define SIDE 8
#define PIXELS (SIDE * SIDE)

__device__ inline float activate(float x)
{
#ifdef FUSE_RELU
    return fmaxf(x, 0.0f);
#else
    return x;
#endif
}

/* pool.cu - finds the largest value of each 2x2 window. Options: CHANNELS, GROUP. */
#include "common.cuh"

#define POOLED (SIDE / 2)

extern "C" __global__ void __launch_bounds__(GROUP) max_pool_2x2(const float *input, float *output, unsigned images)
{
    const unsigned i = blockIdx.x * GROUP + threadIdx.x;
    if (i >= images * CHANNELS * POOLED * POOLED)
        return;
    const unsigned plane = i / (POOLED * POOLED), row = i / POOLED % POOLED, column = i % POOLED;
    const float *window = input + plane * PIXELS + row * 2 * SIDE + column * 2;
    output[i] = fmaxf(fmaxf(window[0], window[1]), fmaxf(window[SIDE], window[SIDE + 1]));
}

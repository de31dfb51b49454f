/* pool.cl - takes the largest value of each 2x2 window. Options: CHANNELS, GROUP (work-group size). */
#include "common.h"

#define POOLED (SIDE / 2)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void max_pool_2x2(__global const float *input, __global float *output, uint images)
{
    const uint i = get_global_id(0);
    if (i >= images * CHANNELS * POOLED * POOLED)
        return;
    const uint plane = i / (POOLED * POOLED), row = i / POOLED % POOLED, column = i % POOLED;
    __global const float *window = input + plane * PIXELS + row * 2 * SIDE + column * 2;
    output[i] = fmax(fmax(window[0], window[1]), fmax(window[SIDE], window[SIDE + 1]));
}

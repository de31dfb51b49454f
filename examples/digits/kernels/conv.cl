/*
 * conv.cl - 3x3 convolution with a border of zeros, with one work-group per image and one work-item per pixel.
 *
 * Options: IN_CHANNELS, OUT_CHANNELS, FUSE_RELU. The image with its border is held in local memory, since each
 * pixel is read nine times for every output channel.
 */
#include "common.h"

#define BORDERED (SIDE + 2)

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void convolve_3x3(__global const float *input, __global const float *weights, __global const float *bias,
                  __global float *output)
{
    __local float image[IN_CHANNELS * BORDERED * BORDERED];
    const uint x = get_local_id(0), y = get_local_id(1), n = get_global_id(2);
    const uint item = y * SIDE + x;

    for (uint i = item; i < IN_CHANNELS * BORDERED * BORDERED; i += PIXELS) {
        const uint c = i / (BORDERED * BORDERED);
        const int row = (int)(i / BORDERED % BORDERED) - 1, column = (int)(i % BORDERED) - 1;
        const int inside = row >= 0 && row < SIDE && column >= 0 && column < SIDE;
        image[i] = inside ? input[(n * IN_CHANNELS + c) * PIXELS + row * SIDE + column] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint out = 0; out < OUT_CHANNELS; ++out) {
        float sum = bias[out];
        for (uint c = 0; c < IN_CHANNELS; ++c) {
            __local const float *from = image + (c * BORDERED + y) * BORDERED + x;
            __global const float *w = weights + (out * IN_CHANNELS + c) * 9;
            for (uint dy = 0; dy < 3; ++dy)
                for (uint dx = 0; dx < 3; ++dx)
                    sum += w[dy * 3 + dx] * from[dy * BORDERED + dx];
        }
        output[(n * OUT_CHANNELS + out) * PIXELS + item] = activate(sum);
    }
}

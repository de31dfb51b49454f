/* conv.cu - computes a 3x3 convolution with a border of zeros, one block per image. Options: IN_CHANNELS, OUT_CHANNELS,
 * FUSE_RELU. */
#include "common.cuh"

#define BORDERED (SIDE + 2)

extern "C" __global__ void __launch_bounds__(PIXELS)
    convolve_3x3(const float *input, const float *weights, const float *bias, float *output)
{
    __shared__ float image[IN_CHANNELS * BORDERED * BORDERED];
    const unsigned x = threadIdx.x, y = threadIdx.y, n = blockIdx.z;
    const unsigned item = y * SIDE + x;

    for (unsigned i = item; i < IN_CHANNELS * BORDERED * BORDERED; i += PIXELS) {
        const unsigned c = i / (BORDERED * BORDERED);
        const int row = static_cast<int>(i / BORDERED % BORDERED) - 1, column = static_cast<int>(i % BORDERED) - 1;
        const bool inside = row >= 0 && row < SIDE && column >= 0 && column < SIDE;
        image[i] = inside ? input[(n * IN_CHANNELS + c) * PIXELS + row * SIDE + column] : 0.0f;
    }
    __syncthreads();

    for (unsigned out = 0; out < OUT_CHANNELS; ++out) {
        float sum = bias[out];
        for (unsigned c = 0; c < IN_CHANNELS; ++c) {
            const float *from = image + (c * BORDERED + y) * BORDERED + x;
            const float *w = weights + (out * IN_CHANNELS + c) * 9;
            for (unsigned dy = 0; dy < 3; ++dy)
                for (unsigned dx = 0; dx < 3; ++dx)
                    sum += w[dy * 3 + dx] * from[dy * BORDERED + dx];
        }
        output[(n * OUT_CHANNELS + out) * PIXELS + item] = activate(sum);
    }
}

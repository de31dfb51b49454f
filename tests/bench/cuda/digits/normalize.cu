/* normalize.cu - converts pixels of 0..MAX_PIXEL to floats of -1..1. Options: MAX_PIXEL, GROUP. */
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(GROUP)
    normalize_pixels(const unsigned char *pixels, float *normalized, unsigned images)
{
    const unsigned i = blockIdx.x * GROUP + threadIdx.x;
    if (i < images * PIXELS)
        normalized[i] = static_cast<float>(pixels[i]) * (2.0f / MAX_PIXEL) - 1.0f;
}

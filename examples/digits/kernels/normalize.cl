/* normalize.cl - converts pixels in 0..MAX_PIXEL to floats in -1..1. Options: MAX_PIXEL, GROUP (work-group size). */
#include "common.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void normalize_pixels(__global const uchar *pixels, __global float *normalized, uint images)
{
    const uint i = get_global_id(0);
    if (i < images * PIXELS)
        normalized[i] = (float)pixels[i] * (2.0f / MAX_PIXEL) - 1.0f;
}

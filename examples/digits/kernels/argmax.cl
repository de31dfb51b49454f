/* argmax.cl - finds the likeliest class of each image. Options: CLASSES, GROUP (work-group size). */
#include "common.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void argmax(__global const float *probabilities, __global uchar *labels, uint images)
{
    const uint n = get_global_id(0);
    if (n >= images)
        return;
    uint best = 0;
    for (uint i = 1; i < CLASSES; ++i)
        if (probabilities[n * CLASSES + i] > probabilities[n * CLASSES + best])
            best = i;
    labels[n] = (uchar)best;
}

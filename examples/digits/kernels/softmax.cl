/* softmax.cl - converts logits to probabilities, with one work-item per image. Options: CLASSES, GROUP (work-group
 * size). */
#include "common.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void softmax(__global const float *logits, __global float *probabilities, uint images)
{
    const uint n = get_global_id(0);
    if (n >= images)
        return;
    float largest = logits[n * CLASSES];
    for (uint i = 1; i < CLASSES; ++i)
        largest = fmax(largest, logits[n * CLASSES + i]);
    float e[CLASSES];
    float sum = 0.0f;
    for (uint i = 0; i < CLASSES; ++i) {
        e[i] = exp(logits[n * CLASSES + i] - largest);
        sum += e[i];
    }
    for (uint i = 0; i < CLASSES; ++i)
        probabilities[n * CLASSES + i] = e[i] / sum;
}

/* softmax.cu - converts logits to probabilities, one thread per image. Options: CLASSES, GROUP. */
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(GROUP) softmax(const float *logits, float *probabilities, unsigned images)
{
    const unsigned n = blockIdx.x * GROUP + threadIdx.x;
    if (n >= images)
        return;
    float largest = logits[n * CLASSES];
    for (unsigned i = 1; i < CLASSES; ++i)
        largest = fmaxf(largest, logits[n * CLASSES + i]);
    float e[CLASSES];
    float sum = 0.0f;
    for (unsigned i = 0; i < CLASSES; ++i) {
        e[i] = expf(logits[n * CLASSES + i] - largest);
        sum += e[i];
    }
    for (unsigned i = 0; i < CLASSES; ++i)
        probabilities[n * CLASSES + i] = e[i] / sum;
}

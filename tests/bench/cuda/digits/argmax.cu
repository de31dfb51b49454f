/* argmax.cu - finds the most likely class of each image. Options: CLASSES, GROUP. */
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(GROUP)
    argmax(const float *probabilities, unsigned char *labels, unsigned images)
{
    const unsigned n = blockIdx.x * GROUP + threadIdx.x;
    if (n >= images)
        return;
    unsigned best = 0;
    for (unsigned i = 1; i < CLASSES; ++i)
        if (probabilities[n * CLASSES + i] > probabilities[n * CLASSES + best])
            best = i;
    labels[n] = static_cast<unsigned char>(best);
}

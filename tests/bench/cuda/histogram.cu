/* histogram.cu - counts how often each value occurs, first in shared memory. Option: BINS. */
extern "C" __global__ void histogram(const unsigned char *values, unsigned *counts, unsigned count)
{
    __shared__ unsigned own[BINS];
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i] * BINS / 256], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        if (own[i] != 0)
            atomicAdd(&counts[i], own[i]);
}

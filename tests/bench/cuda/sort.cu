/* sort.cu - sorts keys with values (bitonic sort), in shared memory and across blocks. Option: BLOCK. */
__device__ inline void order(unsigned &a, unsigned &b, unsigned &a_value, unsigned &b_value, bool ascending)
{
    if ((a > b) != ascending)
        return;
    const unsigned key = a, value = a_value;
    a = b;
    b = key;
    a_value = b_value;
    b_value = value;
}

extern "C" __global__ void sort_blocks(unsigned *keys, unsigned *values)
{
    __shared__ unsigned key[BLOCK * 2], value[BLOCK * 2];
    const unsigned start = blockIdx.x * BLOCK * 2;
    for (unsigned i = threadIdx.x; i < BLOCK * 2; i += BLOCK) {
        key[i] = keys[start + i];
        value[i] = values[start + i];
    }
    for (unsigned size = 2; size <= BLOCK * 2; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            const unsigned at = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            order(key[at], key[at + step], value[at], value[at + step], ((start + at) & size) == 0);
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BLOCK * 2; i += BLOCK) {
        keys[start + i] = key[i];
        values[start + i] = value[i];
    }
}

extern "C" __global__ void merge_step(unsigned *keys, unsigned *values, unsigned size, unsigned step)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned at = 2 * i - (i & (step - 1));
    order(keys[at], keys[at + step], values[at], values[at + step], (at & size) == 0);
}

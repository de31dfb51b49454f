/* scan.cu - computes prefix sums within blocks, and adds to each block the sum of the blocks before it. Option:
 * BLOCK. */
extern "C" __global__ void scan_blocks(const int *input, int *output, int *block_sums, unsigned count)
{
    __shared__ int values[2][BLOCK];
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    int from = 0;
    values[0][threadIdx.x] = i < count ? input[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < BLOCK; step *= 2, from = 1 - from) {
        const int own = values[from][threadIdx.x];
        values[1 - from][threadIdx.x] = threadIdx.x >= step ? own + values[from][threadIdx.x - step] : own;
        __syncthreads();
    }
    if (i < count)
        output[i] = values[from][threadIdx.x];
    if (threadIdx.x == BLOCK - 1)
        block_sums[blockIdx.x] = values[from][threadIdx.x];
}

extern "C" __global__ void add_block_sums(int *output, const int *scanned_sums, unsigned count)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x > 0 && i < count)
        output[i] += scanned_sums[blockIdx.x - 1];
}

/* reduce.cu - computes the sum (with MAX, the largest element) of an array, one value per block, for three types. */
template <typename T> __device__ inline T combine(T a, T b)
{
#ifdef MAX
    return a > b ? a : b;
#else
    return a + b;
#endif
}

template <typename T> __device__ inline T reduce_warp(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value = combine(value, __shfl_down_sync(0xffffffffu, value, offset));
    return value;
}

template <typename T> __global__ void reduce(const T *input, T *output, unsigned count)
{
    __shared__ T of_warp[32];
    T value = input[0];
    bool first = true;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        value = first ? input[i] : combine(value, input[i]);
        first = false;
    }
    value = reduce_warp(value);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = reduce_warp(of_warp[threadIdx.x % (blockDim.x / 32)]);
        if (threadIdx.x == 0)
            output[blockIdx.x] = value;
    }
}

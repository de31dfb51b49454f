/* quantize.cu - converts rows of half floats to bytes with a scale, and multiplies matrices of such bytes. Needs the
 * toolkit's headers. */
#include <cuda_fp16.h>

extern "C" __global__ void quantize(const half *input, signed char *output, float *scales, int columns)
{
    __shared__ float largest[32];
    const half *row = input + static_cast<size_t>(blockIdx.x) * columns;
    float own = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        own = fmaxf(own, fabsf(__half2float(row[i])));
    for (int offset = 16; offset > 0; offset /= 2)
        own = fmaxf(own, __shfl_xor_sync(0xffffffffu, own, offset));
    if (threadIdx.x % 32 == 0)
        largest[threadIdx.x / 32] = own;
    __syncthreads();
    for (int i = 0; i < static_cast<int>(blockDim.x / 32); ++i)
        own = fmaxf(own, largest[i]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        output[static_cast<size_t>(blockIdx.x) * columns + i] =
            static_cast<signed char>(__float2int_rn(__half2float(row[i]) * 127.0f / fmaxf(own, 1e-6f)));
    if (threadIdx.x == 0)
        scales[blockIdx.x] = own / 127.0f;
}

extern "C" __global__ void multiply_bytes(const int *a, const int *b, const float *a_scales, const float *b_scales,
                                          half *c, int n, int words)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    int sum = 0;
    if (column >= n)
        return;
    for (int i = 0; i < words; ++i)
        sum = __dp4a(a[row * words + i], b[column * words + i], sum);
    c[row * n + column] = __float2half(static_cast<float>(sum) * a_scales[row] * b_scales[column]);
}

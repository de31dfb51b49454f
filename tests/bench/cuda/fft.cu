/* fft.cu - computes a radix-2 Fourier transform of 2^LOG2 complex numbers per block, in shared memory. */
#define SIZE (1 << LOG2)

extern "C" __global__ void __launch_bounds__(SIZE / 2) fft(float2 *data, float direction)
{
    __shared__ float2 values[SIZE];
    float2 *own = data + static_cast<size_t>(blockIdx.x) * SIZE;
    for (unsigned i = threadIdx.x; i < SIZE; i += SIZE / 2)
        values[__brev(i) >> (32 - LOG2)] = own[i];
    __syncthreads();
    for (unsigned half = 1; half < SIZE; half *= 2) {
        const unsigned position = threadIdx.x % half, first = threadIdx.x / half * half * 2 + position;
        float sine = 0.0f, cosine = 0.0f;
        sincospif(direction * static_cast<float>(position) / static_cast<float>(half), &sine, &cosine);
        const float2 a = values[first], b = values[first + half];
        const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        values[first] = make_float2(a.x + turned.x, a.y + turned.y);
        values[first + half] = make_float2(a.x - turned.x, a.y - turned.y);
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < SIZE; i += SIZE / 2)
        own[i] = values[i];
}

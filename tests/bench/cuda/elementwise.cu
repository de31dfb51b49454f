/* elementwise.cu - computes activations of a network and their gradients, for two element types. */
struct Gelu {
    __device__ static float value(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
    __device__ static float slope(float x)
    {
        return 0.5f * (1.0f + erff(x * 0.70710678f)) + x * 0.39894228f * expf(-0.5f * x * x);
    }
};
struct Silu {
    __device__ static float value(float x) { return x / (1.0f + expf(-x)); }
    __device__ static float slope(float x)
    {
        const float s = 1.0f / (1.0f + expf(-x));
        return s * (1.0f + x * (1.0f - s));
    }
};
struct Tanh {
    __device__ static float value(float x) { return tanhf(x); }
    __device__ static float slope(float x) { return 1.0f - tanhf(x) * tanhf(x); }
};

template <typename Activation, typename T> __global__ void forward(const T *input, T *output, unsigned count)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        output[i] = static_cast<T>(Activation::value(static_cast<float>(input[i])));
}

template <typename Activation, typename T>
__global__ void backward(const T *input, const T *gradient, T *output, unsigned count)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        output[i] = static_cast<T>(Activation::slope(static_cast<float>(input[i])) * static_cast<float>(gradient[i]));
}

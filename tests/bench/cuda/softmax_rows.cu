/* softmax_rows.cu - computes the softmax of each row and its gradient, one block per row. Option: BLOCK. */
__device__ inline float over_block(float value, bool largest)
{
    __shared__ float values[BLOCK];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const float a = values[threadIdx.x], b = values[threadIdx.x + half];
            values[threadIdx.x] = largest ? fmaxf(a, b) : a + b;
        }
        __syncthreads();
    }
    const float result = values[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax_rows(const float *input, float *output, int columns)
{
    const float *row = input + static_cast<size_t>(blockIdx.x) * columns;
    float largest = -3.402823466e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        largest = fmaxf(largest, row[i]);
    largest = over_block(largest, true);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += expf(row[i] - largest);
    sum = over_block(sum, false);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        output[static_cast<size_t>(blockIdx.x) * columns + i] = expf(row[i] - largest) / sum;
}

extern "C" __global__ void softmax_rows_gradient(const float *output, const float *gradient, float *result, int columns)
{
    const size_t start = static_cast<size_t>(blockIdx.x) * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += output[start + i] * gradient[start + i];
    sum = over_block(sum, false);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        result[start + i] = output[start + i] * (gradient[start + i] - sum);
}

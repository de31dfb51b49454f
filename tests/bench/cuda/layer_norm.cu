/* layer_norm.cu - subtracts its mean from each row and divides by the deviation; with RMS, divides by the root mean
 * square only. Options: BLOCK, RMS. */
extern "C" __global__ void layer_norm(const float *input, const float *scale, const float *shift, float *output,
                                      int columns, float epsilon)
{
    __shared__ float sums[BLOCK], squares[BLOCK];
    const float *row = input + static_cast<size_t>(blockIdx.x) * columns;
    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        sum += row[i];
        square += row[i] * row[i];
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squares[threadIdx.x] += squares[threadIdx.x + half];
        }
        __syncthreads();
    }
#ifdef RMS
    const float mean = 0.0f;
#else
    const float mean = sums[0] / columns;
#endif
    const float factor = rsqrtf(squares[0] / columns - mean * mean + epsilon);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        output[static_cast<size_t>(blockIdx.x) * columns + i] = (row[i] - mean) * factor * scale[i] + shift[i];
}

/* attention.cu - computes scaled dot-product attention without storing the matrix of scores: it reads the keys tile by
 * tile, and corrects the sums when the largest score grows. Options: HEAD (size of a head), TILE, CAUSAL. */
extern "C" __global__ void __launch_bounds__(TILE)
    attention(const float *queries, const float *keys, const float *values, float *output, int length)
{
    __shared__ float key_tile[TILE][HEAD], value_tile[TILE][HEAD];
    const size_t head = static_cast<size_t>(blockIdx.y) * length * HEAD;
    const int row = blockIdx.x * TILE + threadIdx.x;
    float query[HEAD], sum[HEAD], largest = -3.402823466e38f, total = 0.0f;
    for (int i = 0; i < HEAD; ++i) {
        query[i] = row < length ? queries[head + row * HEAD + i] * rsqrtf(static_cast<float>(HEAD)) : 0.0f;
        sum[i] = 0.0f;
    }
    for (int start = 0; start < length; start += TILE) {
        for (int i = 0; i < HEAD; ++i) {
            const bool inside = start + static_cast<int>(threadIdx.x) < length;
            key_tile[threadIdx.x][i] = inside ? keys[head + (start + threadIdx.x) * HEAD + i] : 0.0f;
            value_tile[threadIdx.x][i] = inside ? values[head + (start + threadIdx.x) * HEAD + i] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE && start + j < length; ++j) {
#ifdef CAUSAL
            if (start + j > row)
                break;
#endif
            float score = 0.0f;
            for (int i = 0; i < HEAD; ++i)
                score += query[i] * key_tile[j][i];
            const float now = fmaxf(largest, score), correction = expf(largest - now), weight = expf(score - now);
            for (int i = 0; i < HEAD; ++i)
                sum[i] = sum[i] * correction + weight * value_tile[j][i];
            total = total * correction + weight;
            largest = now;
        }
        __syncthreads();
    }
    for (int i = 0; i < HEAD && row < length; ++i)
        output[head + row * HEAD + i] = sum[i] / total;
}

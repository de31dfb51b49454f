/* gemm.cu - computes C = A * B with tiles in shared memory; each thread computes a small square. Options: TILE, WORK,
 * FUSE_BIAS. */
#define THREADS (TILE / WORK)

extern "C" __global__ void __launch_bounds__(THREADS * THREADS)
    gemm(const float *a, const float *b, const float *bias, float *c, int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE + 1];
    __shared__ float b_tile[TILE][TILE];
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float sums[WORK][WORK] = {};
    for (int start = 0; start < k; start += TILE) {
        for (int i = threadIdx.y; i < TILE; i += THREADS) {
            for (int j = threadIdx.x; j < TILE; j += THREADS) {
                a_tile[i][j] = row + i < m && start + j < k ? a[(row + i) * k + start + j] : 0.0f;
                b_tile[i][j] = start + i < k && column + j < n ? b[(start + i) * n + column + j] : 0.0f;
            }
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < TILE; ++i) {
            for (int y = 0; y < WORK; ++y)
                for (int x = 0; x < WORK; ++x)
                    sums[y][x] += a_tile[threadIdx.y * WORK + y][i] * b_tile[i][threadIdx.x * WORK + x];
        }
        __syncthreads();
    }
    for (int y = 0; y < WORK; ++y) {
        for (int x = 0; x < WORK; ++x) {
            const int i = row + threadIdx.y * WORK + y, j = column + threadIdx.x * WORK + x;
            if (i >= m || j >= n)
                continue;
#ifdef FUSE_BIAS
            c[i * n + j] = fmaxf(sums[y][x] + bias[j], 0.0f);
#else
            c[i * n + j] = sums[y][x];
#endif
        }
    }
}

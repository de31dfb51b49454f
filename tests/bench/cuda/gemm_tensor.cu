/* gemm_tensor.cu - computes C = A * B with tensor cores, one 16x16 tile per warp. Needs the toolkit's headers. */
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void gemm_tensor(const half *a, const half *b, float *c, int m, int n, int k)
{
    using namespace nvcuda;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int row = warp / (n / 16) * 16, column = warp % (n / 16) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_part;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b_part;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    if (row >= m)
        return;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(a_part, a + row * k + i, static_cast<unsigned>(k));
        wmma::load_matrix_sync(b_part, b + i * n + column, static_cast<unsigned>(n));
        wmma::mma_sync(sum, a_part, b_part, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, static_cast<unsigned>(n), wmma::mem_row_major);
}

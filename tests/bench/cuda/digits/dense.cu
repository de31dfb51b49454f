/* dense.cu - computes a fully connected layer with tiles in shared memory. Options: TILE, INPUTS, OUTPUTS,
 * FUSE_RELU. */
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(TILE * TILE)
    dense(const float *input, const float *weights, const float *bias, float *output, unsigned images)
{
    __shared__ float rows[TILE][TILE];
    __shared__ float columns[TILE][TILE + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned out = blockIdx.x * TILE + x, n = blockIdx.y * TILE + y;
    const unsigned weight_row = blockIdx.x * TILE + y;
    float sum = 0.0f;

    for (unsigned k = 0; k < INPUTS; k += TILE) {
        rows[y][x] = n < images ? input[n * INPUTS + k + x] : 0.0f;
        columns[y][x] = weight_row < OUTPUTS ? weights[weight_row * INPUTS + k + x] : 0.0f;
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i)
            sum += rows[y][i] * columns[x][i];
        __syncthreads();
    }
    if (n < images && out < OUTPUTS)
        output[n * OUTPUTS + out] = activate(sum + bias[out]);
}

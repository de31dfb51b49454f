/*
 * dense.cl - a fully connected layer: output = input * weights^T + bias, computed in tiles in local memory.
 *
 * Options: TILE (work-groups are TILE x TILE), INPUTS (a multiple of TILE), OUTPUTS, FUSE_RELU.
 */
#include "common.h"

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void dense(__global const float *input, __global const float *weights, __global const float *bias,
           __global float *output, uint images)
{
    __local float rows[TILE][TILE];
    __local float columns[TILE][TILE + 1];
    const uint x = get_local_id(0), y = get_local_id(1);
    const uint out = get_global_id(0), n = get_global_id(1);
    const uint weight_row = get_group_id(0) * TILE + y;
    float sum = 0.0f;

    for (uint k = 0; k < INPUTS; k += TILE) {
        rows[y][x] = n < images ? input[n * INPUTS + k + x] : 0.0f;
        columns[y][x] = weight_row < OUTPUTS ? weights[weight_row * INPUTS + k + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; ++i)
            sum += rows[y][i] * columns[x][i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (n < images && out < OUTPUTS)
        output[n * OUTPUTS + out] = activate(sum + bias[out]);
}

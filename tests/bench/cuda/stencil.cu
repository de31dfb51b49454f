/* stencil.cu - computes one step of heat flow in a volume, one column per thread. Option: BLOCK. */
extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK)
    heat(const float *now, float *next, int width, int height, int depth, float rate)
{
    __shared__ float plane[BLOCK + 2][BLOCK + 2];
    const int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y * BLOCK + threadIdx.y;
    const int px = threadIdx.x + 1, py = threadIdx.y + 1, size = width * height;
    const bool inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
    if (x >= width || y >= height)
        return;
    float below = now[y * width + x], own = now[size + y * width + x];
    for (int z = 1; z < depth - 1; ++z) {
        const float above = now[(z + 1) * size + y * width + x];
        plane[py][px] = own;
        if (threadIdx.x == 0 && x > 0)
            plane[py][0] = now[z * size + y * width + x - 1];
        if (threadIdx.x == BLOCK - 1 && x < width - 1)
            plane[py][BLOCK + 1] = now[z * size + y * width + x + 1];
        if (threadIdx.y == 0 && y > 0)
            plane[0][px] = now[z * size + (y - 1) * width + x];
        if (threadIdx.y == BLOCK - 1 && y < height - 1)
            plane[BLOCK + 1][px] = now[z * size + (y + 1) * width + x];
        __syncthreads();
        if (inside)
            next[z * size + y * width + x] = own + rate * (below + above + plane[py][px - 1] + plane[py][px + 1] +
                                                           plane[py - 1][px] + plane[py + 1][px] - 6.0f * own);
        __syncthreads();
        below = own;
        own = above;
    }
}

/* transpose.cu - transposes a matrix, through a padded tile in shared memory. Option: TILE. */
template <typename T> __global__ void transpose(const T *input, T *output, int width, int height)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += blockDim.y)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = input[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += blockDim.y)
        if (x < height && y + i < width)
            output[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

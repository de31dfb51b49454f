/* sparse.cu - multiplies a sparse matrix (compressed rows) by a vector, one warp per row. Also has the steps of
 * the conjugate gradient method. */
extern "C" __global__ void multiply(const int *starts, const int *columns, const double *values, const double *x,
                                    double *y, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double sum = 0.0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

extern "C" __global__ void dot(const double *a, const double *b, double *result, int count)
{
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(result, sum);
}

extern "C" __global__ void add_scaled(double *y, const double *x, const double *above, const double *below, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] += *above / *below * x[i];
}

/* conv2d.cu - computes a convolution of any stride and padding, with the weights in constant memory. Options: KERNEL,
 * CHANNELS. */
__constant__ float filter[CHANNELS * KERNEL * KERNEL];

extern "C" __global__ void conv2d(const float *input, float *output, int width, int height, int stride, int padding)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int out_width = (width + 2 * padding - KERNEL) / stride + 1;
    const int out_height = (height + 2 * padding - KERNEL) / stride + 1;
    if (x >= out_width || y >= out_height)
        return;
    float sum = 0.0f;
    for (int c = 0; c < CHANNELS; ++c) {
        for (int dy = 0; dy < KERNEL; ++dy) {
            for (int dx = 0; dx < KERNEL; ++dx) {
                const int from_x = x * stride + dx - padding, from_y = y * stride + dy - padding;
                if (from_x >= 0 && from_x < width && from_y >= 0 && from_y < height)
                    sum += input[(c * height + from_y) * width + from_x] * filter[(c * KERNEL + dy) * KERNEL + dx];
            }
        }
    }
    output[(blockIdx.z * out_height + y) * out_width + x] = sum;
}

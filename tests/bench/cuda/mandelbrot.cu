/* mandelbrot.cu - counts the steps until each point of the plane escapes, and gives it a color. Options: REAL,
 * STEPS. */
extern "C" __global__ void mandelbrot(uchar4 *pixels, int width, int height, REAL left, REAL top, REAL scale)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    const REAL a = left + column * scale, b = top + row * scale;
    REAL x = 0, y = 0;
    int step = 0;
    for (; step < STEPS && x * x + y * y < 4; ++step) {
        const REAL next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
    }
    const float shade = step == STEPS ? 0.0f : __powf(static_cast<float>(step) / STEPS, 0.3f);
    pixels[row * width + column] = make_uchar4(static_cast<unsigned char>(255 * shade),
                                               static_cast<unsigned char>(200 * shade * shade), 64, 255);
}

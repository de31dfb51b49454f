#define KERNEL(name, step)                                                                                            \
    __kernel void name(__global float *x, __global const float *y, int count)                                         \
    {                                                                                                                 \
        size_t i = get_global_id(0);                                                                                  \
        float sum = x[i];                                                                                             \
        for (int k = 0; k < count; ++k) {                                                                             \
            sum += native_sin(y[k * step]) * exp(sum) + pow(y[k], sum);                                               \
            sum = count % 3 == step ? sum / (1.0f + y[i]) : sqrt(fabs(sum));                                          \
        }                                                                                                             \
        x[i] = sum;                                                                                                   \
    }

KERNEL(first, 1)
KERNEL(second, 2)
KERNEL(third, 3)
KERNEL(fourth, 4)
KERNEL(fifth, 5)
KERNEL(sixth, 6)
KERNEL(seventh, 7)
KERNEL(eighth, 8)

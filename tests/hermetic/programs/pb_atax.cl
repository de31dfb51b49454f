// options: -I common -I linear -DSIZE=20
#include <linear.h>
KERNEL void atax(GLOBAL const real *a, GLOBAL const real *x, GLOBAL real *y)
{
    const int i = ID(0);
    real sum = 0;
    for (int k = 0; k < SIZE; ++k)
        sum += a[i * SIZE + k] * x[k];
    y[i] = sum;
}

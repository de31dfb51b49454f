// options: -I common -DSIZE=(8+8)
#include "linear/linear.h"
KERNEL void gesummv(GLOBAL const real *a, GLOBAL const real *b, GLOBAL const real *x, GLOBAL real *y)
{
    const int i = ID(0);
    y[i] = ALPHA * sum_of(a + i * SIZE, SIZE) + BETA * sum_of(b + i * SIZE, SIZE) * x[i];
}

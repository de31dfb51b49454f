// options: -I common
#include "linear/linear.h"
#include "linear/linear.h"
KERNEL void mvt(GLOBAL const real *a, GLOBAL const real *y, GLOBAL real *x)
{
    const int i = ID(0);
    for (int j = 0; j < SIZE; ++j)
        x[i] += a[i * SIZE + j] * y[j];
}

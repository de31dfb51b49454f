// options: -I common -DUSE_INT
#include "linear/linear.h"
KERNEL void bicg(GLOBAL const real *a, GLOBAL const real *r, GLOBAL real *s)
{
    const int j = ID(0);
    real sum = 0;
    for (int i = 0; i < SIZE; ++i)
        sum += a[i * SIZE + j] * r[i];
    s[j] = sum;
}

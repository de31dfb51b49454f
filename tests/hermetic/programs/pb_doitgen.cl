// options: -I common -DSIZE=6
#if 1
#include "linear/linear.h"
#else
#include "linear/other.h"
#endif
KERNEL void doitgen(GLOBAL const real *a, GLOBAL const real *c, GLOBAL real *out)
{
    real sum = 0;
    for (int s = 0; s < SIZE; ++s)
        sum += a[ID(0) * SIZE + s] * c[s * SIZE + ID(1)];
    out[ID(0) * SIZE + ID(1)] = sum;
}

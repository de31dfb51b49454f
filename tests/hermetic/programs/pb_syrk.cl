// options: -I common -I./linear/ -I common
#include "linear/config.h"
#include <config.h>
#include <types.h>
KERNEL void syrk(GLOBAL const real *a, GLOBAL real *c)
{
    const int i = ID(0), j = ID(1);
    real sum = c[i * SIZE + j] * BETA;
    for (int k = 0; k < SIZE; ++k)
        sum += ALPHA * a[i * SIZE + k] * a[j * SIZE + k];
    c[i * SIZE + j] = sum;
}

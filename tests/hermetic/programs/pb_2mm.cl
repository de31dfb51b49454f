// options: -I common -I linear
#include "linear.h"
#define A_AT(i, k) a[(i) * SIZE + (k)]
#define B_AT(k, j) b[(k) * SIZE + (j)]
KERNEL void mm1(GLOBAL const real *a, GLOBAL const real *b, GLOBAL real *c)
{
    const int i = ID(0), j = ID(1);
#include "blas/gemm_body.h"
    c[i * SIZE + j] = ALPHA * sum;
}
KERNEL void mm2(GLOBAL const real *a, GLOBAL const real *b, GLOBAL real *c)
{
    const int i = ID(0), j = ID(1);
#include <blas/gemm_body.h>
    c[i * SIZE + j] += BETA * sum;
}

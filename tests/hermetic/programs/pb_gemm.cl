// options: -I common -DSIZE=48
#include "linear/linear.h"
#define A_AT(i, k) a[(i) * SIZE + (k)]
#define B_AT(k, j) b[(k) * SIZE + (j)]
KERNEL void gemm(GLOBAL const real *a, GLOBAL const real *b, GLOBAL real *c)
{
    const int i = ID(0), j = ID(1);
#include "linear/blas/gemm_body.h"
    c[i * SIZE + j] = ALPHA * sum + BETA * c[i * SIZE + j];
}

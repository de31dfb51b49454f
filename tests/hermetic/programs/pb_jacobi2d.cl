// options: -I common -DWIDTH=64
#include "stencil/stencil.h"
KERNEL void jacobi2d(GLOBAL const real *a, GLOBAL real *b)
{
    const int x = ID(0) + 1, y = ID(1) + 1;
    b[AT(x, y)] = CENTER * a[AT(x, y)] + SIDE * (a[AT(x - 1, y)] + a[AT(x + 1, y)] + a[AT(x, y - 1)] + a[AT(x, y + 1)]);
}

// options: -I common -I stencil -DWIDTH=32 -DUSE_INT
#include <stencil.h>
KERNEL void seidel(GLOBAL real *a)
{
    const int y = ID(0) + 1;
    for (int x = 1; x < WIDTH - 1; ++x)
        a[AT(x, y)] = (a[AT(x - 1, y)] + a[AT(x, y)] + a[AT(x + 1, y)]) / 3;
}

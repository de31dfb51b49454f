// options: -I common -DWIDTH=8
#define HEADER "stencil/stencil.h"
#include HEADER
KERNEL void heat3d(GLOBAL const real *a, GLOBAL real *b)
{
    const int i = (ID(2) * WIDTH + ID(1)) * WIDTH + ID(0);
    b[i] = CENTER * a[i] + SIDE * (a[i + 1] + a[i - 1] + a[i + WIDTH] + a[i - WIDTH]);
}

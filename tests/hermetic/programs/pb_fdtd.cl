// options: -I common -DWIDTH=16 -I stencil/../stencil
#include "stencil/detail/../stencil.h"
KERNEL void fdtd(GLOBAL real *ex, GLOBAL const real *hz)
{
    const int x = ID(0), y = ID(1) + 1;
    ex[AT(x, y)] -= CENTER * (hz[AT(x, y)] - hz[AT(x, y - 1)]);
}

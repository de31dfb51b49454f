// options: -I common
#include "linear/linear.h"
KERNEL void scale(GLOBAL real *a, GLOBAL const real *r)
{
    a[ID(0) * SIZE + 1] /= r[SIZE + 1];
}

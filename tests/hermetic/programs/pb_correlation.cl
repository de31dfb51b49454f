// options: -I common -DCOUNT=100
#include <math/sum.h>
KERNEL void mean(GLOBAL const real *data, GLOBAL real *means)
{
    means[ID(0)] = clamp_to(sum_of(data + ID(0) * COUNT, COUNT) / COUNT, REAL(0.0), REAL(9.0));
}

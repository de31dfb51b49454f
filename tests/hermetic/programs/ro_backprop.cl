// options: -I common -DLAYER=output
#include "common/types.h"
#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)
KERNEL void NAME(adjust_, LAYER)(GLOBAL real *weights, GLOBAL const real *delta)
{
    weights[ID(0)] += REAL(0.3) * delta[ID(0) % 16] + __LINE__;
}

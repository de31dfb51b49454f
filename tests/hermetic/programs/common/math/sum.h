#if !defined(SUM_H)
#define SUM_H
#include "../types.h"
#include "clamp.h"
DEVICE real sum_of(GLOBAL const real *x, int count)
{
    real sum = 0;
    for (int i = 0; i < count; ++i)
        sum += x[i];
    return sum;
}
#endif

// options: -I common -I"common/math"
#include "common/types.h"
#include <clamp.h>
KERNEL void nw(GLOBAL real *score, GLOBAL const real *reference)
{
    score[ID(0) + 1] = clamp_to(score[ID(0)] + reference[ID(0)], -10, 10);
}

// options: -I common
#include "common/types.h"
#include "data mining/distance.h"
KERNEL void assign(GLOBAL const real *points, GLOBAL const real *centers, GLOBAL int *owner)
{
    int best = 0;
    for (int c = 1; c < 5; ++c)
        if (distance_of(points + ID(0) * 4, centers + c * 4, 4) <
            distance_of(points + ID(0) * 4, centers + best * 4, 4))
            best = c;
    owner[ID(0)] = best;
}

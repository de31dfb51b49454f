// options: -I common "-Idata mining"
#include "common/types.h"
#include <distance.h>
KERNEL void nearest(GLOBAL const real *points, GLOBAL const real *target, GLOBAL real *distances)
{
    distances[ID(0)] = distance_of(points + 2 * ID(0), target, 2);
}

// options: -Icommon -DCOUNT=10
#include "common/math/sum.h"
#include <math/sum.h>
KERNEL void reduce(GLOBAL real *data, GLOBAL const real *means)
{
    data[ID(0)] -= means[ID(0) % COUNT];
}

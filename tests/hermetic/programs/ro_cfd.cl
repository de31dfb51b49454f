// options: -I common -DVARIABLES=5
#ifdef NOT_THERE
#include <mpi.h>
#include "cfd/config.h"
#endif
#include <types.h>
KERNEL void flux(GLOBAL const real *in, GLOBAL real *out)
{
    real sum = 0;
    for (int v = 0; v < VARIABLES; ++v)
        sum += in[ID(0) * VARIABLES + v];
    out[ID(0)] = sum + __LINE__;
}

// options: -I common
#include "rodinia/config.h"
#include "common/types.h"
KERNEL void hotspot(GLOBAL const real *power, GLOBAL real *temperature)
{
    LOCAL(real, tile, BLOCK);
    tile[LOCAL_ID(0) % BLOCK] = temperature[ID(0)];
    BARRIER();
    temperature[ID(0)] = tile[(LOCAL_ID(0) + 1) % BLOCK] + power[ID(0)] * DEPTH;
}

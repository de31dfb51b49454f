// options: -I common -DCOLUMNS=256
#include <util/host.h>
KERNEL void pathfinder(GLOBAL const int *wall, GLOBAL const int *from, GLOBAL int *to)
{
    const int x = ID(0);
    int best = from[x];
    if (x > 0 && from[x - 1] < best)
        best = from[x - 1];
    if (x + 1 < COLUMNS && from[x + 1] < best)
        best = from[x + 1];
    to[x] = best + wall[x] + SIZE_OF_BLOCK;
}

// options: -I common -DVARIANT=small
#include "common/types.h"
# /* c */ include "rodinia/config.h" // behind
#inc\
lude "rodinia/config.inc"
KERNEL void lud(GLOBAL real *m)
{
    for (int i = 0; i < DEPTH; ++i)
        m[ID(0) * BLOCK + i] /= m[i * BLOCK + FLAVOUR_OF_INC];
}

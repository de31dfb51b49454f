// options: -I common -DMAX=3
#include "common/types.h"
/* #include "missing.h" */
// #include "missing.h" \
#include "missing.h"
KERNEL void dilate(GLOBAL int *x)
{
    x[ID(0)] += (int)sizeof("#include \"x.h\"") + '#' + MAX;
}

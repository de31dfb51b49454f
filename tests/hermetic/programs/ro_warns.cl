// options: -I common
#include "common/types.h"
#warning the source says so
#include "rodinia/config.h"
KERNEL void warns(GLOBAL real *x) { x[ID(0)] += BLOCK; }

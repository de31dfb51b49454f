// options: -I common
#include "common/types.h"
#include "graph/not_there.h"
KERNEL void missing(GLOBAL real *x) { x[ID(0)] = 0; }

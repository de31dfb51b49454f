// options: -I common
#include "common/types.h"
#include "graph/edges.h"
KERNEL void fails(GLOBAL real *x) { x[ID(0)] += not_declared; }

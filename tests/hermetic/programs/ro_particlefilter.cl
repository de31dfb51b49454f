// options: -I common -D"COUNT=4 + 4"
#include "common/types.h"
KERNEL void particles(GLOBAL real *x) { x[ID(0)] += COUNT; }

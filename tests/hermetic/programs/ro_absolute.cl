// options: -I@ROOT@/common -I@ROOT@/linear
#include <linear.h>
KERNEL void absolute(GLOBAL real *x) { x[ID(0)] += ALPHA + __LINE__; }

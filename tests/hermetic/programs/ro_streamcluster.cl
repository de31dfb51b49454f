// options: -I common -w
#pragma unroll_not
#include "common/types.h"
#include "common/util/host.h"
int unused_prototype(int x);
KERNEL void gain(GLOBAL real *x) { int unused; x[ID(0)] += SIZE_OF_BLOCK; }

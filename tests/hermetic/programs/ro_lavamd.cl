// options: -I common
#include "common/types.h"
#if defined(REAL) && !defined(LANGUAGE_MISSING)
#include "stencil/detail/weights.h"
#elif defined(NEVER)
#include "stencil/detail/none.h"
#endif
KERNEL void lavamd(GLOBAL real *x) { x[ID(0)] = x[ID(0)] * SIDE + CENTER + __LINE__; }

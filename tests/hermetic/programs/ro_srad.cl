// options: -I common -DREPEAT=3
#include "common/types.h"
KERNEL void srad(GLOBAL word *x)
{
    word h = x[ID(0)];
#define STATEMENT(n) h = h * 31u + n;
#define REPEAT_FROM 1
#include "common/util/repeat.inc"
#define REPEAT_FROM 2
#include <util/repeat.inc>
#define REPEAT_FROM REPEAT
#include "common/./util/repeat.inc"
    x[ID(0)] = h;
}

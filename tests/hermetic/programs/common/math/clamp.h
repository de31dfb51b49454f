#ifndef CLAMP_H
#define CLAMP_H
#include "../types.h"
DEVICE real clamp_to(real x, real low, real high)
{
    return x < low ? low : x > high ? high : x;
}
#endif

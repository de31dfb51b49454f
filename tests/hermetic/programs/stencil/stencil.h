#pragma once
#include "detail/weights.h"
#include <types.h>
#define AT(x, y) ((y)*WIDTH + (x))

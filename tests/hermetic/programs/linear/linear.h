#ifndef LINEAR_H
#define LINEAR_H
#include "config.h"
#include "../common/types.h"
#include <math/sum.h>
#endif

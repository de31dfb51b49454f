#ifndef LINEAR_H
#define LINEAR_H
#include "../common/types.h"
#include "config.h"
#include <math/sum.h>
#endif

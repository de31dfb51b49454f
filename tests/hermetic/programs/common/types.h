#pragma once
#include "language.h"
#ifdef USE_INT
typedef int real;
#define REAL(x) ((int)(x))
#else
typedef float real;
#define REAL(x) (x##f)
#endif

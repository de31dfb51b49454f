#ifndef RODINIA_CONFIG_H
#define RODINIA_CONFIG_H
#define FLAVOUR 2
#ifdef VARIANT
#define CONFIG_PATH(x) STRING(config / x.h)
#define STRING_(x) #x
#define STRING(x) STRING_(x)
#include CONFIG_PATH(VARIANT)
#else
#include "config/small.h"
#endif
#endif

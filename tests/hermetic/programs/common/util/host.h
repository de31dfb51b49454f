#ifndef UTIL_HOST_H
#define UTIL_HOST_H
#if !defined(__OPENCL_VERSION__) && !defined(__CUDACC_RTC__)
#include "host_only.h"
#include <stdint.h>
#include <stdio.h>
#endif
#include <language.h>
#define SIZE_OF_BLOCK 16
#endif

/* One language for OpenCL C and CUDA C++. */
#ifndef COMMON_LANGUAGE_H
#define COMMON_LANGUAGE_H
#ifdef __OPENCL_VERSION__
#define KERNEL kernel
#define GLOBAL global
#define DEVICE
#define LOCAL(type, name, size) local type name[size]
#define ID(n) ((int)get_global_id(n))
#define LOCAL_ID(n) ((int)get_local_id(n))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define TEXT_SPACE constant
#else
#define KERNEL extern "C" __global__
#define GLOBAL
#define DEVICE __device__ inline
#define LOCAL(type, name, size) __shared__ type name[size]
#include "cuda_only.h"
#define BARRIER() __syncthreads()
#endif
typedef unsigned int word;
#endif /* COMMON_LANGUAGE_H */

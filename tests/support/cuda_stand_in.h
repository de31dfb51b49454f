/*
 * cuda_stand_in.h - controls and queries the libcuda.so.1 that stands in for a driver.
 *
 * Tests find these functions with dlsym, because the library is opened at run time like the real one.
 */
#pragma once

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the next `times` calls to the function `call`, a name without a version suffix, return this result. */
void cuda_stand_in_fail(const char *call, CUresult result, int times);
int cuda_stand_in_live_modules(void);
/* Returns how many contexts the calling thread has pushed and not popped. */
int cuda_stand_in_stack_depth(void);

#ifdef __cplusplus
}
#endif

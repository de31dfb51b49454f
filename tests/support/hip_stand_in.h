/*
 * hip_stand_in.h - controls and queries the libamdhip64.so that stands in for a driver.
 *
 * Tests find these functions with dlsym, because the library is opened at run time like the real one.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the next `times` calls to the function `call` return this result. */
void hip_stand_in_fail(const char *call, int result, int times);
int hip_stand_in_live_modules(void);

#ifdef __cplusplus
}
#endif

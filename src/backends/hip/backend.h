/*
 * backend.h - the HIP backend's tables and functions, grouped by file.
 *
 * The backend declares what it uses of HIP itself, so it is built without HIP's headers. Results are hipError_t.
 */
#ifndef INGOT_BACKENDS_HIP_BACKEND_H
#define INGOT_BACKENDS_HIP_BACKEND_H

#include <ingot/hip.h>
#include <ingot/private/backend.h>

#include "backends/rtc/vendor.h"

/* The devices of a context: numbers, or one architecture, whose device need not exist. */
struct hip_natives {
    const int *numbers;
    const char *architecture; /* NULL: numbers */
};

extern const ingot_backend_ops_t hip_ops;
extern const struct rtc_vendor hip_vendor; /* its natives are struct hip_natives */

#endif

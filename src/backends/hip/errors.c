/*
 * errors.c - converts HIP's result codes to Ingot's statuses and error messages.
 *
 * The error detail of every failure contains the name and the number of the driver's code. If the driver ran out of
 * memory, the status is INGOT_OUT_OF_MEMORY, and the core empties the in-memory cache and retries once.
 */
#include "backends/hip/errors.h"

ingot_status_t hip_fail(const struct hip_driver *driver, ingot_status_t otherwise, const char *call, int result)
{
    const ingot_status_t status = result == HIP_OUT_OF_MEMORY ? INGOT_OUT_OF_MEMORY : otherwise;
    const char *name = driver->get_error_name(result);
    return ingot_set_error(status, (int64_t)result, "%s: %s (%d)", call, name != NULL ? name : "unknown result",
                           result);
}

bool hip_refused_image(int result)
{
    switch (result) {
    case HIP_INVALID_VALUE:
    case HIP_INVALID_IMAGE:
    case HIP_NO_BINARY_FOR_GPU:
    case HIP_INVALID_KERNEL_FILE:
    case HIP_INVALID_SOURCE:
    case HIP_FILE_NOT_FOUND:
    case HIP_SYMBOL_NOT_FOUND:
    case HIP_INIT_FAILED: return true;
    default: return false;
    }
}

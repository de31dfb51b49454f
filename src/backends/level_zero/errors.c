/*
 * errors.c - converts Level Zero's result codes to Ingot's statuses and error messages.
 *
 * The error detail of every failure contains the name and the number of the driver's code. If the driver ran out of
 * memory, the status is INGOT_OUT_OF_MEMORY, and the core empties the in-memory cache and retries once.
 */
#include "backends/level_zero/backend.h"

#include <stdbool.h>

#define NAMED(result)                                                                                                  \
    {                                                                                                                  \
        result, #result                                                                                                \
    }

struct named_result {
    ze_result_t result;
    const char *name;
};

/* The results of the functions that the backend calls. */
static const struct named_result named_results[] = {
    NAMED(ZE_RESULT_ERROR_DEVICE_LOST),
    NAMED(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY),
    NAMED(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY),
    NAMED(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE),
    NAMED(ZE_RESULT_ERROR_MODULE_LINK_FAILURE),
    NAMED(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS),
    NAMED(ZE_RESULT_ERROR_NOT_AVAILABLE),
    NAMED(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE),
    NAMED(ZE_RESULT_ERROR_UNINITIALIZED),
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_VERSION),
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE),
    NAMED(ZE_RESULT_ERROR_INVALID_ARGUMENT),
    NAMED(ZE_RESULT_ERROR_INVALID_NULL_HANDLE),
    NAMED(ZE_RESULT_ERROR_INVALID_NULL_POINTER),
    NAMED(ZE_RESULT_ERROR_INVALID_SIZE),
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_SIZE),
    NAMED(ZE_RESULT_ERROR_INVALID_ENUMERATION),
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION),
    NAMED(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY),
    NAMED(ZE_RESULT_ERROR_INVALID_KERNEL_NAME),
    NAMED(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME),
    NAMED(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED),
    NAMED(ZE_RESULT_ERROR_UNKNOWN),
};

const char *level_zero_result_name(ze_result_t result)
{
    for (size_t i = 0; i < sizeof(named_results) / sizeof(named_results[0]); ++i) {
        if (named_results[i].result == result)
            return named_results[i].name;
    }
    return "unknown result";
}

ingot_status_t level_zero_fail(ingot_status_t otherwise, const char *call, ze_result_t result)
{
    const ingot_status_t status =
        (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY || result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
            ? INGOT_OUT_OF_MEMORY
            : otherwise;
    return ingot_set_error(status, (int64_t)result, "%s: %s (0x%x)", call, level_zero_result_name(result),
                           (unsigned)result);
}

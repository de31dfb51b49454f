/*
 * errors.c - converts CUDA's result codes to Ingot's statuses and error messages.
 *
 * The error detail of every failure contains the name and the number of the driver's code. If the driver ran out of
 * memory, the status is INGOT_OUT_OF_MEMORY, and the core empties the in-memory cache and retries once.
 */
#include "backends/cuda/errors.h"

ingot_status_t cuda_fail(const struct cuda_driver *driver, ingot_status_t otherwise, const char *call, CUresult result)
{
    const ingot_status_t status = result == CUDA_ERROR_OUT_OF_MEMORY ? INGOT_OUT_OF_MEMORY : otherwise;
    const char *name = NULL;
    if (driver->get_error_name(result, &name) != CUDA_SUCCESS || name == NULL)
        name = "unknown result";
    return ingot_set_error(status, (int64_t)result, "%s: %s (%d)", call, name, (int)result);
}

bool cuda_refused_image(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND: return true;
    default: return false;
    }
}

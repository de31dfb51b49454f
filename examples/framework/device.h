/*
 * device.h - what the executor needs of a device: a context of Ingot, a dialect, and a way to run a kernel.
 *
 * Two are here: OpenCL, and the backend of ../own_backend, which compiles C for this processor. The executor does not
 * know which it has; a framework's own JIT would be a third.
 */
#ifndef FRAMEWORK_DEVICE_H
#define FRAMEWORK_DEVICE_H

#include <stddef.h>

#include <ingot/ingot.h>

struct device {
    ingot_context_t context;
    ingot_source_kind_t kind;
    const char *dialect; /* what the kernels include as "dialect.h" */
    /* Any number of threads at once. Shared kernels have state in OpenCL, so a device locks them where that is so. */
    void (*run)(struct device *device, ingot_kernel_t kernel, size_t row_count, const double *in, size_t in_count,
                double *out, size_t out_count);
    void (*close)(struct device *device);
};

/* NULL where this build has no such device. The context's memory comes from the allocator, its limits are capacity. */
struct device *device_open_opencl(const ingot_allocator_t *allocator, const ingot_cache_capacity_t *capacity);
struct device *device_open_jit(const ingot_allocator_t *allocator, const ingot_cache_capacity_t *capacity);

#endif

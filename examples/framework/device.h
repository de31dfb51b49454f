/*
 * device.h - the device interface of the executor: an Ingot context, a dialect, and a function that runs a kernel.
 *
 * There are two implementations: OpenCL, and the backend of ../own_backend, which compiles C for this processor. The
 * executor does not know which one it has. A framework's own JIT would be a third.
 */
#ifndef FRAMEWORK_DEVICE_H
#define FRAMEWORK_DEVICE_H

#include <stddef.h>

#include <ingot/ingot.h>

struct device {
    ingot_context_t context;
    ingot_source_kind_t kind;
    const char *dialect; /* text of "dialect.h", which the kernels include; defines the macros that differ by device */
    /* Runs a kernel. Any number of threads may call it at once: the OpenCL device locks its shared kernels. */
    void (*run)(struct device *device, ingot_kernel_t kernel, size_t row_count, const double *in, size_t in_count,
                double *out, size_t out_count);
    void (*close)(struct device *device);
};

/* Create a device, whose context uses this allocator and capacity. Each function exists only if the backend that it
 * needs is built. */
struct device *device_open_opencl(const ingot_allocator_t *allocator, const ingot_cache_capacity_t *capacity);
struct device *device_open_jit(const ingot_allocator_t *allocator, const ingot_cache_capacity_t *capacity);

#endif

/*
 * device_jit.c - runs kernels on this processor, with the backend of ../own_backend.
 *
 * That backend's kernels are plain functions without state, so running them needs no lock.
 */
#include "device.h"

#include <stdlib.h>

#include "check.h"
#include "tinycc.h"

static const char dialect[] = "double sqrt(double);\n"
                              "#define MEMORY\n"
                              "#define KERNEL(name) void kernel_##name\n"
                              "#define EACH_ROW(row, count) for (unsigned long row = 0; row < (count); ++row)\n";

static void run(struct device *device, ingot_kernel_t kernel, size_t row_count, const double *in, size_t in_count,
                double *out, size_t out_count)
{
    tinycc_function_t function = NULL;
    (void)device;
    (void)in_count;
    (void)out_count;
    check_ingot(tinycc_kernel_get_function(kernel, &function), "native kernel");
    function(in, out, row_count);
}

static void close_device(struct device *device)
{
    ingot_context_release(device->context);
    free(device);
}

struct device *device_open_jit(const ingot_allocator_t *allocator, const ingot_cache_capacity_t *capacity)
{
    struct device *device = calloc(1, sizeof(*device));
    const tinycc_device_t processor = {.lanes = 4};
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;

    check(device != NULL, "memory");
    info.allocator = allocator;
    info.cache_capacity = capacity;
    check_ingot(tinycc_context_create(&device->context, 1, &processor, &info), "a context of Ingot");
    device->kind = TINYCC_SOURCE_C;
    device->dialect = dialect;
    device->run = run;
    device->close = close_device;
    return device;
}

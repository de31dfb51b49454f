/*
 * device.c - a list of devices, and the list of backends; see device.h.
 */
#include "cli/build/device/device.h"

#include <ingot/backend.h>
#include <stdio.h>

#include "cli/base/memory.h"

const struct device_backend *const device_backends[] = {
#if INGOT_WITH_OPENCL
    &device_opencl,
#endif
#if INGOT_WITH_LEVEL_ZERO
    &device_level_zero,
#endif
#if INGOT_WITH_CUDA
    &device_cuda,
#endif
    NULL,
};

void device_add(struct device_list *list, const struct device *device, const char *name, const char *platform)
{
    list->items = memory_grow(list->items, list->count, sizeof(*list->items));
    struct device *added = &list->items[list->count++];
    *added = *device;
    (void)snprintf(added->text, sizeof(added->text), "%s: %s (%s)", device->backend->name, name, platform);
}

ingot_status_t device_refuse(const char *call, long error)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the device cannot be used: %s returned %ld", call, error);
}

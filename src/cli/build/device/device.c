/*
 * device.c - a list of devices, and the list of backends; see device.h.
 */
#include "cli/build/device/device.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/base.h"

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
#if INGOT_WITH_HIP
    &device_hip,
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

void device_add_named(struct device_list *list, const struct device_backend *backend, const char *selector)
{
    const size_t length = strlen(backend->name);
    if (backend->platform == NULL || strncmp(selector, backend->name, length) != 0 || selector[length] != ':' ||
        selector[length + 1] == ' ' || selector[length + 1] == '\0')
        return;
    const struct device device = {.backend = backend, .architecture = selector + length + 1};
    device_add(list, &device, device.architecture, backend->platform);
}

ingot_status_t device_open(struct device *device, const ingot_context_info_t *info)
{
    return device->context != NULL ? INGOT_SUCCESS : device->backend->open(device, info, &device->context);
}

ingot_status_t device_refuse(const char *call, long error)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the device cannot be used: %s returned %ld", call, error);
}

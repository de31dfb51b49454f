/*
 * device.c - a list of devices; see device.h.
 */
#include "cli/build/device/device.h"

#include <stdio.h>

#include "cli/base/memory.h"

void device_add(struct device_list *list, const struct device *device, const char *name, const char *platform)
{
    list->items = memory_grow(list->items, list->count, sizeof(*list->items));
    struct device *added = &list->items[list->count++];
    *added = *device;
    (void)snprintf(added->text, sizeof(added->text), "%s: %s (%s)", device->backend, name, platform);
}

bool device_refuse(char reason[DEVICE_REASON_SIZE], const char *call, long error)
{
    (void)snprintf(reason, DEVICE_REASON_SIZE, "the device cannot be used: %s returned %ld", call, error);
    return false;
}

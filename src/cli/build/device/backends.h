/*
 * backends.h - lists the backends that the tool was built with, and opens their devices.
 *
 * Only worker processes call these functions, because listing devices loads drivers. A backend's list is the same in
 * every worker, unless a device comes or goes.
 */
#ifndef INGOT_CLI_BUILD_DEVICE_BACKENDS_H
#define INGOT_CLI_BUILD_DEVICE_BACKENDS_H

#include "cli/build/device/device.h"

/* Returns the name of the backend with this index, or NULL after the last one. */
const char *backends_name(size_t index);
/* Adds the devices of the backend with this index. If its driver is missing, there are none. */
void backends_add_devices(struct device_list *list, size_t index);
/* Creates a context for this device alone. On failure, writes an error message to `reason` and returns false. */
bool backends_open_device(const struct device *device, const ingot_context_info_t *info, ingot_context_t *context,
                          char reason[DEVICE_REASON_SIZE]);

#endif

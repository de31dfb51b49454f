/*
 * backends.h - the backends that the tool was built with, and their devices.
 *
 * Only worker processes call these functions, because listing devices loads drivers. A backend's list is the same in
 * every worker, unless a device comes or goes.
 */
#ifndef INGOT_CLI_BUILD_DEVICE_BACKENDS_H
#define INGOT_CLI_BUILD_DEVICE_BACKENDS_H

#include "cli/build/device/device.h"

/* Adds the backend's devices. There are none if the driver is missing or if the tool was built without the backend. */
void backends_add_devices(struct device_list *list, const char *backend);
/* Creates a context for this device alone. On failure returns false with a sentence in reason. */
bool backends_open_device(const struct device *device, const ingot_context_info_t *info, ingot_context_t *context,
                          char reason[DEVICE_REASON_SIZE]);

#endif

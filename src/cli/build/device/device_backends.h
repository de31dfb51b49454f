/*
 * device_backends.h - declares what `ingot build` needs from each backend: a table of functions that use the backend's
 * native interface.
 */
#ifndef INGOT_CLI_BUILD_DEVICE_DEVICE_BACKENDS_H
#define INGOT_CLI_BUILD_DEVICE_DEVICE_BACKENDS_H

#include "cli/build/device/device.h"

struct device_backend {
    const char *name;
    void (*add_all)(struct device_list *list);
    /* Creates the context; see backends_open_device. */
    bool (*open)(const struct device *device, const ingot_context_info_t *info, ingot_context_t *context,
                 char reason[DEVICE_REASON_SIZE]);
};

/* Each table exists only if the tool was built with its backend. */
extern const struct device_backend device_opencl;
extern const struct device_backend device_level_zero;
extern const struct device_backend device_cuda;

#endif

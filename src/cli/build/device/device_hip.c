/*
 * device_hip.c - lists and opens the devices of HIP's runtime, and opens architectures that this machine need not have.
 */
#include <ingot/hip.h>
#include <ingot/private/hip.h>

#include "cli/build/device/device.h"

static void add_hip_devices(struct device_list *list)
{
    ingot_context_t context = NULL;
    for (int number = 0; ingot_hip_context_create(&context, 1, &number, NULL) == INGOT_SUCCESS; ++number) {
        const struct device device = {.backend = &device_hip, .number = number};
        const char *architecture = NULL;
        if (ingot_hip_context_get_architecture(context, 0, &architecture) == INGOT_SUCCESS)
            device_add(list, &device, architecture, device_hip.platform);
        ingot_context_release(context);
    }
}

static ingot_status_t open_hip_device(const struct device *device, const ingot_context_info_t *info,
                                      ingot_context_t *context)
{
    return device->architecture != NULL ? ingot_hip_context_create_for(context, device->architecture, info)
                                        : ingot_hip_context_create(context, 1, &device->number, info);
}

const struct device_backend device_hip = {"hip", add_hip_devices, open_hip_device, "HIP"};

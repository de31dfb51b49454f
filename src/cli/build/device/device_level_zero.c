/*
 * device_level_zero.c - lists and opens the devices of all Level Zero drivers. Their contexts live until the process
 * ends, because Level Zero does not count references.
 */
#include <ingot/level_zero.h>

#include <stdlib.h>

#include "cli/base/base.h"
#include "cli/build/device/device.h"

/* Asks for the number first, because Intel's driver crashes if there is room for more devices than it has. */
static void add_devices_of_driver(struct device_list *list, ze_driver_handle_t driver)
{
    uint32_t count = 0;
    if (zeDeviceGet(driver, &count, NULL) != ZE_RESULT_SUCCESS || count == 0)
        return;
    ze_device_handle_t *devices = memory_get(count * sizeof(ze_device_handle_t));
    if (zeDeviceGet(driver, &count, devices) != ZE_RESULT_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const struct device device = {.backend = &device_level_zero, .owner = driver, .handle = devices[i]};
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        if (zeDeviceGetProperties(devices[i], &properties) == ZE_RESULT_SUCCESS)
            device_add(list, &device, properties.name, "Level Zero");
    }
    free(devices);
}

static void add_level_zero_devices(struct device_list *list)
{
    uint32_t count = 0;
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, NULL) != ZE_RESULT_SUCCESS || count == 0)
        return;
    ze_driver_handle_t *drivers = memory_get(count * sizeof(ze_driver_handle_t));
    if (zeDriverGet(&count, drivers) == ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < count; ++i)
            add_devices_of_driver(list, drivers[i]);
    }
    free(drivers);
}

static ingot_status_t open_level_zero_device(const struct device *device, const ingot_context_info_t *info,
                                             ingot_context_t *context)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_handle_t native_device = device->handle;
    ze_context_handle_t native = NULL;
    const ze_result_t result = zeContextCreate(device->owner, &desc, &native);
    if (result != ZE_RESULT_SUCCESS)
        return device_refuse("zeContextCreate", (long)result);
    const ingot_status_t status =
        ingot_level_zero_context_create(context, device->owner, native, 1, &native_device, info);
    if (status != INGOT_SUCCESS)
        (void)zeContextDestroy(native);
    return status;
}

const struct device_backend device_level_zero = {"level_zero", add_level_zero_devices, open_level_zero_device, NULL};

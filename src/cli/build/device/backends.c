/*
 * backends.c - a table of the backends that the tool was built with; see backends.h.
 */
#include "cli/build/device/backends.h"

#include <string.h>

#include "cli/build/device/device_backends.h"

static const struct device_backend *const backends[] = {
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

static const struct device_backend *find(const char *name)
{
    for (size_t i = 0; backends[i] != NULL; ++i) {
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    }
    return NULL;
}

const char *backends_name(size_t index)
{
    return backends[index] != NULL ? backends[index]->name : NULL;
}

void backends_add_devices(struct device_list *list, size_t index)
{
    backends[index]->add_all(list);
}

bool backends_open_device(const struct device *device, const ingot_context_info_t *info, ingot_context_t *context,
                          char reason[DEVICE_REASON_SIZE])
{
    return find(device->backend)->open(device, info, context, reason);
}

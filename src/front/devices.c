/*
 * devices.c - remembers the identities of devices; see devices.h.
 *
 * Locks: the lock of lock.h, which is held for a search and a copy only.
 */
#include "front/devices.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context.h"
#include "front/lock.h"
#include "util/memory.h"

struct known_device {
    struct known_device *next;
    const char *backend;
    uintptr_t handle;
    struct device_identity *identity;
};

void devices_fini(struct devices *devices)
{
    while (devices->first != NULL) {
        struct known_device *device = devices->first;
        devices->first = device->next;
        device_identity_destroy(device->identity, &memory_c_allocator);
        free(device);
    }
}

static const struct known_device *find_known_device(const struct devices *devices, const char *backend,
                                                    uintptr_t handle)
{
    const struct known_device *device = devices->first;
    while (device != NULL && (device->handle != handle || strcmp(device->backend, backend) != 0))
        device = device->next;
    return device;
}

void devices_lookup(struct devices *devices, ingot_context_t context, uint32_t index, const char *backend,
                    uintptr_t handle)
{
    lock_take();
    const struct known_device *device = find_known_device(devices, backend, handle);
    if (device != NULL)
        context_adopt_identity(context, index, device->identity);
    lock_give();
}

void devices_learn(struct devices *devices, ingot_context_t context, uint32_t index, const char *backend,
                   uintptr_t handle)
{
    const struct device_identity *identity = NULL;
    if (context_get_identity(context, index, &identity) != INGOT_SUCCESS)
        return;
    lock_take();
    if (find_known_device(devices, backend, handle) == NULL) {
        struct known_device *device = calloc(1, sizeof(*device));
        if (device != NULL && device_identity_copy(&device->identity, &memory_c_allocator, identity)) {
            device->backend = backend;
            device->handle = handle;
            device->next = devices->first;
            devices->first = device;
            device = NULL;
        }
        free(device);
    }
    lock_give();
}

/*
 * device.h - a list of devices that programs can be built for.
 */
#ifndef INGOT_CLI_BUILD_DEVICE_DEVICE_H
#define INGOT_CLI_BUILD_DEVICE_DEVICE_H

#include <ingot/ingot.h>
#include <stdbool.h>
#include <stddef.h>

enum { DEVICE_TEXT_SIZE = 512, DEVICE_REASON_SIZE = 512 };

struct device {
    const char *backend;         /* as ingot_context_get_backend_name returns it */
    char text[DEVICE_TEXT_SIZE]; /* "BACKEND: NAME (PLATFORM)" */
    void *owner;                 /* the platform or the driver */
    void *handle;
    int number; /* the index of a CUDA device */
};

struct device_list {
    struct device *items;
    size_t count;
};

/* Adds a device. Its text is made from the names of the backend, the device and the platform. */
void device_add(struct device_list *list, const struct device *device, const char *name, const char *platform);
/* Writes an error message about a failed call to a driver, and returns false. */
bool device_refuse(char reason[DEVICE_REASON_SIZE], const char *call, long error);

#endif

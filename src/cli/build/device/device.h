/*
 * device.h - the devices that programs can be built for, and the backends that list and open them.
 *
 * Only worker processes call a backend's functions, because listing devices loads drivers. A backend's list is the same
 * in every worker, unless a device comes or goes.
 */
#ifndef INGOT_CLI_BUILD_DEVICE_DEVICE_H
#define INGOT_CLI_BUILD_DEVICE_DEVICE_H

#include <ingot/ingot.h>
#include <stddef.h>

enum { DEVICE_TEXT_SIZE = 512 };

struct device_backend;

struct device {
    const struct device_backend *backend;
    char text[DEVICE_TEXT_SIZE]; /* "BACKEND: NAME (PLATFORM)" */
    void *owner;                 /* the platform or the driver */
    void *handle;
    int number;               /* the index of a CUDA or HIP device */
    const char *architecture; /* what the device is named by, if this machine need not have it; otherwise NULL */
    ingot_context_t context;  /* NULL: not opened yet */
};

struct device_list {
    struct device *items;
    size_t count;
};

/* What `ingot build` needs from a backend: functions that use the backend's native interface. */
struct device_backend {
    const char *name; /* as ingot_context_get_backend_name returns it */
    /* Adds all devices. If the driver is missing, there are none. */
    void (*add_all)(struct device_list *list);
    /* Creates a context for this device alone. On failure, sets the error detail. */
    ingot_status_t (*open)(const struct device *device, const ingot_context_info_t *info, ingot_context_t *context);
    /* If the backend also builds for architectures that this machine need not have, the name of the platform. */
    const char *platform;
};

/* The backends that the tool was built with; NULL ends the list. */
extern const struct device_backend *const device_backends[];

/* Each table exists only if the tool was built with its backend. */
extern const struct device_backend device_opencl;
extern const struct device_backend device_level_zero;
extern const struct device_backend device_cuda;
extern const struct device_backend device_hip;

/* Adds a device. Its text is made from the names of the backend, the device and the platform. */
void device_add(struct device_list *list, const struct device *device, const char *name, const char *platform);
/* Adds the architecture that a selector "BACKEND:ARCHITECTURE" names, if it is one for this backend. */
void device_add_named(struct device_list *list, const struct device_backend *backend, const char *selector);
/* Creates the device's context, unless it has one. On failure, sets the error detail. */
ingot_status_t device_open(struct device *device, const ingot_context_info_t *info);
/* Reports that a call to a driver failed. Returns INGOT_BACKEND_ERROR. */
ingot_status_t device_refuse(const char *call, long error);

#endif

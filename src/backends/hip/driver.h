/*
 * driver.h - looks up the functions of HIP's runtime that the backend uses.
 *
 * The backend declares what it uses of HIP itself, so it is built without HIP's headers. Results are hipError_t.
 */
#ifndef INGOT_BACKENDS_HIP_DRIVER_H
#define INGOT_BACKENDS_HIP_DRIVER_H

#include <ingot/backend.h>
#include <ingot/hip.h>

#define HIP_OLDEST_MAJOR 5u
#define HIP_NEWEST_MAJOR 7u

enum {
    HIP_SUCCESS = 0,
    HIP_INVALID_VALUE = 1,
    HIP_OUT_OF_MEMORY = 2,
    HIP_INVALID_IMAGE = 200,
    HIP_NO_BINARY_FOR_GPU = 209,
    HIP_INVALID_KERNEL_FILE = 218,
    HIP_INVALID_SOURCE = 300,
    HIP_FILE_NOT_FOUND = 301,
    HIP_SYMBOL_NOT_FOUND = 302,
    HIP_INIT_FAILED = 303,
    HIP_NOT_FOUND = 500
};

struct hip_driver {
    unsigned major; /* of libamdhip64.so.MAJOR */
    const char *(*get_error_name)(int);
    int (*get_device)(int *);
    int (*set_device)(int);
    int (*get_properties)(void *, int);
    int (*load_module)(hipModule_t *, const void *);
    int (*unload_module)(hipModule_t);
    int (*get_function)(hipFunction_t *, hipModule_t, const char *);
};

/* Opens the runtime that the process uses already, or the newest one. Returns INGOT_UNIMPLEMENTED if there is none. */
ingot_status_t hip_driver_open(struct hip_driver *driver);

#endif

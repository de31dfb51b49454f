/*
 * driver.h - looks up the functions of CUDA's driver API that the backend uses.
 */
#ifndef INGOT_BACKENDS_CUDA_DRIVER_H
#define INGOT_BACKENDS_CUDA_DRIVER_H

#include <ingot/backend.h>
#include <ingot/cuda.h>

#include <stdbool.h>

struct cuda_driver {
    int version; /* from cuDriverGetVersion: 1000 * major + 10 * minor */
    CUresult (*get_error_name)(CUresult, const char **);
    CUresult (*get_version)(int *);
    CUresult (*get_current)(CUcontext *);
    CUresult (*push_context)(CUcontext);
    CUresult (*pop_context)(CUcontext *);
    CUresult (*get_device)(CUdevice *);
    CUresult (*get_device_name)(char *, int, CUdevice);
    CUresult (*get_device_attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*load_module)(CUmodule *, const void *);
    CUresult (*unload_module)(CUmodule);
    CUresult (*get_function)(CUfunction *, CUmodule, const char *);
};

/* Opens the driver and fills in the functions, but not the version. Returns INGOT_UNIMPLEMENTED if there is no
 * driver. */
ingot_status_t cuda_driver_open(struct cuda_driver *driver);

#endif

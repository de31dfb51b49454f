/*
 * device.h - the application's own OpenCL objects. The application passes them to Ingot, which creates none.
 */
#ifndef DIGITS_DEVICE_H
#define DIGITS_DEVICE_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    char platform_name[128];
    char name[256];
};

/* Opens the first device of the first platform whose name contains `platform_word`; an empty word fits every platform.
 * Returns 0. On failure, prints the reason and returns -1. */
int device_open(struct device *device, const char *platform_word);
void device_close(struct device *device);

#endif

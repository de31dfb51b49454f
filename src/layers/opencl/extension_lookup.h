/*
 * extension_lookup.h - looks up functions of a driver that are not in the table of OpenCL functions.
 */
#ifndef INGOT_LAYERS_OPENCL_EXTENSION_LOOKUP_H
#define INGOT_LAYERS_OPENCL_EXTENSION_LOOKUP_H

#include "layers/opencl/layer.h"

/* Return a function of the driver of the device or context, or NULL. */
void *extension_find_for_device(cl_device_id device, const char *name);
void *extension_find_for_context(cl_context context, const char *name);

#endif

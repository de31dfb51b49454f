/*
 * extensions.h - functions of a driver that are not in the table.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_EXTENSIONS_H
#define INGOT_LAYERS_OPENCL_CALLS_EXTENSIONS_H

#include "layers/opencl/layer.h"

/* Returns the function of the context's, the device's or the queue's driver, or NULL. */
void *extensions_find_for_context(cl_context context, const char *name);
void *extensions_find_for_device(cl_device_id device, const char *name);
void *extensions_find_for_queue(cl_command_queue queue, const char *name);

#endif

/*
 * extensions.h - looks up functions of a driver that are not in the table of OpenCL functions.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_EXTENSIONS_H
#define INGOT_LAYERS_OPENCL_CALLS_EXTENSIONS_H

#include "layers/opencl/layer.h"

/* Returns a function of the context's driver, or NULL. */
void *extensions_find_for_context(cl_context context, const char *name);

#endif

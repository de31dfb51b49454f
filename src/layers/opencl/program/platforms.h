/*
 * platforms.h - decides whether the layer caches a platform's programs.
 *
 * By default, the layer caches programs only on platforms on which it was compared with the bare driver, because
 * drivers differ in details that the specification leaves open. If INGOT_LAYER_PLATFORMS is set, it names the platforms
 * instead. Programs of all other platforms pass through: the application gets the driver's programs.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_PLATFORMS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_PLATFORMS_H

#include "layers/opencl/layer.h"

/* True if the layer caches programs of the platform to which this driver's program belongs. Otherwise, the trace
 * says why, once per process. */
bool platforms_have(cl_program native);

#endif

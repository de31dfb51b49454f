/*
 * platforms.h - the platforms whose programs the layer caches.
 *
 * By default, these are the platforms on which the layer was compared with the bare driver, because drivers differ in
 * details that the specification leaves open. INGOT_LAYER_PLATFORMS names others.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_PLATFORMS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_PLATFORMS_H

#include "layers/opencl/layer.h"

/* True if the layer caches programs of the platform to which this driver's program belongs. Otherwise, the trace
 * says why, once per process. */
bool platforms_have(cl_program native);

#endif

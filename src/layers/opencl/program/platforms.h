/*
 * platforms.h - knows the platforms on which the layer was compared with the bare driver.
 *
 * By default, the layer caches programs only on these platforms, because drivers differ in details that the
 * specification leaves open. If INGOT_LAYER_PLATFORMS is set, it names the platforms instead. Programs of all other
 * platforms pass through: the application gets the driver's programs.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_PLATFORMS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_PLATFORMS_H

#include "layers/opencl/layer.h"

/* What the build log of a program has after a second build. */
enum log_rule {
    LOG_RULE_UNKNOWN, /* the layer was not compared with the driver */
    LOG_RULE_LAST,    /* the messages of the last build */
    LOG_RULE_ALL      /* the messages of all builds, with a line end between them */
};

/* Returns the rule of the device's platform. */
enum log_rule platforms_log_rule(cl_device_id device);

/* True if the layer caches programs of the platform to which this driver's program belongs. Otherwise, the trace
 * says why, once per process. */
bool platforms_have(cl_program native);

#endif

/*
 * log_rule.h - what the build log of a program has after a second build, on the platforms on which the layer was
 * compared with the bare driver.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_LOG_RULE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_LOG_RULE_H

#include "layers/opencl/layer.h"

enum log_rule {
    LOG_RULE_UNKNOWN, /* the layer was not compared with the driver */
    LOG_RULE_LAST,    /* the messages of the last build */
    LOG_RULE_ALL      /* the messages of all builds, with a line end between them */
};

/* Returns the rule of the platform with this name. */
enum log_rule log_rule_find(const char *platform);
/* Returns the rule of the device's platform. */
enum log_rule log_rule_of(cl_device_id device);

#endif

/*
 * log_rule.c - lists the platforms on which the layer was compared with the bare driver; see log_rule.h.
 */
#include "layers/opencl/program/log_rule.h"

#include <string.h>

#define MAX_NAME 256u

static const struct {
    const char *platform;
    enum log_rule rule;
} compared[] = {
    {"Portable Computing Language", LOG_RULE_LAST},
    {"Intel(R) OpenCL HD Graphics", LOG_RULE_ALL},
    {"Intel(R) OpenCL Graphics", LOG_RULE_ALL},
    {"Intel(R) OpenCL", LOG_RULE_LAST},
};

enum log_rule log_rule_find(const char *platform)
{
    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); ++i)
        if (strcmp(compared[i].platform, platform) == 0)
            return compared[i].rule;
    return LOG_RULE_UNKNOWN;
}

enum log_rule log_rule_of(cl_device_id device)
{
    char name[MAX_NAME] = "";
    cl_platform_id platform = NULL;
    if (layer_target.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) != CL_SUCCESS ||
        layer_target.clGetPlatformInfo(platform, CL_PLATFORM_NAME, MAX_NAME, name, NULL) != CL_SUCCESS)
        return LOG_RULE_UNKNOWN;
    return log_rule_find(name);
}

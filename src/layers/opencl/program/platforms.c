/*
 * platforms.c - knows the platforms on which the layer was compared with the bare driver; see platforms.h.
 */
#include "layers/opencl/program/platforms.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/statistics.h"
#include "layers/common/trace.h"

#define MAX_DEVICES 64u
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

static enum log_rule find_rule(const char *platform)
{
    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); ++i)
        if (strcmp(compared[i].platform, platform) == 0)
            return compared[i].rule;
    return LOG_RULE_UNKNOWN;
}

/* Reads the name of the device's platform. Returns false if the driver does not tell it. */
static bool read_name(cl_device_id device, char name[MAX_NAME])
{
    cl_platform_id platform = NULL;
    *name = '\0';
    return layer_target.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) == CL_SUCCESS &&
           layer_target.clGetPlatformInfo(platform, CL_PLATFORM_NAME, MAX_NAME, name, NULL) == CL_SUCCESS;
}

enum log_rule platforms_log_rule(cl_device_id device)
{
    char name[MAX_NAME];
    return read_name(device, name) ? find_rule(name) : LOG_RULE_UNKNOWN;
}

/* True if a comma-separated list contains this word, or "*". */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *each = list; each != NULL; each = strchr(each, ',')) {
        each += *each == ',';
        const size_t size = strcspn(each, ",");
        if ((size == length && strncmp(each, word, size) == 0) || (size == 1 && *each == '*'))
            return true;
    }
    return false;
}

static void report_once(const char *name)
{
    static atomic_bool is_reported;
    char reason[MAX_NAME + 128];
    if (atomic_exchange_explicit(&is_reported, true, memory_order_relaxed))
        return;
    (void)snprintf(reason, sizeof(reason),
                   "the platform %s passes through: the layer was not compared with its driver, and "
                   "INGOT_LAYER_PLATFORMS does not name it",
                   name);
    layer_trace_passed(INGOT_NOT_CACHEABLE, reason);
}

bool platforms_have(cl_program native)
{
    char name[MAX_NAME];
    cl_device_id devices[MAX_DEVICES];
    size_t size = 0;
    const char *wanted = secure_getenv("INGOT_LAYER_PLATFORMS");
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, sizeof(devices), devices, &size) != CL_SUCCESS ||
        size < sizeof(devices[0]) || !read_name(devices[0], name))
        return false;
    if (wanted != NULL && *wanted != '\0' ? has_word(wanted, name) : find_rule(name) != LOG_RULE_UNKNOWN)
        return true;
    statistics_add(STATISTIC_PASSED, 1);
    report_once(name);
    return false;
}

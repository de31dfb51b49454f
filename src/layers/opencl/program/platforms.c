/*
 * platforms.c - decides whether the layer caches a platform's programs; see platforms.h.
 */
#include "layers/opencl/program/platforms.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/statistics.h"
#include "layers/opencl/program/log_rule.h"
#include "layers/opencl/program/trace.h"

#define MAX_DEVICES 64u
#define MAX_NAME 256u

/* The platform that was last found to be a compared one, so that its name is not read for each program. */
static _Atomic(cl_platform_id) compared;

static cl_platform_id platform_of(cl_program native)
{
    cl_device_id devices[MAX_DEVICES];
    cl_platform_id platform = NULL;
    size_t size = 0;
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, sizeof(devices), devices, &size) != CL_SUCCESS ||
        size < sizeof(devices[0]))
        return NULL;
    (void)layer_target.clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    return platform;
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

static void report_once(cl_program native, const char *name)
{
    static atomic_bool is_reported;
    char reason[MAX_NAME + 128];
    if (atomic_exchange_explicit(&is_reported, true, memory_order_relaxed))
        return;
    (void)snprintf(reason, sizeof(reason),
                   "the platform %s passes through: the layer was not compared with its driver, and "
                   "INGOT_LAYER_PLATFORMS does not name it",
                   name);
    trace_passed(native, INGOT_NOT_CACHEABLE, reason);
}

bool platforms_have(cl_program native)
{
    char name[MAX_NAME] = "";
    const cl_platform_id platform = platform_of(native);
    const char *wanted = secure_getenv("INGOT_LAYER_PLATFORMS");
    const bool is_default = wanted == NULL || *wanted == '\0';
    if (platform == NULL)
        return false;
    if (is_default && platform == atomic_load_explicit(&compared, memory_order_relaxed))
        return true;
    if (layer_target.clGetPlatformInfo(platform, CL_PLATFORM_NAME, MAX_NAME, name, NULL) != CL_SUCCESS)
        return false;
    if (is_default ? log_rule_find(name) != LOG_RULE_UNKNOWN : has_word(wanted, name)) {
        if (is_default)
            atomic_store_explicit(&compared, platform, memory_order_relaxed);
        return true;
    }
    statistics_add(STATISTIC_PASSED, 1);
    report_once(native, name);
    return false;
}

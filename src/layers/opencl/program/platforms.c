/*
 * platforms.c - decides whether the layer caches a platform's programs; see platforms.h.
 */
#include "layers/opencl/program/platforms.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/program/trace.h"
#include "layers/opencl/statistics.h"

#define COMPARED "Portable Computing Language,Intel(R) OpenCL HD Graphics,Intel(R) OpenCL Graphics"
#define MAX_DEVICES 64u
#define MAX_NAME 256u

static bool read_platform_name(cl_program native, char name[MAX_NAME])
{
    cl_device_id devices[MAX_DEVICES];
    cl_platform_id platform = NULL;
    size_t size = 0;
    return layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, sizeof(devices), devices, &size) == CL_SUCCESS &&
           size >= sizeof(devices[0]) &&
           layer_target.clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) ==
               CL_SUCCESS &&
           layer_target.clGetPlatformInfo(platform, CL_PLATFORM_NAME, MAX_NAME, name, NULL) == CL_SUCCESS;
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
    const char *wanted = secure_getenv("INGOT_LAYER_PLATFORMS");
    if (!read_platform_name(native, name))
        return false;
    if (has_word(wanted != NULL && *wanted != '\0' ? wanted : COMPARED, name))
        return true;
    statistics_add(STATISTIC_PASSED, 1);
    report_once(native, name);
    return false;
}

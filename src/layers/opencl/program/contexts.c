/*
 * contexts.c - keeps an Ingot context for each OpenCL context that has a program of the layer.
 */
#include "layers/opencl/program/program.h"

#include <ingot/persist.h>
#include <ingot/private/opencl.h>
#include <ingot/private/program.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/lock.h"
#include "layers/common/common.h"

static struct layer_context *contexts; /* guarded by the lock */

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

static struct layer_context *use_existing_context(const struct layer_context *wanted)
{
    struct layer_context *context = contexts;
    while (context != NULL &&
           (context->native != wanted->native || context->device_count != wanted->device_count ||
            memcmp(context->devices, wanted->devices, wanted->device_count * sizeof(cl_device_id)) != 0))
        context = context->next;
    if (context != NULL)
        ++context->user_count;
    return context;
}

static void destroy_context(struct layer_context *context)
{
    if (context == NULL)
        return;
    ingot_context_release(context->ingot);
    free(context->devices);
    free(context);
}

static bool read_program(struct layer_context *context, cl_program native)
{
    size_t size = 0;
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_CONTEXT, sizeof(context->native), &context->native, NULL) !=
            CL_SUCCESS ||
        layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return false;
    context->devices = malloc(size);
    context->device_count = (cl_uint)(size / sizeof(cl_device_id));
    return context->devices != NULL &&
           layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, size, context->devices, NULL) == CL_SUCCESS;
}

static bool create_ingot(struct layer_context *context)
{
    char name[MAX_NAME];
    context->log_rule = read_name(context->devices[0], name) ? find_rule(name) : LOG_RULE_UNKNOWN;
    if (ingot_opencl_context_create_with(&context->ingot, compiler_table(), context->native, context->device_count,
                                         context->devices, NULL) != INGOT_SUCCESS)
        return false;
    (void)ingot_persist_remember_headers(settings_store(), context->ingot);
    return true;
}

struct layer_context *contexts_acquire(cl_program program)
{
    struct layer_context *made = calloc(1, sizeof(*made));
    struct layer_context *found = NULL;
    if (made == NULL || !read_program(made, program))
        goto end;
    lock_take();
    found = use_existing_context(made);
    lock_give();
    if (found != NULL || !create_ingot(made))
        goto end;
    lock_take();
    found = use_existing_context(made); /* another thread may have added the context in the meantime */
    if (found == NULL) {
        made->user_count = 1;
        made->next = contexts;
        contexts = made;
        found = made;
        made = NULL;
    }
    lock_give();
end:
    destroy_context(made);
    return found;
}

bool contexts_generate_code_at_launch(const struct layer_context *context)
{
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    return ingot_context_get_device_info(context->ingot, 0, &info) == INGOT_SUCCESS && info.generates_code_at_launch;
}

bool contexts_add_up_logs(const struct layer_context *context)
{
    return context != NULL && context->log_rule == LOG_RULE_ALL;
}

void contexts_release(struct layer_context *context)
{
    if (context == NULL)
        return;
    lock_take();
    const bool is_last = --context->user_count == 0;
    if (is_last) {
        struct layer_context **place = &contexts;
        while (*place != context)
            place = &(*place)->next;
        *place = context->next;
    }
    lock_give();
    if (is_last)
        destroy_context(context);
}

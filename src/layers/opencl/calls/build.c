/*
 * build.c - clBuildProgram.
 *
 * A build that Ingot can answer gets a result. Everything else goes to the driver, word for word: wrong arguments,
 * builds for some of the devices, programs that Ingot cannot cache, and programs that do not compile. A build that
 * continues an earlier one goes there too, after that one: other devices keep what they have, and messages add up.
 */
#include <ingot/backend.h>

#include "layers/opencl/calls/native_call.h"
#include "layers/opencl/program/describe.h"
#include "layers/opencl/program/trace.h"
#include "layers/opencl/statistics.h"

#define MAX_DEVICES 64u

enum arguments { ARGUMENTS_WRONG, ARGUMENTS_SOME_DEVICES, ARGUMENTS_ALL_DEVICES };

static bool contains(cl_uint count, const cl_device_id *devices, cl_device_id device)
{
    cl_uint at = 0;
    while (at < count && devices[at] != device)
        ++at;
    return at < count;
}

static enum arguments judge_devices(const struct shadow *shadow, cl_uint count, const cl_device_id *devices)
{
    cl_device_id own[MAX_DEVICES];
    size_t size = 0;
    if (count == 0)
        return ARGUMENTS_ALL_DEVICES;
    if (layer_target.clGetProgramInfo(shadow->native, CL_PROGRAM_DEVICES, sizeof(own), own, &size) != CL_SUCCESS)
        return ARGUMENTS_SOME_DEVICES;
    const cl_uint own_count = (cl_uint)(size / sizeof(own[0]));
    for (cl_uint i = 0; i < count; ++i) {
        if (!contains(own_count, own, devices[i]))
            return ARGUMENTS_WRONG;
    }
    for (cl_uint i = 0; i < own_count; ++i) {
        if (!contains(count, devices, own[i]))
            return ARGUMENTS_SOME_DEVICES;
    }
    return count == own_count ? ARGUMENTS_ALL_DEVICES : ARGUMENTS_SOME_DEVICES;
}

static enum arguments judge_arguments(const struct shadow *shadow, cl_uint count, const cl_device_id *devices,
                                      program_callback_t notify, const void *user)
{
    if ((count == 0) != (devices == NULL) || (notify == NULL && user != NULL))
        return ARGUMENTS_WRONG;
    return judge_devices(shadow, count, devices);
}

static void count_result(const struct result *result)
{
    uint64_t build_ns = 0;
    if (!result->is_loaded) {
        statistics_add(STATISTIC_BUILDS, 1);
        statistics_add(STATISTIC_BUILD_NS, result->duration_ns);
        return;
    }
    statistics_add(STATISTIC_HITS, 1);
    if (ingot_program_get_build_time(result->program, &build_ns) == INGOT_SUCCESS && build_ns > result->duration_ns)
        statistics_add(STATISTIC_SAVED_NS, build_ns - result->duration_ns);
}

/* Threads that build the same program at once may get one result. Each shadow needs its own, so it asks again. */
static ingot_status_t get_own_result(struct shadow *shadow, ingot_program_desc_t desc, const char *options)
{
    struct result *result = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    do {
        result_release(result);
        result = NULL;
        status = result_create(&result, desc, shadow->context->device_count, options);
    } while (status == INGOT_SUCCESS && !shadow_set_result(shadow, result));
    if (status == INGOT_SUCCESS)
        count_result(result);
    return status;
}

static ingot_status_t build_with_ingot(struct shadow *shadow, const char *options)
{
    ingot_program_desc_t desc = NULL;
    if (shadow->context == NULL)
        shadow->context = contexts_acquire(shadow->native);
    if (shadow->context == NULL)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "Ingot made no context");
    ingot_status_t status = describe_build(shadow, options != NULL ? options : "", &desc);
    if (status == INGOT_SUCCESS)
        status = get_own_result(shadow, desc, options);
    ingot_program_desc_release(desc);
    return status;
}

/* False: the driver must do it. Another thread may just have built the program, and created a kernel of it. */
static bool build_cached(struct shadow *shadow, const char *options, cl_int *error)
{
    ingot_status_t status = INGOT_SUCCESS;
    shadow_begin_work(shadow, true);
    *error = shadow_has_kernels_of_result(shadow) ? CL_INVALID_OPERATION : CL_SUCCESS;
    if (*error == CL_SUCCESS) {
        result_release(shadow_take_result(shadow));
        shadow->is_native_built = false;
        status = build_with_ingot(shadow, options);
        if (status != INGOT_SUCCESS)
            trace_passed(shadow->native, status, ingot_last_error_detail());
    }
    shadow_end_work(shadow);
    return status == INGOT_SUCCESS;
}

static cl_int build_native(struct shadow *shadow, cl_uint device_count, const cl_device_id *devices,
                           const char *options, program_callback_t notify, void *user)
{
    struct native_call call;
    if (!native_call_begin(&call, shadow, notify, user))
        return CL_OUT_OF_HOST_MEMORY;
    return native_call_end(
        &call, layer_target.clBuildProgram(shadow->native, device_count, devices, options, call.notify, call.user));
}

/* Intel's driver adds a build's messages to those of the build before. */
static bool has_messages(struct shadow *shadow)
{
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    const bool has = use.result != NULL && *use.result->log != '\0';
    shadow_end_use(&use);
    return has;
}

/* Returns why only the driver can do the build as the application expects it, or NULL. */
static const char *why_not(struct shadow *shadow, enum arguments arguments)
{
    if (arguments == ARGUMENTS_WRONG)
        return "wrong arguments";
    if (arguments == ARGUMENTS_SOME_DEVICES)
        return "a build for some of the devices";
    if (shadow->is_drivers)
        return "a build after one that the driver did";
    if (has_messages(shadow))
        return "a build after one with messages";
    return shadow_count_uses(shadow) > 0 ? "a program that is in use" : NULL;
}

cl_int CL_API_CALL layer_build(cl_program program, cl_uint device_count, const cl_device_id *devices,
                               const char *options, program_callback_t notify, void *user)
{
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return layer_target.clBuildProgram(program, device_count, devices, options, notify, user);
    const enum arguments arguments = judge_arguments(shadow, device_count, devices, notify, user);
    if (arguments != ARGUMENTS_WRONG && shadow_has_kernels_of_result(shadow))
        return CL_INVALID_OPERATION;
    const char *reason = why_not(shadow, arguments);
    cl_int error = CL_SUCCESS;
    if (reason == NULL && build_cached(shadow, options, &error)) {
        if (error == CL_SUCCESS && notify != NULL)
            notify(program, user);
        return error;
    }
    if (reason != NULL)
        trace_passed(shadow->native, INGOT_UNIMPLEMENTED, reason);
    if (arguments != ARGUMENTS_WRONG)
        (void)shadow_build_native(shadow); /* what this build continues, if there still is a result */
    return build_native(shadow, device_count, devices, options, notify, user);
}

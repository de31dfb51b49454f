/*
 * build.c - implements clBuildProgram.
 *
 * If Ingot can answer a build, the shadow gets a result (both: program/program.h). Everything else goes to
 * the driver unchanged: wrong arguments, builds for some of the devices, and programs that Ingot cannot cache. So do
 * some builds of a program that was built before (why_not_after), because the new build's messages or options depend on
 * the earlier build. The layer then first repeats the earlier build on the native program.
 *
 * On a device that generates code at launch, a program that the store lacks also goes to the driver (result_create). If
 * the user records programs, so that another process stores them, it is recorded once the driver has built it.
 */
#include <ingot/backend.h>
#include <ingot/private/request.h>

#include <string.h>

#include "layers/common/common.h"
#include "layers/opencl/calls/native_call.h"

/* Gets a result with a native program that no other shadow has, or has had. Threads that build the same program at once
 * may get the same native program; all but the thread that made it then ask Ingot again. */
static ingot_status_t get_own_result(struct shadow *shadow, const struct result_info *info, struct refusal *refusal)
{
    struct result *result = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    do {
        result_release(result);
        result = NULL;
        status = result_create(&result, info, refusal);
    } while (status == INGOT_SUCCESS && (result->is_shared || !shadow_set_result(shadow, result)));
    if (status == INGOT_SUCCESS)
        statistics_add_loaded(result->program);
    return status;
}

/* True if the application may get what the compiler refuses from Ingot. After a build that succeeded, drivers keep
 * parts of that, and before a callback, they may return another error. The log of a program is for one device. */
static bool can_answer_refusal(const struct shadow *shadow, const struct native_call *call, const struct result *before)
{
    return (before == NULL || before->error != CL_SUCCESS) && call->notify == NULL &&
           shadow->context->device_count == 1;
}

/* Gives the shadow a program that the compiler refused, if it was kept. Returns false if the driver must do the build.
 */
static bool accept_refusal(struct shadow *shadow, const struct result_info *info, struct refusal *refusal)
{
    if (refusal->native == NULL || refusal->error != CL_BUILD_PROGRAM_FAILURE)
        return false;
    struct result *result = result_create_refused(info, refusal);
    const bool is_set = result != NULL && shadow_set_result(shadow, result);
    if (!is_set)
        result_release(result);
    return is_set;
}

/* Describes and builds the program. Sets *error to that of the compiler. */
static ingot_status_t build_with_ingot(struct shadow *shadow, struct native_call *call, const struct result *before,
                                       cl_int *error)
{
    ingot_program_desc_t desc = NULL;
    struct refusal refusal = {CL_SUCCESS, NULL};
    if (shadow->context == NULL)
        shadow->context = contexts_acquire(shadow->native);
    if (shadow->context == NULL)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "Ingot could not create a context");
    ingot_status_t status = describe_build(shadow, call->options != NULL ? call->options : "", &desc);
    const struct result_info info = {shadow->context, desc, call->options,
                                     before != NULL && contexts_add_up_logs(shadow->context) ? before->log : ""};
    if (status == INGOT_SUCCESS)
        status = get_own_result(shadow, &info, can_answer_refusal(shadow, call, before) ? &refusal : NULL);
    if (status == INGOT_BUILD_FAILED && accept_refusal(shadow, &info, &refusal)) {
        *error = refusal.error;
        status = INGOT_SUCCESS;
    }
    compiler_refusal_fini(&refusal);
    if (status == INGOT_NOT_FOUND && !settings_must_not_compile())
        call->left = desc;
    else
        ingot_program_desc_release(desc);
    return status;
}

/* Builds through Ingot. Returns false if the driver must build; the shadow then keeps its earlier result. Sets
 * *error to CL_INVALID_OPERATION if the result has kernels, because another thread may just have built the program and
 * created a kernel from it. */
static bool build_cached(struct shadow *shadow, struct native_call *call, cl_int *error)
{
    ingot_status_t status = INGOT_SUCCESS;
    shadow_begin_work(shadow, true);
    *error = shadow_has_kernels_of_result(shadow) ? CL_INVALID_OPERATION : CL_SUCCESS;
    if (*error == CL_SUCCESS) {
        struct result *before = shadow_take_result(shadow);
        status = build_with_ingot(shadow, call, before, error);
        if (status == INGOT_SUCCESS) {
            result_store_launches(before);
            shadow->is_native_built = false;
            shadow_set_miss(shadow, NULL);
        } else
            layer_trace_passed(status, ingot_last_error_detail());
        if (status == INGOT_SUCCESS || before == NULL || !shadow_set_result(shadow, before))
            result_release(before);
    }
    shadow_end_work(shadow);
    return status == INGOT_SUCCESS;
}

#define MAX_DEVICES 64u

enum arguments { ARGUMENTS_WRONG, ARGUMENTS_SOME_DEVICES, ARGUMENTS_ALL_DEVICES };

static bool has_device(cl_uint count, const cl_device_id *devices, cl_device_id device)
{
    cl_uint at = 0;
    while (at < count && devices[at] != device)
        ++at;
    return at < count;
}

/* Checks the arguments, and whether the build is for all devices of the program. */
static enum arguments judge_arguments(const struct native_call *call, const struct shadow *shadow)
{
    if ((call->device_count == 0) != (call->devices == NULL) || (call->notify == NULL && call->user != NULL))
        return ARGUMENTS_WRONG;
    cl_device_id own[MAX_DEVICES];
    size_t size = 0;
    if (call->device_count == 0)
        return ARGUMENTS_ALL_DEVICES;
    if (layer_target.clGetProgramInfo(shadow->native, CL_PROGRAM_DEVICES, sizeof(own), own, &size) != CL_SUCCESS)
        return ARGUMENTS_SOME_DEVICES;
    const cl_uint own_count = (cl_uint)(size / sizeof(own[0]));
    for (cl_uint i = 0; i < call->device_count; ++i) {
        if (!has_device(own_count, own, call->devices[i]))
            return ARGUMENTS_WRONG;
    }
    for (cl_uint i = 0; i < own_count; ++i) {
        if (!has_device(call->device_count, call->devices, own[i]))
            return ARGUMENTS_SOME_DEVICES;
    }
    return call->device_count == own_count ? ARGUMENTS_ALL_DEVICES : ARGUMENTS_SOME_DEVICES;
}

/* True if Intel's driver launches the kernels of a program that is built with these options (NULL: none) with
 * work-groups of different sizes. OpenCL C 2.0 and later allow it, unless an option forbids it. A program that was
 * built that way allows it forever, even if it is built again with other options. */
static bool work_groups_may_differ(const char *options)
{
    static const char standard[] = "-cl-std=CL";
    const char *found = options != NULL ? strstr(options, standard) : NULL;
    return found != NULL && found[sizeof(standard) - 1] >= '2' &&
           strstr(options, "-cl-uniform-work-group-size") == NULL;
}

/* Returns the reason why only the driver can rebuild a program whose last build gave this result, or NULL. */
static const char *why_not_after(const struct result *result, const char *options)
{
    if (*result->log != '\0' && result->context->log_rule == LOG_RULE_UNKNOWN)
        return "a build after one with messages";
    if (work_groups_may_differ(result->options) && !work_groups_may_differ(options))
        return "a build after one that allowed work-groups of different sizes";
    return NULL;
}

/* Returns the reason why only the driver can do the build as the application expects it, or NULL. */
static const char *why_not(struct shadow *shadow, enum arguments arguments, const char *options)
{
    if (arguments == ARGUMENTS_WRONG)
        return "wrong arguments";
    if (settings_store() == NULL)
        return "there is no store";
    if (arguments == ARGUMENTS_SOME_DEVICES)
        return "a build for some of the devices";
    if (shadow->is_drivers)
        return "a build after one that the driver did";
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    const char *reason = use.result != NULL ? why_not_after(use.result, options) : NULL;
    shadow_end_use(&use);
    if (reason == NULL && shadow_count_uses(shadow) > 0)
        reason = "a program that is in use";
    return reason;
}

cl_int CL_API_CALL layer_build(cl_program program, cl_uint device_count, const cl_device_id *devices,
                               const char *options, program_callback_t notify, void *user)
{
    struct native_call call = {
        .device_count = device_count, .devices = devices, .options = options, .notify = notify, .user = user};
    struct shadow *shadow = shadow_find(program);
    cl_int error = CL_SUCCESS;
    if (shadow == NULL)
        return native_call_make(&call, program);
    if (native_call_is_refused(&call, shadow, &error))
        return error;
    const enum arguments arguments = judge_arguments(&call, shadow);
    const char *reason = why_not(shadow, arguments, options);
    const bool is_answered = reason == NULL && build_cached(shadow, &call, &error);
    statistics_add_store();
    if (is_answered) {
        if (error == CL_SUCCESS && call.notify != NULL)
            call.notify(program, call.user);
        return error;
    }
    if (settings_must_not_compile() && arguments != ARGUMENTS_WRONG)
        return native_call_refuse(&call, shadow, reason != NULL ? reason : ingot_last_error_detail());
    if (reason != NULL)
        layer_trace_passed(INGOT_UNIMPLEMENTED, reason);
    /* The driver's build continues that of the result, which is repeated first. If a file that it includes has changed,
     * the driver would build another program. */
    if (arguments != ARGUMENTS_WRONG && !shadow_build_native(shadow) && shadow_has_result(shadow) &&
        arguments == ARGUMENTS_SOME_DEVICES) {
        layer_trace_passed(INGOT_NOT_CACHEABLE, "a build for some of the devices after a file changed");
        return CL_OUT_OF_RESOURCES;
    }
    error = native_call_take_over(&call, shadow);
    if (call.left == NULL)
        return error;
    statistics_add(STATISTIC_LEFT, 1);
    if (error == CL_SUCCESS)
        ingot_persist_record_request(settings_store(), call.left, NULL);
    ingot_program_desc_release(call.left);
    return error;
}

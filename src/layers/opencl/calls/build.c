/*
 * build.c - implements clBuildProgram.
 *
 * If Ingot can answer a build, the shadow (program/shadow.h) gets a result (program/result.h). Everything else goes to
 * the driver unchanged: wrong arguments, builds for some of the devices, programs that Ingot cannot cache, and programs
 * that do not compile. A build that continues an earlier one also goes to the driver, because devices keep the results
 * of earlier builds, and messages accumulate. The layer first repeats the earlier build on the native program.
 */
#include <ingot/backend.h>

#include "layers/common/statistics.h"
#include "layers/opencl/calls/arguments.h"
#include "layers/opencl/calls/native_call.h"
#include "layers/opencl/program/describe.h"
#include "layers/opencl/program/trace.h"
#include "layers/opencl/program/work_groups.h"

/* Gets a result with a native program that no other shadow has, or has had. Threads that build the same program at once
 * may get the same native program; all but the thread that made it then ask Ingot again. */
static ingot_status_t get_own_result(struct shadow *shadow, ingot_program_desc_t desc, const char *options,
                                     struct kept_request *request)
{
    struct result *result = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    do {
        if (result != NULL)
            kept_request_move(request, &result->request);
        result_release(result);
        result = NULL;
        status = result_create(&result, desc, shadow->context->device_count, options, request);
    } while (status == INGOT_SUCCESS && (result->is_shared || !shadow_set_result(shadow, result)));
    if (status == INGOT_SUCCESS)
        statistics_add_program(result->program, result->duration_ns);
    return status;
}

static ingot_status_t build_with_ingot(struct shadow *shadow, const char *options)
{
    ingot_program_desc_t desc = NULL;
    struct kept_request request = {.options = NULL};
    if (shadow->context == NULL)
        shadow->context = contexts_acquire(shadow->native);
    if (shadow->context == NULL)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "Ingot could not create a context");
    ingot_status_t status = describe_build(shadow, options != NULL ? options : "", &request, &desc);
    if (status == INGOT_SUCCESS)
        status = get_own_result(shadow, desc, options, &request);
    kept_request_fini(&request);
    ingot_program_desc_release(desc);
    return status;
}

/* Builds through Ingot. Returns false if the driver must build; the shadow then keeps its earlier result. Sets
 * *error to CL_INVALID_OPERATION if the result has kernels, because another thread may just have built the program and
 * created a kernel from it. */
static bool build_cached(struct shadow *shadow, const char *options, cl_int *error)
{
    ingot_status_t status = INGOT_SUCCESS;
    shadow_begin_work(shadow, true);
    *error = shadow_has_kernels_of_result(shadow) ? CL_INVALID_OPERATION : CL_SUCCESS;
    if (*error == CL_SUCCESS) {
        struct result *before = shadow_take_result(shadow);
        status = build_with_ingot(shadow, options);
        if (status == INGOT_SUCCESS)
            shadow->is_native_built = false;
        else
            trace_passed(shadow->native, status, ingot_last_error_detail());
        if (status == INGOT_SUCCESS || before == NULL || !shadow_set_result(shadow, before))
            result_release(before);
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
    return native_call_end(&call, layer_target.clBuildProgram(shadow->native, device_count, devices, options,
                                                              call.callback.notify, call.callback.user));
}

/* A program with kernels cannot be built again. Lets the driver itself refuse the build, so that its checks and its
 * callback are the same as without the layer. Returns false if the driver did not refuse. */
static bool refuse_build(struct shadow *shadow, cl_uint device_count, const cl_device_id *devices, const char *options,
                         program_callback_t notify, void *user, cl_int *error)
{
    struct callback_pair callback;
    const cl_program program = (cl_program)(void *)shadow;
    struct shadow_use use = shadow_begin_use(program);
    bool is_refused = true;
    *error = CL_OUT_OF_HOST_MEMORY;
    if (callback_pair_init(&callback, program, notify, user)) {
        *error =
            layer_target.clBuildProgram(use.native, device_count, devices, options, callback.notify, callback.user);
        is_refused = native_call_is_refused(shadow, callback.callback, *error);
    }
    shadow_end_use(&use);
    return is_refused;
}

/* Returns the reason why only the driver can do a build that follows the one of the result, or NULL. */
static const char *why_not_after(const struct result *result, const char *options)
{
    if (*result->log != '\0') /* Intel's driver keeps the messages and adds those of the next build */
        return "a build after one with messages";
    if (work_groups_may_differ(result->options) && !work_groups_may_differ(options))
        return "a build after one that allowed work-groups of different sizes";
    return NULL;
}

static const char *why_not_again(struct shadow *shadow, const char *options)
{
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    const char *reason = use.result != NULL ? why_not_after(use.result, options) : NULL;
    shadow_end_use(&use);
    return reason;
}

/* Returns the reason why only the driver can do the build as the application expects it, or NULL. */
static const char *why_not(struct shadow *shadow, enum arguments arguments, const char *options)
{
    if (arguments == ARGUMENTS_WRONG)
        return "wrong arguments";
    if (arguments == ARGUMENTS_SOME_DEVICES)
        return "a build for some of the devices";
    if (shadow->is_drivers)
        return "a build after one that the driver did";
    const char *reason = why_not_again(shadow, options);
    if (reason == NULL && shadow_count_uses(shadow) > 0)
        reason = "a program that is in use";
    return reason;
}

/* Repeats the build of the result, which the driver's build continues. Returns false if there is a result, but the
 * driver would build another program, because a file that it includes has changed. */
static bool repeat_build(struct shadow *shadow)
{
    return shadow_build_native(shadow) || !shadow_has_result(shadow);
}

cl_int CL_API_CALL layer_build(cl_program program, cl_uint device_count, const cl_device_id *devices,
                               const char *options, program_callback_t notify, void *user)
{
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return layer_target.clBuildProgram(program, device_count, devices, options, notify, user);
    cl_int error = CL_SUCCESS;
    enum arguments arguments = arguments_judge(shadow, device_count, devices, notify, user);
    if (native_call_is_for_result(shadow, arguments == ARGUMENTS_WRONG)) {
        if (refuse_build(shadow, device_count, devices, options, notify, user, &error))
            return error;
        notify = NULL; /* the driver has the callback from the first attempt, and calls it */
        user = NULL;
        arguments = arguments_judge(shadow, device_count, devices, notify, user);
    }
    if (!native_call_continue(shadow))
        return CL_OUT_OF_HOST_MEMORY;
    const char *reason = why_not(shadow, arguments, options);
    if (reason == NULL && build_cached(shadow, options, &error)) {
        if (error == CL_SUCCESS && notify != NULL)
            notify(program, user);
        return error;
    }
    if (reason != NULL)
        trace_passed(shadow->native, INGOT_UNIMPLEMENTED, reason);
    if (arguments != ARGUMENTS_WRONG && !repeat_build(shadow) && arguments == ARGUMENTS_SOME_DEVICES) {
        trace_passed(shadow->native, INGOT_NOT_CACHEABLE, "a build for some of the devices after a file changed");
        return CL_OUT_OF_RESOURCES;
    }
    return build_native(shadow, device_count, devices, options, notify, user);
}

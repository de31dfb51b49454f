/*
 * native_call.c - passes a build or compilation to the driver as the application asked for it.
 */
#include "layers/opencl/calls/native_call.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/common.h"

/* The application's callback gets its handle, not the driver's. A driver may call back before its call returns or
 * afterwards, or never if the arguments were wrong. So there are two references: the call's and the driver's. If the
 * arguments were wrong and the driver has not called back, the call drops both. */
struct callback {
    atomic_uint references;
    atomic_bool was_called;
    cl_program program;
    program_callback_t notify;
    void *user;
};

static void release_callback(struct callback *callback, unsigned count)
{
    if (atomic_fetch_sub_explicit(&callback->references, count, memory_order_acq_rel) == count)
        free(callback);
}

/* The function that the driver calls, with the callback as its user data. */
static void CL_CALLBACK notify_application(cl_program native, void *opaque)
{
    struct callback *callback = opaque;
    (void)native;
    if (atomic_exchange_explicit(&callback->was_called, true, memory_order_acq_rel))
        return;
    callback->notify(callback->program, callback->user);
    release_callback(callback, 1);
}

bool callback_pair_init(struct callback_pair *pair, cl_program program, program_callback_t notify, void *user)
{
    *pair = (struct callback_pair){NULL, NULL, user};
    if (notify == NULL)
        return true;
    struct callback *callback = malloc(sizeof(*callback));
    if (callback == NULL)
        return false;
    *callback = (struct callback){.references = 2, .program = program, .notify = notify, .user = user};
    *pair = (struct callback_pair){callback, notify_application, callback};
    return true;
}

void callback_end_call(struct callback *callback, bool is_over)
{
    if (callback == NULL)
        return;
    const bool is_unused = is_over && !atomic_exchange_explicit(&callback->was_called, true, memory_order_acq_rel);
    release_callback(callback, is_unused ? 2 : 1);
}

static bool is_about_arguments(cl_int error)
{
    return error == CL_INVALID_VALUE || error == CL_INVALID_DEVICE || error == CL_INVALID_PROGRAM ||
           error == CL_INVALID_OPERATION;
}

/* True if the driver will not call back. False after a failed build, because a driver may still call back then. */
static bool ends_without_callback(cl_int error)
{
    return error != CL_SUCCESS && error != CL_BUILD_PROGRAM_FAILURE && error != CL_COMPILE_PROGRAM_FAILURE;
}

cl_program *native_call_map(cl_uint count, const cl_program *programs, cl_program (*find)(cl_program program))
{
    cl_program *mapped = malloc(count * sizeof(*mapped));
    for (cl_uint i = 0; i < count && mapped != NULL; ++i)
        mapped[i] = find(programs[i]);
    return mapped;
}

static cl_int compile_native_program(const struct native_call *call, cl_program native, program_callback_t notify,
                                     void *user)
{
    const bool has_headers = call->header_count > 0 && call->headers != NULL;
    cl_program *mapped = has_headers ? native_call_map(call->header_count, call->headers, shadow_find_native) : NULL;
    if (has_headers && mapped == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int error =
        layer_target.clCompileProgram(native, call->device_count, call->devices, call->options, call->header_count,
                                      has_headers ? mapped : call->headers, call->header_names, notify, user);
    free(mapped);
    return error;
}

static cl_int compile_or_build(const struct native_call *call, cl_program native, program_callback_t notify, void *user)
{
    return call->is_compilation
               ? compile_native_program(call, native, notify, user)
               : layer_target.clBuildProgram(native, call->device_count, call->devices, call->options, notify, user);
}

cl_int native_call_make(const struct native_call *call, cl_program native)
{
    return compile_or_build(call, native, call->notify, call->user);
}

bool native_call_is_refused(struct native_call *call, struct shadow *shadow, cl_int *error)
{
    struct callback_pair callback;
    const cl_program program = (cl_program)(void *)shadow;
    if (!shadow_has_kernels_of_result(shadow))
        return false;
    *error = CL_OUT_OF_HOST_MEMORY;
    if (!callback_pair_init(&callback, program, call->notify, call->user))
        return true;
    struct shadow_use use = shadow_begin_use(program);
    *error = compile_or_build(call, use.native, callback.notify, callback.user);
    shadow_end_use(&use);
    const bool is_refused = ends_without_callback(*error);
    callback_end_call(callback.callback, is_refused);
    if (!is_refused) {
        result_release(shadow_take_result(shadow)); /* the result no longer matches its id */
        call->notify = NULL;
        call->user = NULL;
    }
    return is_refused;
}

cl_int native_call_take_over(const struct native_call *call, struct shadow *shadow)
{
    struct callback_pair callback;
    const cl_program program = (cl_program)(void *)shadow;
    if (!callback_pair_init(&callback, program, call->notify, call->user))
        return CL_OUT_OF_HOST_MEMORY;
    shadow_pin(shadow);
    struct result *before = shadow_take_result(shadow);
    const cl_int error = compile_or_build(call, shadow->native, callback.notify, callback.user);
    statistics_add(STATISTIC_PASSED, 1);
    statistics_add(STATISTIC_FAILED, error != CL_SUCCESS);
    callback_end_call(callback.callback, ends_without_callback(error));
    if (before != NULL && is_about_arguments(error) && shadow_set_result(shadow, before))
        before = NULL;
    if (!is_about_arguments(error)) {
        if (before != NULL) {
            /* Keeps what is in the log of the result, but not in that of the native program. The latter has repeated
             * the build of the result, unless a file has changed. */
            const size_t size = shadow->is_native_built ? before->earlier_size : strlen(before->log);
            if (size > 0 && contexts_add_up_logs(shadow->context) && shadow->earlier_log == NULL)
                shadow->earlier_log = strndup(before->log, size);
        }
        shadow->is_drivers = true;
        shadow->is_native_built = false; /* the program is no longer built with the result's options */
    }
    result_release(before);
    shadow_unpin(shadow);
    reclaim_try(program);
    return error;
}

cl_int native_call_refuse(const struct native_call *call, struct shadow *shadow, const char *reason)
{
    char text[1024];
    (void)snprintf(text, sizeof(text), "%s%s", strncmp(reason, "miss: ", 6) == 0 ? "" : "miss: ", reason);
    shadow_set_miss(shadow, text);
    if (call->notify != NULL)
        call->notify((cl_program)(void *)shadow, call->user);
    return call->is_compilation ? CL_COMPILE_PROGRAM_FAILURE : CL_BUILD_PROGRAM_FAILURE;
}

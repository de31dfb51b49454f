/*
 * native_call.c - passes a build or compilation to the driver as the application asked for it.
 */
#include "layers/opencl/calls/native_call.h"

#include "layers/common/statistics.h"
#include "layers/opencl/program/burial.h"

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

bool native_call_is_for_result(struct shadow *shadow, bool are_arguments_wrong)
{
    return shadow_has_kernels_of_result(shadow) ||
           (are_arguments_wrong && shadow->recipe != NULL && shadow_has_result(shadow));
}

bool native_call_is_refused(struct shadow *shadow, struct callback *callback, cl_int error)
{
    callback_end_call(callback, ends_without_callback(error));
    if (ends_without_callback(error))
        return true;
    result_release(shadow_take_result(shadow)); /* the result no longer matches its id */
    return false;
}

/* Marks a linked program that the driver is about to change, so that it is not stored anymore. */
static void spoil_waiting(struct shadow *shadow)
{
    if (shadow->waiting != NULL)
        atomic_store_explicit(&piece_of_link(shadow->waiting)->is_changed, true, memory_order_release);
}

bool native_call_continue(struct shadow *shadow)
{
    struct object *object = shadow_get_object(shadow);
    bool is_ready = true;
    if (object != NULL || (shadow->recipe != NULL && !shadow->is_drivers)) {
        is_ready = shadow_build_native(shadow) || object != NULL;
        if (is_ready)
            shadow->is_drivers = true;
        if (is_ready && shadow->recipe != NULL && !shadow_has_kernels_of_result(shadow))
            result_release(shadow_take_result(shadow));
    }
    spoil_waiting(shadow);
    object_release(object);
    return is_ready;
}

bool native_call_begin(struct native_call *call, struct shadow *shadow, program_callback_t notify, void *user)
{
    call->shadow = shadow;
    if (!callback_pair_init(&call->callback, (cl_program)(void *)shadow, notify, user))
        return false;
    shadow_pin(shadow);
    call->result = shadow_take_result(shadow);
    statistics_add(STATISTIC_PASSED, 1);
    return true;
}

cl_int native_call_end(struct native_call *call, cl_int error)
{
    if (error != CL_SUCCESS)
        statistics_add(STATISTIC_FAILED, 1);
    callback_end_call(call->callback.callback, ends_without_callback(error));
    if (call->result != NULL && is_about_arguments(error) && shadow_set_result(call->shadow, call->result))
        call->result = NULL;
    if (!is_about_arguments(error)) {
        shadow_forget_object(call->shadow);
        call->shadow->is_drivers = true;
        call->shadow->is_native_built = false; /* the program is no longer built with the result's options */
    }
    result_release(call->result);
    shadow_unpin(call->shadow);
    burial_try((cl_program)(void *)call->shadow);
    return error;
}

/*
 * native_call.h - passes a build or compilation to the driver as the application asked for it.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_NATIVE_CALL_H
#define INGOT_LAYERS_OPENCL_CALLS_NATIVE_CALL_H

#include "layers/opencl/calls/callbacks.h"
#include "layers/opencl/program/shadow.h"

struct native_call {
    struct shadow *shadow;
    struct result *result; /* the shadow's result before the call, or NULL */
    struct callback_pair callback;
};

/* True if the result's native program must refuse a call. This is so if it has kernels, or if the arguments are wrong
 * and it is a linked program that was loaded. */
bool native_call_is_for_result(struct shadow *shadow, bool are_arguments_wrong);
/* Must be called after the driver was asked to refuse such a call. Ends the callback. Returns false if the driver did
 * not refuse, because another thread released the last kernel in the meantime. The shadow then has no result anymore,
 * and the caller must repeat the call without a callback. */
bool native_call_is_refused(struct shadow *shadow, struct callback *callback, cl_int error);

/* Leaves a compiled or linked program to the driver, which first repeats the compilation or link that the application
 * requested. Returns false if a linked program that was loaded could not be linked; the shadow then stays as it is. */
bool native_call_continue(struct shadow *shadow);
/* Prepares a call with the shadow's native program, which answers all queries from now on. Returns false if out of
 * memory. */
bool native_call_begin(struct native_call *call, struct shadow *shadow, program_callback_t notify, void *user);
/* Must be called after the driver's call has returned. If the driver refused the arguments, restores the previous
 * state. Returns `error`. */
cl_int native_call_end(struct native_call *call, cl_int error);

#endif

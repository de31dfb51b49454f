/*
 * native_call.h - a build or compilation that the driver does as the application asked.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_NATIVE_CALL_H
#define INGOT_LAYERS_OPENCL_CALLS_NATIVE_CALL_H

#include "layers/opencl/calls/callbacks.h"
#include "layers/opencl/program/shadow.h"

struct native_call {
    struct shadow *shadow;
    struct result *result; /* the previous one */
    struct callback_pair callback;
};

/* True if the result's program refuses a call: it has kernels, or it was loaded and the arguments are wrong. */
bool native_call_is_for_result(struct shadow *shadow, bool are_arguments_wrong);
/* The driver was asked to refuse such a call. Ends the callback. False: it did not, because another thread released the
 * last kernel meanwhile. The result is gone then, and the call must be repeated without a callback. */
bool native_call_is_refused(struct shadow *shadow, struct callback *callback, cl_int error);

/* Leaves a compiled or a linked program to the driver, which continues what it would have done itself. False: a linked
 * program that was loaded could not be linked, and stays as it is. */
bool native_call_continue(struct shadow *shadow);
/* Prepares a call for the shadow's native program, which answers from now on. False: no memory. */
bool native_call_begin(struct native_call *call, struct shadow *shadow, program_callback_t notify, void *user);
/* Must be called when the driver's call has returned. If the driver refused the arguments, restores the previous state.
 * Returns `error`. */
cl_int native_call_end(struct native_call *call, cl_int error);

#endif

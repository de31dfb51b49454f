/*
 * callbacks.h - passes the application's handle, not the driver's, to the application's callbacks.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_CALLBACKS_H
#define INGOT_LAYERS_OPENCL_CALLS_CALLBACKS_H

#include "layers/opencl/layer.h"

struct callback;

/* Creates a callback that calls `notify` with `program`, the handle that the application knows. Returns NULL if out of
 * memory. */
struct callback *callback_create(cl_program program, program_callback_t notify, void *user);

/* The function and the user data that a driver gets instead of the application's function and user data. */
struct callback_pair {
    struct callback *callback; /* NULL: the application has none */
    program_callback_t notify;
    void *user;
};
/* Prepares a pair for an application's callback, which may be NULL. Returns false if out of memory. */
bool callback_pair_init(struct callback_pair *pair, cl_program program, program_callback_t notify, void *user);

/* The function that the driver calls, with the callback as its user data. Calls the application's function at most
 * once, and then drops the driver's reference. */
void CL_CALLBACK callback_call(cl_program native, void *callback);

/* Must be called after the driver's call has returned. `is_over` is true if the driver will not call back anymore. Does
 * nothing if callback is NULL. */
void callback_end_call(struct callback *callback, bool is_over);

#endif

/*
 * callbacks.h - passes the application's handle, not the driver's, to the application's callbacks.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_CALLBACKS_H
#define INGOT_LAYERS_OPENCL_CALLS_CALLBACKS_H

#include "layers/opencl/layer.h"

struct callback;

/* The function and the user data that a driver gets instead of the application's function and user data. */
struct callback_pair {
    struct callback *callback; /* NULL: the application has none */
    program_callback_t notify;
    void *user;
};
/* Prepares a pair for an application's callback, which may be NULL. The callback calls `notify` at most once, with
 * `program`, the handle that the application knows. Returns false if out of memory. */
bool callback_pair_init(struct callback_pair *pair, cl_program program, program_callback_t notify, void *user);

/* Must be called after the driver's call has returned. `is_over` is true if the driver will not call back anymore. Does
 * nothing if callback is NULL. */
void callback_end_call(struct callback *callback, bool is_over);

#endif

/*
 * callbacks.c - passes the application's handle, not the driver's, to the application's callbacks.
 *
 * A driver may call back before its call returns or afterwards, or never if the arguments were wrong. So a callback has
 * two references: the call's and the driver's. If the arguments were wrong and the driver has not called back, the call
 * drops both.
 */
#include "layers/opencl/calls/callbacks.h"

#include <stdatomic.h>
#include <stdlib.h>

struct callback {
    atomic_uint references;
    atomic_bool was_called;
    cl_program program;
    program_callback_t notify;
    void *user;
};

static struct callback *create_callback(cl_program program, program_callback_t notify, void *user)
{
    struct callback *callback = malloc(sizeof(*callback));
    if (callback == NULL)
        return NULL;
    atomic_init(&callback->references, 2);
    atomic_init(&callback->was_called, false);
    callback->program = program;
    callback->notify = notify;
    callback->user = user;
    return callback;
}

static void release_callback(struct callback *callback)
{
    if (atomic_fetch_sub_explicit(&callback->references, 1, memory_order_acq_rel) == 1)
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
    release_callback(callback);
}

bool callback_pair_init(struct callback_pair *pair, cl_program program, program_callback_t notify, void *user)
{
    *pair = (struct callback_pair){NULL, NULL, user};
    if (notify == NULL)
        return true;
    pair->callback = create_callback(program, notify, user);
    pair->notify = notify_application;
    pair->user = pair->callback;
    return pair->callback != NULL;
}

void callback_end_call(struct callback *callback, bool is_over)
{
    if (callback == NULL)
        return;
    if (is_over && !atomic_exchange_explicit(&callback->was_called, true, memory_order_acq_rel))
        release_callback(callback);
    release_callback(callback);
}

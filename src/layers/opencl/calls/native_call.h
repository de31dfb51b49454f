/*
 * native_call.h - passes a build or compilation to the driver as the application asked for it.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_NATIVE_CALL_H
#define INGOT_LAYERS_OPENCL_CALLS_NATIVE_CALL_H

#include "layers/opencl/program/program.h"

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

/* The arguments of a call to clBuildProgram or clCompileProgram. */
struct native_call {
    bool is_compilation;
    cl_uint device_count;
    const cl_device_id *devices;
    const char *options;
    cl_uint header_count;
    const cl_program *headers;
    const char **header_names;
    program_callback_t notify;
    void *user;
    ingot_program_desc_t left; /* describes a program that the store lacks and the driver builds; NULL: none */
};

/* Returns an array of the driver's programs that `find` finds for the application's, or NULL if memory runs out. The
 * caller frees it. */
cl_program *native_call_map(cl_uint count, const cl_program *programs, cl_program (*find)(cl_program program));

/* Makes the call with a program of the driver. */
cl_int native_call_make(const struct native_call *call, cl_program native);

/* A program with kernels cannot be built again. If the shadow's result has kernels, lets the driver itself refuse the
 * call, so that its checks and its callback are the same as without the layer, and sets *error. Returns false if
 * nothing was refused. If that was so because another thread has released the last kernel in the meantime, the shadow
 * has no result anymore, and the caller must repeat the call. The driver then has the callback, so the call has none.
 */
bool native_call_is_refused(struct native_call *call, struct shadow *shadow, cl_int *error);

/* Refuses the call, because nothing may be compiled. Queries then answer as after a build that failed, with a log that
 * begins with the reason. Returns the call's error. */
cl_int native_call_refuse(const struct native_call *call, struct shadow *shadow, const char *reason);

/* Makes the call with the shadow's native program, which answers all queries from now on. If the driver refuses the
 * arguments, the shadow stays as it was. */
cl_int native_call_take_over(const struct native_call *call, struct shadow *shadow);

#endif

/*
 * contexts.h - keeps an Ingot context for each OpenCL context that has a program of the layer.
 *
 * The Ingot context is destroyed with the last such program. Otherwise, it would keep the OpenCL context alive longer
 * than the application expects.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_CONTEXTS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_CONTEXTS_H

#include "layers/opencl/program/platforms.h"

struct layer_context {
    ingot_context_t ingot;
    cl_context native;
    cl_uint device_count;
    cl_device_id *devices; /* the devices of its programs, in order */
    enum log_rule log_rule;
    /* the fields below are for contexts.c, guarded by the lock */
    size_t user_count;
    struct layer_context *next;
};

/* Returns the context of a driver's program, or NULL if Ingot cannot make one. The caller releases it. */
struct layer_context *contexts_acquire(cl_program native);
/* True if the context's driver generates code when a kernel is launched, as PoCL does. */
bool contexts_generate_code_at_launch(const struct layer_context *context);
/* True if the driver adds the messages of a build to those of earlier builds of the program. */
bool contexts_add_up_logs(const struct layer_context *context);
/* Drops a reference. Does nothing if context is NULL. */
void contexts_release(struct layer_context *context);

#endif

/*
 * contexts.h - keeps an Ingot context for each OpenCL context that has a program of the layer.
 *
 * The Ingot context is destroyed with the last such program. Otherwise, it would keep the OpenCL context alive longer
 * than the application expects.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_CONTEXTS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_CONTEXTS_H

#include "layers/opencl/layer.h"

/* What the build log of a program has after a second build. */
enum log_rule {
    LOG_RULE_UNKNOWN, /* the layer was not compared with the driver */
    LOG_RULE_LAST,    /* the messages of the last build */
    LOG_RULE_ALL      /* the messages of all builds, with a line end between them */
};

/* True if the layer caches programs of the platform to which this driver's program belongs: one on which the layer was
 * compared with the bare driver, because drivers differ in details that the specification leaves open, or one that
 * INGOT_LAYER_PLATFORMS names instead. Programs of all other platforms pass through, and the trace says why, once per
 * process. */
bool platforms_have(cl_program native);

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

/*
 * contexts.c - an Ingot context for each OpenCL context with a program of the layer.
 */
#include "layers/opencl/program/contexts.h"

#include <ingot/persist.h>

#include <stdlib.h>

#include "layers/opencl/lock.h"
#include "layers/opencl/settings.h"

static struct layer_context *contexts; /* under the lock */

static struct layer_context *find(cl_context native)
{
    struct layer_context *context = contexts;
    while (context != NULL && context->native != native)
        context = context->next;
    if (context != NULL)
        ++context->user_count;
    return context;
}

static void destroy(struct layer_context *context)
{
    if (context == NULL)
        return;
    ingot_context_release(context->ingot);
    free(context->devices);
    free(context);
}

static bool read_devices(struct layer_context *context, cl_program native)
{
    size_t size = 0;
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return false;
    context->devices = malloc(size);
    context->device_count = (cl_uint)(size / sizeof(cl_device_id));
    return context->devices != NULL &&
           layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, size, context->devices, NULL) == CL_SUCCESS;
}

static struct layer_context *create(cl_context native, cl_program program)
{
    struct layer_context *context = calloc(1, sizeof(*context));
    if (context == NULL)
        return NULL;
    context->native = native;
    context->user_count = 1;
    if (!read_devices(context, program) ||
        ingot_opencl_context_create_with(&context->ingot, &layer_target, native, context->device_count,
                                         context->devices, NULL) != INGOT_SUCCESS) {
        destroy(context);
        return NULL;
    }
    (void)ingot_persist_remember_headers(settings_store(), context->ingot);
    return context;
}

struct layer_context *contexts_acquire(cl_program program)
{
    cl_context native = NULL;
    if (layer_target.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(native), &native, NULL) != CL_SUCCESS)
        return NULL;
    lock_take();
    struct layer_context *found = find(native);
    lock_release();
    if (found != NULL)
        return found;
    struct layer_context *made = create(native, program);
    if (made == NULL)
        return NULL;
    lock_take();
    found = find(native); /* another thread may have been faster */
    if (found == NULL) {
        made->next = contexts;
        contexts = made;
    }
    lock_release();
    if (found == NULL)
        return made;
    destroy(made);
    return found;
}

void contexts_release(struct layer_context *context)
{
    if (context == NULL)
        return;
    lock_take();
    const bool is_last = --context->user_count == 0;
    if (is_last) {
        struct layer_context **place = &contexts;
        while (*place != context)
            place = &(*place)->next;
        *place = context->next;
    }
    lock_release();
    if (is_last)
        destroy(context);
}

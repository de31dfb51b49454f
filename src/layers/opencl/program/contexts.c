/*
 * contexts.c - keeps an Ingot context for each OpenCL context that has a program of the layer.
 */
#include "layers/opencl/program/contexts.h"

#include <ingot/persist.h>
#include <ingot/private/opencl.h>
#include <ingot/private/program.h>

#include <stdlib.h>
#include <string.h>

#include "front/lock.h"
#include "layers/common/settings.h"
#include "layers/opencl/compiler/compiler.h"

static struct layer_context *contexts; /* guarded by the lock */

static struct layer_context *use_existing_context(const struct layer_context *wanted)
{
    struct layer_context *context = contexts;
    while (context != NULL &&
           (context->native != wanted->native || context->device_count != wanted->device_count ||
            memcmp(context->devices, wanted->devices, wanted->device_count * sizeof(cl_device_id)) != 0))
        context = context->next;
    if (context != NULL)
        ++context->user_count;
    return context;
}

static void destroy_context(struct layer_context *context)
{
    if (context == NULL)
        return;
    ingot_context_release(context->ingot);
    free(context->devices);
    free(context);
}

static bool read_program(struct layer_context *context, cl_program native)
{
    size_t size = 0;
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_CONTEXT, sizeof(context->native), &context->native, NULL) !=
            CL_SUCCESS ||
        layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return false;
    context->devices = malloc(size);
    context->device_count = (cl_uint)(size / sizeof(cl_device_id));
    return context->devices != NULL &&
           layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, size, context->devices, NULL) == CL_SUCCESS;
}

static bool create_ingot(struct layer_context *context)
{
    context->log_rule = platforms_log_rule(context->devices[0]);
    if (ingot_opencl_context_create_with(&context->ingot, compiler_table(), context->native, context->device_count,
                                         context->devices, NULL) != INGOT_SUCCESS)
        return false;
    (void)ingot_persist_remember_headers(settings_store(), context->ingot);
    return true;
}

struct layer_context *contexts_acquire(cl_program program)
{
    struct layer_context *made = calloc(1, sizeof(*made));
    struct layer_context *found = NULL;
    if (made == NULL || !read_program(made, program))
        goto end;
    lock_take();
    found = use_existing_context(made);
    lock_give();
    if (found != NULL || !create_ingot(made))
        goto end;
    lock_take();
    found = use_existing_context(made); /* another thread may have added the context in the meantime */
    if (found == NULL) {
        made->user_count = 1;
        made->next = contexts;
        contexts = made;
        found = made;
        made = NULL;
    }
    lock_give();
end:
    destroy_context(made);
    return found;
}

bool contexts_generate_code_at_launch(const struct layer_context *context)
{
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    return ingot_context_get_device_info(context->ingot, 0, &info) == INGOT_SUCCESS && info.generates_code_at_launch;
}

bool contexts_add_up_logs(const struct layer_context *context)
{
    return context != NULL && context->log_rule == LOG_RULE_ALL;
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
    lock_give();
    if (is_last)
        destroy_context(context);
}

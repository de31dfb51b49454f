/*
 * piece.c - functions that the backends of objects and of linked programs share.
 *
 * Applications create the driver's own kernels by their own calls, so neither backend has kernels.
 */
#include "layers/opencl/objects/piece.h"

#include <stdlib.h>

static void destroy_state(void *opaque)
{
    struct piece_state *state = opaque;
    ingot_context_release(state->opencl);
    free(state);
}

static ingot_status_t identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct piece_state *state = opaque;
    return state->opencl_ops->identify_device(state->opencl_state, device_index, identity);
}

static void destroy_program(void *state, void *piece)
{
    (void)state;
    piece_destroy(piece);
}

static ingot_status_t get_kernel_names(void *state, void *piece, ingot_sink_t *names)
{
    (void)state;
    (void)piece;
    (void)names;
    return INGOT_SUCCESS;
}

static ingot_status_t create_kernel(void *state, void *piece, uint32_t device_index, const char *name, void **kernel)
{
    (void)state;
    (void)piece;
    (void)device_index;
    (void)kernel;
    return ingot_set_error_detail(INGOT_NOT_FOUND, "the kernel %s is the driver's own", name);
}

static void destroy_kernel(void *state, void *kernel)
{
    (void)state;
    (void)kernel;
}

void piece_complete_ops(ingot_backend_ops_t *ops)
{
    ops->struct_size = sizeof(*ops);
    ops->destroy = destroy_state;
    ops->identify_device = identify_device;
    ops->destroy_program = destroy_program;
    ops->get_kernel_names = get_kernel_names;
    ops->create_kernel = create_kernel;
    ops->destroy_kernel = destroy_kernel;
}

ingot_status_t piece_create_context(ingot_context_t *context, const ingot_backend_ops_t *ops, ingot_context_t opencl,
                                    cl_context native, cl_device_id device)
{
    struct piece_state *state = calloc(1, sizeof(*state));
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context");
    state->opencl_ops = ingot_opencl_get_backend_ops();
    state->opencl_state = ingot_context_get_backend_state(opencl, state->opencl_ops);
    state->context = native;
    state->device = device;
    (void)ingot_context_retain(opencl);
    state->opencl = opencl;
    const ingot_status_t status = ingot_context_create(context, ops, state, 1, NULL);
    if (status != INGOT_SUCCESS)
        destroy_state(state);
    return status;
}

ingot_status_t piece_create(cl_program native, struct piece **out)
{
    struct piece *piece = calloc(1, sizeof(*piece));
    if (piece == NULL) {
        if (native != NULL)
            (void)layer_target.clReleaseProgram(native);
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    }
    piece->native = native;
    atomic_init(&piece->is_taken, false);
    atomic_init(&piece->is_changed, false);
    *out = piece;
    return INGOT_SUCCESS;
}

void piece_destroy(struct piece *piece)
{
    if (piece == NULL)
        return;
    if (piece->native != NULL)
        (void)layer_target.clReleaseProgram(piece->native);
    for (size_t i = 0; i < FACT_COUNT; ++i)
        free(piece->facts[i].bytes);
    free(piece);
}

char *piece_read_log(cl_program native, cl_device_id device)
{
    size_t size = 0;
    if (layer_target.clGetProgramBuildInfo(native, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(1, size + 1);
    if (text != NULL && size > 0 &&
        layer_target.clGetProgramBuildInfo(native, device, CL_PROGRAM_BUILD_LOG, size, text, NULL) != CL_SUCCESS)
        *text = '\0';
    return text;
}

char *piece_copy_log(ingot_program_t program)
{
    size_t size = 0;
    if (ingot_program_get_build_log(program, &size, NULL) != INGOT_SUCCESS)
        return NULL;
    char *log = malloc(size);
    if (log != NULL && ingot_program_get_build_log(program, &size, log) != INGOT_SUCCESS) {
        free(log);
        log = NULL;
    }
    return log;
}

ingot_status_t piece_write_log(cl_program native, cl_device_id device, ingot_sink_t *log)
{
    char *text = piece_read_log(native, device);
    const ingot_status_t status = text != NULL ? ingot_sink_write_log(log, text)
                                               : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a log");
    free(text);
    return status;
}

/*
 * object.c - an object: a program as clCompileProgram made it; see object.h.
 */
#include "layers/opencl/objects/object.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/statistics.h"
#include "layers/opencl/objects/compiler.h"
#include "layers/opencl/objects/piece.h"

/* Fails if the compiler found files by itself, because the id then does not identify the program. */
static ingot_status_t require_id(ingot_program_t program)
{
    size_t size = 0;
    return ingot_program_get_cache_blob(program, &size, NULL);
}

ingot_status_t object_create(struct object **out, ingot_program_desc_t desc, cl_context context, const char *options,
                             struct object_headers *headers, ingot_program_t program)
{
    ingot_status_t status = require_id(program);
    if (status != INGOT_SUCCESS)
        return status;
    struct object *object = calloc(1, sizeof(*object));
    if (object == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a compiled object");
    atomic_init(&object->references, 1);
    atomic_init(&object->compiled, NULL);
    atomic_init(&object->options_twin, NULL);
    object->context = context;
    object->options = options != NULL ? strdup(options) : NULL;
    object->log = piece_copy_log(program);
    status = ingot_program_desc_get_cache_blob_id(desc, &object->id_size, &object->id);
    if (status == INGOT_SUCCESS && piece_of_object(program)->native == NULL)
        status = kept_request_take(&object->request, desc);
    if (status == INGOT_SUCCESS && (object->log == NULL || (options != NULL && object->options == NULL)))
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's options and log");
    if (status == INGOT_SUCCESS) {
        (void)ingot_program_desc_retain(desc);
        object->desc = desc;
        (void)ingot_program_retain(program);
        object->program = program;
        object->headers = *headers;
        *headers = (struct object_headers){0, NULL};
        *out = object;
        object = NULL;
    }
    object_release(object);
    return status;
}

void object_retain(struct object *object)
{
    (void)atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void object_release(struct object *object)
{
    if (object == NULL || atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) != 1)
        return;
    const cl_program own[] = {atomic_load_explicit(&object->compiled, memory_order_relaxed),
                              atomic_load_explicit(&object->options_twin, memory_order_relaxed)};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); ++i) {
        if (own[i] != NULL)
            (void)layer_target.clReleaseProgram(own[i]);
    }
    kept_request_fini(&object->request);
    ingot_program_release(object->program);
    ingot_program_desc_release(object->desc);
    object_headers_fini(&object->headers);
    free(object->options);
    free(object->log);
    free(object);
}

cl_int object_compile_native(const struct object *object, cl_program native)
{
    if (object->is_of_recipe || kept_request_check(object->desc) != INGOT_SUCCESS)
        return CL_COMPILE_PROGRAM_FAILURE;
    return compiler_run(object->context, native, object->options, object->headers.count, object->headers.texts);
}

/* Compiles an object that was loaded. If several threads do so at once, all use the program of the first one. */
static cl_program compile(struct object *object)
{
    const uint64_t started_ns = statistics_clock_ns();
    cl_program native = kept_request_compile(&object->request, object->context);
    if (native == NULL)
        return NULL;
    statistics_add(STATISTIC_BUILDS, 1);
    statistics_add(STATISTIC_BUILD_NS, statistics_clock_ns() - started_ns);
    return compiler_publish(&object->compiled, native);
}

cl_program object_get_options_twin(struct object *object)
{
    cl_program twin = atomic_load_explicit(&object->options_twin, memory_order_acquire);
    if (twin != NULL)
        return twin;
    return compiler_publish(&object->options_twin, compiler_try_options(object->context, object->options, true));
}

cl_program object_get_native(struct object *object)
{
    cl_program native = piece_of_object(object->program)->native;
    if (native == NULL)
        native = atomic_load_explicit(&object->compiled, memory_order_acquire);
    return native != NULL ? native : compile(object);
}

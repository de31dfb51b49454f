/*
 * result.c - a program that Ingot built or loaded, and its answers to queries.
 */
#include "layers/opencl/program/result.h"

#include <ingot/backend.h>
#include <ingot/descriptor.h>
#include <ingot/persist.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/statistics.h"
#include "layers/opencl/program/repeats.h"

cl_uint result_count_references(cl_program native)
{
    cl_uint count = 0;
    (void)layer_target.clGetProgramInfo(native, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL);
    return count;
}

/* Returns the build log, or NULL on failure. The caller frees it. */
static char *copy_log(ingot_program_t program)
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

/* Fails if the program was compiled from other texts than those that its result keeps. */
static ingot_status_t require_kept_texts(const_ingot_program_t program)
{
    const char *reason = NULL;
    const ingot_status_t status = ingot_program_get_native_reason(program, &reason);
    return status != INGOT_SUCCESS || reason == NULL ? status
                                                     : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
}

/* Fills in a result. Fails if there are messages and several devices, because the blob has all messages as one text, so
 * they cannot be assigned to devices. */
static ingot_status_t fill(struct result *result, cl_uint device_count, const char *options)
{
    const uint64_t started_ns = statistics_clock_ns();
    ingot_status_t status = repeats_create_program(&result->program, result->desc, &result->is_shared);
    if (status == INGOT_SUCCESS)
        status = ingot_opencl_program_get_native(result->program, &result->native);
    if (status == INGOT_SUCCESS && result->has_files)
        status = require_kept_texts(result->program);
    if (status != INGOT_SUCCESS)
        return status;
    result->own_references = result_count_references(result->native);
    /* for several devices, Ingot may compile once and load the binary for all */
    result->is_loaded = device_count > 1 || ingot_program_is_from_cache_blob(result->program) != 0;
    result->has_options = options != NULL;
    result->options = strdup(options != NULL ? options : "");
    result->log = copy_log(result->program);
    if (result->options == NULL || result->log == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's options and log");
    if (device_count > 1 && *result->log != '\0')
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the compiler has messages for several devices");
    result->duration_ns = statistics_clock_ns() - started_ns;
    return INGOT_SUCCESS;
}

ingot_status_t result_create(struct result **out, ingot_program_desc_t desc, cl_uint device_count, const char *options,
                             struct kept_request *request)
{
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    atomic_init(&result->references, 1);
    (void)ingot_program_desc_retain(desc);
    result->desc = desc;
    result->has_files = request->text.bytes != NULL;
    const ingot_status_t status = fill(result, device_count, options);
    if (status == INGOT_SUCCESS) {
        kept_request_move(&result->request, request);
        *out = result;
    } else {
        result_release(result);
    }
    return status;
}

/* Fills in a new result from another one, whose twin it gets. Takes over the reference to the twin on success. */
static bool fill_from(struct result *result, const struct result *other, cl_program twin)
{
    result->has_options = other->has_options;
    result->has_files = other->has_files;
    result->options = strdup(other->options);
    result->log = strdup(other->log);
    if (result->options == NULL || result->log == NULL)
        return false;
    result->own_references = result_count_references(twin);
    result->native = twin;
    result->is_twin = true;
    return true;
}

struct result *result_create_of_twin(struct result *other, cl_context context)
{
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL)
        return NULL;
    atomic_init(&result->references, 1);
    (void)ingot_program_desc_retain(other->desc);
    result->desc = other->desc;
    cl_program twin = kept_request_build(&other->request, other->desc, context, other->has_options);
    if (twin != NULL && fill_from(result, other, twin))
        return result;
    if (twin != NULL)
        (void)layer_target.clReleaseProgram(twin);
    result_release(result);
    return NULL;
}

cl_program result_get_twin(struct result *result, cl_context context)
{
    if (result->is_twin)
        return result->native;
    cl_program twin = atomic_load_explicit(&result->twin, memory_order_acquire);
    if (twin != NULL)
        return twin;
    return kept_request_publish(&result->twin,
                                kept_request_build(&result->request, result->desc, context, result->has_options));
}

cl_program result_get_options_twin(struct result *result, cl_context context)
{
    cl_program twin = atomic_load_explicit(&result->options_twin, memory_order_acquire);
    if (twin != NULL)
        return twin;
    return kept_request_publish(&result->options_twin,
                                kept_request_try_options(context, result->has_options ? result->options : NULL));
}

bool result_is_unchanged(const struct result *result)
{
    return !result->has_files || kept_request_check(result->desc) == INGOT_SUCCESS;
}

void result_retain(struct result *result)
{
    (void)atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
}

void result_release(struct result *result)
{
    if (result == NULL || atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel) != 1)
        return;
    const cl_program own[] = {atomic_load_explicit(&result->twin, memory_order_relaxed),
                              atomic_load_explicit(&result->options_twin, memory_order_relaxed),
                              result->is_twin ? result->native : NULL};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); ++i) {
        if (own[i] != NULL)
            (void)layer_target.clReleaseProgram(own[i]);
    }
    kept_request_fini(&result->request);
    ingot_program_release(result->program);
    ingot_program_desc_release(result->desc);
    free(result->options);
    free(result->log);
    free(result);
}

cl_uint result_count_uses(const struct result *result)
{
    const cl_uint count = result_count_references(result->native);
    return count > result->own_references ? count - result->own_references : 0;
}

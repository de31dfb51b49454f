/*
 * result.c - a program that Ingot built or loaded, and its answers to queries.
 */
#include "layers/opencl/program/result.h"

#include <ingot/backend.h>
#include <ingot/persist.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/statistics.h"
#include "layers/opencl/objects/piece.h"
#include "layers/opencl/program/repeats.h"

cl_uint result_count_references(cl_program native)
{
    cl_uint count = 0;
    (void)layer_target.clGetProgramInfo(native, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL);
    return count;
}

/* Fills in a result. Fails if there are messages and several devices, because the blob has all messages as one text, so
 * they cannot be assigned to devices. */
static ingot_status_t fill(struct result *result, cl_uint device_count, const char *options)
{
    const uint64_t started_ns = statistics_clock_ns();
    ingot_status_t status = repeats_create_program(&result->program, result->desc, &result->is_shared);
    if (status == INGOT_SUCCESS)
        status = ingot_opencl_program_get_native(result->program, &result->native);
    if (status != INGOT_SUCCESS)
        return status;
    result->own_references = result_count_references(result->native);
    /* for several devices, Ingot may compile once and load the binary for all */
    result->is_loaded = device_count > 1 || ingot_program_is_from_cache_blob(result->program) != 0;
    result->has_options = options != NULL;
    result->options = strdup(options != NULL ? options : "");
    result->log = piece_copy_log(result->program);
    if (result->options == NULL || result->log == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's options and log");
    if (device_count > 1 && *result->log != '\0')
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the compiler has messages for several devices");
    result->duration_ns = statistics_clock_ns() - started_ns;
    return INGOT_SUCCESS;
}

ingot_status_t result_create(struct result **out, ingot_program_desc_t desc, cl_uint device_count, const char *options)
{
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    atomic_init(&result->references, 1);
    (void)ingot_program_desc_retain(desc);
    result->desc = desc;
    const ingot_status_t status = fill(result, device_count, options);
    if (status == INGOT_SUCCESS)
        *out = result;
    else
        result_release(result);
    return status;
}

struct result *result_create_linked(ingot_program_desc_t desc, ingot_program_t program, cl_program native,
                                    const char *options)
{
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL)
        return NULL;
    atomic_init(&result->references, 1);
    result->native = native;
    result->own_references = result_count_references(native);
    result->is_loaded = true;
    result->is_whole = true;
    result->has_options = options != NULL;
    result->options = strdup(options != NULL ? options : "");
    result->log = piece_copy_log(program);
    if (result->options == NULL || result->log == NULL) {
        result_release(result);
        return NULL;
    }
    result->desc = desc;
    result->program = program;
    return result;
}

void result_retain(struct result *result)
{
    (void)atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
}

void result_release(struct result *result)
{
    if (result == NULL || atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel) != 1)
        return;
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

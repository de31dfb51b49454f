/*
 * result.c - a program that Ingot built or loaded, or that the compiler refused; see result.h.
 */
#include "layers/opencl/program/result.h"

#include <ingot/backend.h>
#include <ingot/persist.h>
#include <ingot/private/descriptor.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/settings.h"
#include "layers/common/statistics.h"
#include "layers/opencl/program/exit_time.h"
#include "util/pocl.h"

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

char *result_join_logs(const char *earlier, const char *log)
{
    char *joined = NULL;
    if (*earlier == '\0' || *log == '\0')
        return strdup(*earlier != '\0' ? earlier : log);
    return asprintf(&joined, "%s\n%s", earlier, log) >= 0 ? joined : NULL;
}

/* Creates a result without a program. Returns NULL if memory runs out. */
static struct result *create_empty_result(const struct layer_context *context, ingot_program_desc_t desc,
                                          const char *options)
{
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL)
        return NULL;
    atomic_init(&result->references, 1);
    ingot_program_desc_retain(desc);
    result->desc = desc;
    result->context = context;
    result->has_options = options != NULL;
    result->options = strdup(options != NULL ? options : "");
    return result;
}

static bool set_log(struct result *result, const char *earlier, const char *log)
{
    result->log = log != NULL ? result_join_logs(earlier, log) : NULL;
    result->earlier_size = strlen(earlier);
    return result->log != NULL && result->options != NULL;
}

/* Loads the program from the store, or compiles it and stores it, now or later. Fails if it has no id. */
static ingot_status_t create_program(struct result *result)
{
    size_t size = 0;
    const uint8_t *id = NULL;
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(result->desc, &size, &id);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_program_create(&result->program, result->desc, settings_store(), &origin);
    result->is_shared = status == INGOT_SUCCESS && origin == INGOT_ORIGIN_MEMORY;
    if (status == INGOT_SUCCESS && origin == INGOT_ORIGIN_BUILD)
        (void)exit_time_spend(0);
    return status;
}

/* Fills in a result. Fails if there are messages and several devices, because the blob has all messages as one text, so
 * they cannot be assigned to devices. */
static ingot_status_t fill_result(struct result *result, const struct result_info *info)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    const uint64_t started_ns = statistics_clock_ns();
    const cl_uint device_count = info->context->device_count;
    ingot_status_t status = create_program(result);
    if (status == INGOT_SUCCESS)
        status = ingot_opencl_program_get_native(result->program, &result->native);
    if (status == INGOT_SUCCESS && result->has_files)
        status = require_kept_texts(result->program);
    if (status != INGOT_SUCCESS)
        return status;
    result->own_references = result_count_references(result->native);
    /* for several devices, Ingot may compile once and load the binary for all */
    (void)ingot_program_get_facts(result->program, &facts);
    result->is_loaded = device_count > 1 || facts.is_from_cache_blob;
    char *log = copy_log(result->program);
    const bool is_set = set_log(result, info->earlier_log, log);
    free(log);
    if (!is_set)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's options and log");
    if (device_count > 1 && *result->log != '\0')
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the compiler has messages for several devices");
    result->duration_ns = statistics_clock_ns() - started_ns;
    return INGOT_SUCCESS;
}

ingot_status_t result_create(struct result **out, const struct result_info *info, struct refusal *refusal)
{
    struct result *result = create_empty_result(info->context, info->desc, info->options);
    if (result == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    result->has_files = info->request->text.bytes != NULL;
    compiler_begin(refusal, info->desc);
    const ingot_status_t status = fill_result(result, info);
    compiler_end();
    if (status == INGOT_SUCCESS) {
        kept_request_move(&result->request, info->request);
        *out = result;
    } else {
        result_release(result);
    }
    return status;
}

struct result *result_create_refused(const struct result_info *info, struct refusal *refusal)
{
    struct result *result = create_empty_result(info->context, info->desc, info->options);
    if (result == NULL)
        return NULL;
    result->has_files = info->request->text.bytes != NULL;
    result->error = refusal->error;
    result->is_owned = true;
    atomic_init(&result->is_unbuilt, refusal->native == NULL);
    result->native = refusal->native;
    refusal->native = NULL;
    if (result->native == NULL)
        result->native = kept_request_create(info->request, info->desc, info->context->native);
    if (result->native != NULL && set_log(result, info->earlier_log, refusal->log)) {
        result->own_references = result_count_references(result->native);
        kept_request_move(&result->request, info->request);
        return result;
    }
    result_release(result);
    return NULL;
}

/* The options with which Ingot builds the program. NULL: none. */
static const char *options_of(const struct result *result)
{
    const char *options = result->request.options;
    return result->has_options || *options != '\0' ? options : NULL;
}

/* Builds a program of the layer from what the id covers. Returns NULL on failure. */
static cl_program build_twin(const struct result *result)
{
    const char *reason = result->is_loaded ? "built for a query that a loaded program cannot answer"
                                           : "built for a query for binaries, so that the stored ones have all code";
    cl_program twin = kept_request_create(&result->request, result->desc, result->context->native);
    if (twin == NULL || compiler_build(twin, options_of(result), reason) == CL_SUCCESS)
        return twin;
    (void)layer_target.clReleaseProgram(twin);
    return NULL;
}

struct result *result_create_of_twin(struct result *other)
{
    struct result *result =
        create_empty_result(other->context, other->desc, other->has_options ? other->options : NULL);
    if (result == NULL)
        return NULL;
    result->log = strdup(other->log);
    result->earlier_size = other->earlier_size;
    result->is_owned = true;
    result->native = build_twin(other);
    result->has_files = other->has_files;
    if (result->native != NULL && result->log != NULL && result->options != NULL) {
        result->own_references = result_count_references(result->native);
        return result;
    }
    result_release(result);
    return NULL;
}

cl_program result_get_twin(struct result *result)
{
    if (result->is_owned)
        return result->native;
    cl_program twin = atomic_load_explicit(&result->twin, memory_order_acquire);
    return twin != NULL ? twin : kept_request_publish(&result->twin, build_twin(result));
}

cl_program result_get_options_twin(struct result *result)
{
    cl_program twin = atomic_load_explicit(&result->options_twin, memory_order_acquire);
    if (twin != NULL)
        return twin;
    twin = kept_request_create_empty(result->context->native);
    if (twin != NULL) /* also after a failed build, the driver knows the options */
        (void)compiler_build(twin, result->has_options ? result->options : NULL,
                             "an empty program, built for a query about build options");
    return kept_request_publish(&result->options_twin, twin);
}

/* Reads the binaries of a fresh build, or those that the store has, or builds the program for them. */
static struct binaries *find_binaries(struct result *result)
{
    struct binaries *binaries = result->is_loaded ? binaries_load(result->desc, result->context->device_count) : NULL;
    if (binaries != NULL)
        return binaries;
    const cl_program built = result->is_loaded ? result_get_twin(result) : result->native;
    return built != NULL ? binaries_read(result->desc, built) : NULL;
}

struct binaries *result_get_binaries(struct result *result)
{
    struct binaries *binaries = atomic_load_explicit(&result->binaries, memory_order_acquire);
    struct binaries *first = NULL;
    if (binaries != NULL || result->error != CL_SUCCESS || contexts_generate_code_at_launch(result->context))
        return binaries;
    binaries = find_binaries(result);
    if (binaries == NULL || atomic_compare_exchange_strong_explicit(&result->binaries, &first, binaries,
                                                                    memory_order_acq_rel, memory_order_acquire))
        return binaries;
    binaries_destroy(binaries);
    return first;
}

cl_program result_get_with_binaries(struct result *result)
{
    const bool is_frozen_by_query = contexts_generate_code_at_launch(result->context) && !result->is_loaded &&
                                    result->error == CL_SUCCESS && !pocl_cache_is_off();
    const cl_program twin = is_frozen_by_query ? result_get_twin(result) : NULL;
    return twin != NULL ? twin : result->native;
}

void result_build_refused(struct result *result)
{
    if (!atomic_load_explicit(&result->is_unbuilt, memory_order_acquire))
        return;
    (void)compiler_build(result->native, options_of(result),
                         "built for a query about a program that the compiler had refused");
    atomic_store_explicit(&result->is_unbuilt, false, memory_order_release);
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
                              result->is_owned ? result->native : NULL};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); ++i) {
        if (own[i] != NULL)
            (void)layer_target.clReleaseProgram(own[i]);
    }
    binaries_destroy(atomic_load_explicit(&result->binaries, memory_order_relaxed));
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

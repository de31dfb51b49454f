/*
 * result.c - a program that Ingot built or loaded, or that the compiler refused; see program.h.
 */
#include "layers/opencl/program/program.h"

#include <ingot/private/descriptor.h>
#include <ingot/private/persist.h>
#include <ingot/private/program.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/common.h"

cl_uint result_count_references(cl_program native)
{
    cl_uint count = 0;
    (void)layer_target.clGetProgramInfo(native, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL);
    return count;
}

char *result_join_logs(const char *earlier, const char *log)
{
    char *joined = NULL;
    if (*earlier == '\0' || *log == '\0')
        return strdup(*earlier != '\0' ? earlier : log);
    return asprintf(&joined, "%s\n%s", earlier, log) >= 0 ? joined : NULL;
}

/* Creates a result without a program. Returns NULL if memory runs out. */
static struct result *create_empty_result(const struct result_info *info)
{
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL)
        return NULL;
    atomic_init(&result->references, 1);
    ingot_program_desc_retain(info->desc);
    result->desc = info->desc;
    result->context = info->context;
    result->has_options = info->options != NULL;
    result->options = strdup(info->options != NULL ? info->options : "");
    return result;
}

static bool set_log(struct result *result, const char *earlier, const char *log)
{
    result->log = log != NULL ? result_join_logs(earlier, log) : NULL;
    result->earlier_size = strlen(earlier);
    return result->log != NULL && result->options != NULL;
}

/* True if the layer only loads programs. A device that generates code at launch takes several times as long to provide
 * a binary as it took to compile, and its driver has a cache of its own, so all other programs are left to that, unless
 * the user wants them stored. */
static bool only_loads(const struct layer_context *context)
{
    return contexts_generate_code_at_launch(context) && !settings_must_not_compile() &&
           ingot_persist_get_store_mode(settings_store()) != INGOT_PERSIST_STORE_NOW;
}

/* Fills in a result. Fails if there are messages and several devices, because the blob has all messages as one text, so
 * they cannot be assigned to devices. */
static ingot_status_t fill_result(struct result *result, const struct result_info *info)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    const cl_uint device_count = info->context->device_count;
    size_t size = 0;
    const uint8_t *id = NULL;
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(result->desc, &size, &id);
    if (status == INGOT_SUCCESS && only_loads(result->context)) {
        status = ingot_persist_program_load(&result->program, result->desc, settings_store(), &origin);
        if (status == INGOT_NOT_FOUND)
            status =
                ingot_set_error_detail(INGOT_NOT_FOUND, "left to the driver's own cache: storing takes longer than "
                                                        "compiling on this device (ingot run --now stores it)");
    } else if (status == INGOT_SUCCESS) {
        status = ingot_persist_program_create(&result->program, result->desc, settings_store(), &origin);
    }
    result->is_shared = status == INGOT_SUCCESS && origin == INGOT_ORIGIN_MEMORY;
    if (status == INGOT_SUCCESS)
        status = ingot_opencl_program_get_native(result->program, &result->native);
    if (status != INGOT_SUCCESS)
        return status;
    result->own_references = result_count_references(result->native);
    /* for several devices, Ingot may compile once and load the binary for all */
    (void)ingot_program_get_facts(result->program, &facts);
    result->is_loaded = device_count > 1 || facts.is_from_cache_blob;
    if (!set_log(result, info->earlier_log, facts.build_log))
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's options and log");
    if (device_count > 1 && *result->log != '\0')
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the compiler has messages for several devices");
    return INGOT_SUCCESS;
}

ingot_status_t result_create(struct result **out, const struct result_info *info, struct refusal *refusal)
{
    struct result *result = create_empty_result(info);
    if (result == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    compiler_begin(refusal);
    const ingot_status_t status = fill_result(result, info);
    compiler_end();
    if (status == INGOT_SUCCESS)
        *out = result;
    else
        result_release(result);
    return status;
}

struct result *result_create_refused(const struct result_info *info, struct refusal *refusal)
{
    struct result *result = create_empty_result(info);
    char *log = compiler_read_log(refusal->native, info->context->devices[0]);
    if (result != NULL && set_log(result, info->earlier_log, log)) {
        result->error = refusal->error;
        result->native = refusal->native;
        result->own_references = result_count_references(result->native);
        refusal->native = NULL;
    } else {
        result_release(result);
        result = NULL;
    }
    free(log);
    return result;
}

static ingot_status_t accept_any_build_request(void *user, const ingot_build_request_t *request)
{
    (void)user;
    (void)request;
    return INGOT_SUCCESS;
}

bool result_is_unchanged(const struct result *result)
{
    return ingot_program_desc_visit_request(result->desc, accept_any_build_request, NULL) == INGOT_SUCCESS;
}

void result_retain(struct result *result)
{
    (void)atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
}

void result_store_launches(const struct result *result)
{
    if (result != NULL && result->program != NULL)
        ingot_persist_flush_program(settings_store(), result->program);
}

void result_release(struct result *result)
{
    if (result == NULL || atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel) != 1)
        return;
    /* If the layer gives a program up, it is not stored again: the driver may have built it differently by now. */
    if (result->program != NULL && !result->is_shared)
        ingot_persist_forget_program(settings_store(), result->program);
    if (result->program == NULL && result->native != NULL)
        (void)layer_target.clReleaseProgram(result->native);
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

/*
 * program_desc_check.c - checks the info from which a program descriptor is made; see program_desc.h.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/program_desc.h"

static ingot_status_t check_sources(const struct ingot_context *context, const ingot_program_info_t *info)
{
    if ((info->flags & ~(uint32_t)INGOT_PROGRAM_NO_MEMORY_CACHE) != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "info has unknown flags: %#x", (unsigned)info->flags);
    if (info->sources == NULL || info->source_count == 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "a program needs at least one source");
    if (info->header_count != 0 && info->headers == NULL)
        return error_null_argument("headers");
    if (info->source_count > UINT16_MAX || info->header_count > UINT16_MAX)
        return error_set(INGOT_INVALID_ARGUMENTS, "more than 65535 sources or headers");
    for (size_t i = 0; i < info->source_count; ++i) {
        if (info->sources[i] == NULL)
            return error_set(INGOT_INVALID_ARGUMENTS, "source %zu is NULL", i);
        if (info->sources[i]->kind == INGOT_SOURCE_HEADER ||
            !context->ops.accepts(context->state, info->sources[i]->kind))
            return error_set(INGOT_INVALID_ARGUMENTS, "source %zu is of kind %d, which the backend %s does not build",
                             i, (int)info->sources[i]->kind, context->ops.name);
    }
    return source_check_headers(info->header_count, info->headers);
}

static ingot_status_t check_spec_constants(const ingot_program_info_t *info)
{
    if (info->spec_constant_count != 0 && info->spec_constants == NULL)
        return error_null_argument("spec_constants");
    for (size_t i = 0; i < info->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &info->spec_constants[i];
        const uint32_t size = constant->size;
        if (constant->value == NULL || (size != 1 && size != 2 && size != 4 && size != 8))
            return error_set(INGOT_INVALID_ARGUMENTS,
                             "specialization constant %u has no value, or a size other than 1, 2, 4 or 8",
                             (unsigned)constant->id);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t check_devices(const struct ingot_context *context, const ingot_program_info_t *info)
{
    if (info->device_indices == NULL && info->device_count != 0)
        return error_null_argument("device_indices");
    if (info->device_indices != NULL && info->device_count == 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "device_count is 0");
    if (info->device_count > context->device_count)
        return error_set(INGOT_INVALID_ARGUMENTS, "device_count is greater than the context's number of devices");
    for (size_t i = 0; i < info->device_count; ++i) {
        if (info->device_indices[i] >= context->device_count)
            return error_set(INGOT_INVALID_ARGUMENTS, "the context has no device %u",
                             (unsigned)info->device_indices[i]);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t check_name_expressions(const struct ingot_context *context, const ingot_program_info_t *info)
{
    if (info->name_expression_count == 0)
        return INGOT_SUCCESS;
    if (info->name_expressions == NULL)
        return error_null_argument("name_expressions");
    if (info->name_expression_count > UINT16_MAX)
        return error_set(INGOT_INVALID_ARGUMENTS, "more than 65535 name expressions");
    for (size_t i = 0; i < info->name_expression_count; ++i) {
        if (info->name_expressions[i] == NULL || *info->name_expressions[i] == '\0')
            return error_set(INGOT_INVALID_ARGUMENTS, "name expression %zu is NULL or empty", i);
    }
    if (context->ops.takes_name_expressions == NULL || !context->ops.takes_name_expressions(context->state))
        return error_set(INGOT_UNIMPLEMENTED, "the backend %s does not support name expressions", context->ops.name);
    return INGOT_SUCCESS;
}

ingot_status_t program_info_check(const struct ingot_context *context, const ingot_program_info_t *info)
{
    ingot_status_t status = check_sources(context, info);
    if (status == INGOT_SUCCESS)
        status = check_spec_constants(info);
    if (status == INGOT_SUCCESS)
        status = check_devices(context, info);
    if (status == INGOT_SUCCESS)
        status = check_name_expressions(context, info);
    return status;
}

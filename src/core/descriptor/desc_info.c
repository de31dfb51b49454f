/*
 * desc_info.c - returns what sources and descriptors were created from; see ingot/private/descriptor.h.
 */
#include <ingot/private/descriptor.h>

#include "core/base/error.h"
#include "core/descriptor/program_desc.h"
#include "util/struct_size.h"

ingot_status_t ingot_program_desc_get_info(const_ingot_program_desc_t desc, ingot_program_info_t *info)
{
    if (desc == NULL || !STRUCT_IS_SET(info))
        return error_set(INGOT_INVALID_ARGUMENTS, "desc or info is NULL, or its struct_size is not set");
    const ingot_program_info_t known = {.struct_size = sizeof(known),
                                        .sources = desc->sources,
                                        .source_count = desc->source_count,
                                        .headers = desc->sources + desc->source_count,
                                        .header_count = desc->header_count,
                                        .compile_options = desc->compile_options,
                                        .link_options = desc->link_options,
                                        .spec_constants = program_desc_spec_constants(desc),
                                        .spec_constant_count = desc->spec_constant_count,
                                        .device_indices = desc->device_indices,
                                        .device_count = desc->device_count,
                                        .group = desc->group[0] != '\0' ? desc->group : NULL,
                                        .flags = desc->flags,
                                        .name_expressions = program_desc_name_expressions(desc),
                                        .name_expression_count = desc->name_expression_count};
    (void)STRUCT_WRITE(info, known);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_source_get_info(const_ingot_source_t source, ingot_source_info_t *info)
{
    if (source == NULL || !STRUCT_IS_SET(info))
        return error_set(INGOT_INVALID_ARGUMENTS, "source or info is NULL, or its struct_size is not set");
    const ingot_source_info_t known = {.struct_size = sizeof(known),
                                       .kind = source->kind,
                                       .bytes = source->bytes,
                                       .size = source->size,
                                       .name = source->name,
                                       .compile_options = source->compile_options,
                                       .headers = source->headers,
                                       .header_count = source->header_count};
    (void)STRUCT_WRITE(info, known);
    return INGOT_SUCCESS;
}

/*
 * program_desc.c - retains, compares and queries program descriptors; see program_desc.h.
 */
#include "core/descriptor/program_desc.h"

#include <ingot/private/descriptor.h>
#include <ingot/private/program.h>
#include <string.h>

#include "core/base/error.h"
#include "util/struct_size.h"

void program_desc_reference(struct ingot_program_desc *desc)
{
    atomic_fetch_add_explicit(&desc->references, 1, memory_order_relaxed);
}

void ingot_program_desc_retain(ingot_program_desc_t desc)
{
    if (desc != NULL)
        program_desc_reference(desc);
}

ingot_context_t ingot_program_desc_get_context(const_ingot_program_desc_t desc)
{
    return desc != NULL ? desc->context : NULL;
}

ingot_status_t ingot_program_desc_is_cacheable(const_ingot_program_desc_t desc, const char **reason)
{
    if (desc == NULL)
        return error_null_argument("desc");
    if (reason != NULL)
        *reason = desc->not_cacheable != NULL ? desc->not_cacheable : "";
    return desc->not_cacheable == NULL ? INGOT_SUCCESS : error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
}

bool program_desc_equals(const struct ingot_program_desc *a, const struct ingot_program_desc *b)
{
    if (a == b)
        return true;
    if (a->key_size != b->key_size || memcmp(program_desc_key(a), program_desc_key(b), a->key_size) != 0)
        return false;
    /* Descriptors with equal keys have the same number of sources and headers. */
    for (size_t i = 0; i < a->source_count + a->header_count; ++i) {
        if (!source_equals(a->sources[i], b->sources[i]))
            return false;
    }
    return true;
}

bool program_desc_has_text(const struct ingot_program_desc *desc)
{
    bool is_text = false;
    for (size_t i = 0; i < desc->source_count && !is_text; ++i)
        is_text = desc->sources[i]->is_text;
    return is_text;
}

bool program_desc_may_include(const struct ingot_program_desc *desc)
{
    bool may = false;
    for (size_t i = 0; i < (size_t)desc->source_count + desc->header_count; ++i)
        may = may || desc->sources[i]->may_include;
    return may;
}

const char *program_desc_name(const struct ingot_program_desc *desc)
{
    return desc->sources[0]->name;
}

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

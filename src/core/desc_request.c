/*
 * desc_request.c - a descriptor as a backend sees it: views of its sources, and its options joined with the
 * environment's.
 */
#include <string.h>

#include "core/error.h"
#include "core/include_closure/include_closure.h"
#include "core/program_desc.h"

const char *options_join(struct arena *arena, const char *own, const char *environment)
{
    if (own == NULL || *own == '\0')
        return environment;
    if (*environment == '\0')
        return own;
    const size_t own_size = strlen(own);
    const size_t environment_size = strlen(environment);
    char *joined = arena_take(arena, own_size + environment_size + 2);
    if (joined == NULL)
        return NULL;
    memcpy(joined, own, own_size);
    joined[own_size] = ' ';
    memcpy(joined + own_size + 1, environment, environment_size + 1);
    return joined;
}

ingot_status_t desc_request_init(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                 struct arena *arena)
{
    const size_t count = desc->source_count + desc->header_count;
    ingot_source_view_t *views = arena_take(arena, count * sizeof(*views));

    *request = (ingot_build_request_t){
        .struct_size = sizeof(*request),
        .sources = views,
        .source_count = desc->source_count,
        .headers = views + desc->source_count,
        .header_count = desc->header_count,
        .compile_options = options_join(arena, desc->compile_options, desc->context->compile_options),
        .link_options = options_join(arena, desc->link_options, desc->context->link_options),
        .spec_constants = desc->spec_constants,
        .spec_constant_count = desc->spec_constant_count,
        .name_expressions = desc->name_expressions,
        .name_expression_count = desc->name_expression_count};
    if (arena->failed)
        return error_out_of_memory();
    for (size_t i = 0; i < count; ++i)
        views[i] = source_view(desc->sources[i]);
    return INGOT_SUCCESS;
}

ingot_status_t desc_request_check_files(const ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                        bool *unchanged)
{
    struct include_closure closure;

    *unchanged = true;
    if (desc->files_size == 0)
        return INGOT_SUCCESS;
    include_closure_init(&closure, &desc->context->allocator);
    ingot_status_t status = include_closure_resolve(&closure, request->sources, request->source_count, request->headers,
                                                    request->header_count, request->compile_options);
    if (status == INGOT_SUCCESS && closure.files.failed)
        status = error_out_of_memory();
    if (status == INGOT_SUCCESS)
        *unchanged = closure.reason == NULL && closure.files.size == desc->files_size &&
                     memcmp(closure.files.bytes, program_desc_files(desc), desc->files_size) == 0;
    include_closure_fini(&closure);
    return status;
}

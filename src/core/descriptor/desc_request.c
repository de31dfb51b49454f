/*
 * desc_request.c - makes a request to the backend from a descriptor: views of its sources, and its options, followed by
 * those that environment variables add.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/program_desc.h"

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

static bool has_settings(const struct ingot_program_desc *desc)
{
    for (size_t i = 0; i < desc->source_count; ++i) {
        if (source_has_settings(desc->sources[i]))
            return true;
    }
    return false;
}

/* Returns the program's headers, followed by the source's own headers. Sets arena->failed if out of memory. */
static const ingot_source_view_t *join_headers(struct arena *arena, const ingot_build_request_t *request,
                                               const struct ingot_source *source)
{
    if (source->header_count == 0)
        return request->headers;
    ingot_source_view_t *views = arena_take(arena, (request->header_count + source->header_count) * sizeof(*views));
    for (size_t i = 0; views != NULL && i < request->header_count + source->header_count; ++i)
        views[i] =
            i < request->header_count ? request->headers[i] : source_view(source->headers[i - request->header_count]);
    return views;
}

/* Sets source_settings: for each source, all options and headers that apply to it. Sets arena->failed if out of
 * memory. */
static void add_source_settings(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                struct arena *arena)
{
    ingot_source_settings_t *settings = arena_take(arena, request->source_count * sizeof(*settings));
    for (size_t i = 0; settings != NULL && i < request->source_count; ++i) {
        const struct ingot_source *source = desc->sources[i];
        const char *own = options_join(arena, desc->compile_options, source->compile_options);
        settings[i].compile_options = own != NULL ? options_join(arena, own, desc->context->compile_options) : NULL;
        settings[i].headers = join_headers(arena, request, source);
        settings[i].header_count = request->header_count + source->header_count;
    }
    request->source_settings = settings;
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
        .spec_constants = program_desc_spec_constants(desc),
        .spec_constant_count = desc->spec_constant_count,
        .name_expressions = program_desc_name_expressions(desc),
        .name_expression_count = desc->name_expression_count};
    if (arena->failed)
        return error_out_of_memory();
    for (size_t i = 0; i < count; ++i)
        views[i] = source_view(desc->sources[i]);
    if (has_settings(desc))
        add_source_settings(request, desc, arena);
    return arena->failed ? error_out_of_memory() : INGOT_SUCCESS;
}

/*
 * desc_request.c - makes requests from descriptors: the application's, with its texts, and the one with digests that an
 * id contains.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/program_desc.h"
#include "core/descriptor/request.h"
#include "core/hermetic/option_words.h"
#include "core/hermetic/text_digests.h"

/* Joins options with a blank between them. Returns NULL if out of memory. */
static const char *join_options(struct arena *arena, const char *first, const char *second)
{
    if (first == NULL || second == NULL || *first == '\0' || *second == '\0')
        return first == NULL || second == NULL ? NULL : *first == '\0' ? second : first;
    const size_t first_size = strlen(first);
    const size_t second_size = strlen(second);
    char *joined = arena_take(arena, first_size + second_size + 2);
    if (joined == NULL)
        return NULL;
    memcpy(joined, first, first_size);
    joined[first_size] = ' ';
    memcpy(joined + first_size + 1, second, second_size + 1);
    return joined;
}

ingot_status_t desc_request_init(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                 struct arena *arena)
{
    const size_t count = desc->source_count + desc->header_count;
    ingot_source_view_t *views = arena_take(arena, count * sizeof(*views));
    const char *more_compile_options = desc->is_final ? "" : desc->context->compile_options;
    const char *more_link_options = desc->is_final ? "" : desc->context->link_options;

    *request =
        (ingot_build_request_t){.struct_size = sizeof(*request),
                                .sources = views,
                                .source_count = desc->source_count,
                                .headers = views != NULL ? views + desc->source_count : NULL,
                                .header_count = desc->header_count,
                                .compile_options = join_options(arena, desc->compile_options, more_compile_options),
                                .link_options = join_options(arena, desc->link_options, more_link_options),
                                .spec_constants = program_desc_spec_constants(desc),
                                .spec_constant_count = desc->spec_constant_count,
                                .name_expressions = program_desc_name_expressions(desc),
                                .name_expression_count = desc->name_expression_count};
    if (arena->failed)
        return error_out_of_memory();
    for (size_t i = 0; i < count; ++i)
        views[i] = source_view(desc->sources[i]);
    return INGOT_SUCCESS;
}

/* Returns options without -I and its directory, or NULL if out of memory. */
static const char *keep_options(const struct ingot_program_desc *desc, const char *options, struct arena *arena)
{
    struct bytes_writer kept;
    bytes_writer_init(&kept, arena->allocator);
    options_keep(&kept, &desc->context->text_rules.of_backend, arena, options);
    bytes_put(&kept, 1, "");
    const char *copy = kept.failed ? NULL : arena_copy(arena, kept.size, kept.bytes);
    bytes_writer_fini(&kept);
    return copy;
}

ingot_status_t desc_request_keep_options(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                         struct arena *arena)
{
    if (!program_desc_has_text(desc))
        return INGOT_SUCCESS;
    request->compile_options = keep_options(desc, request->compile_options, arena);
    return request->compile_options != NULL ? INGOT_SUCCESS : error_out_of_memory();
}

/* Returns a view of the source's digest instead of its bytes. */
static ingot_source_view_t view_of_digest(const struct ingot_source *source, struct arena *arena)
{
    uint8_t *digest = arena_take(arena, DIGEST_SIZE);
    if (digest != NULL)
        source_get_digest(source, digest);
    return (ingot_source_view_t){source->kind, DIGEST_SIZE, digest, source->name};
}

/* Replaces the texts of a request by their digests. */
static void take_digests(struct request *request, const struct ingot_program_desc *desc, struct arena *arena)
{
    ingot_build_request_t *build = &request->build;
    const size_t count = build->source_count + build->header_count;
    ingot_source_view_t *views = arena_take(arena, count * sizeof(*views));
    struct text_digests digests;
    (void)text_digests_read(&digests, desc->digests_size, program_desc_digests(desc), desc->source_count);
    for (size_t i = 0; views != NULL && i < count; ++i) {
        const uint8_t *digest = i < build->source_count ? text_digests_next(&digests) : NULL;
        views[i] = build->sources[i]; /* the headers' views follow the sources' */
        if (digest == NULL)
            views[i] = view_of_digest(desc->sources[i], arena);
        else
            views[i].bytes = digest;
    }
    build->sources = views;
    build->headers = views + build->source_count;
    request->names_matter = digests.names_matter;
    request->directory = digests.directory;
}

ingot_status_t desc_request_write(struct bytes_writer *out, const struct ingot_program_desc *desc)
{
    struct request request = {.form = REQUEST_OF_DIGESTS};
    struct arena arena;
    arena_init(&arena, &desc->context->allocator);
    ingot_status_t status = desc_request_init(&request.build, desc, &arena);
    if (status == INGOT_SUCCESS)
        status = desc_request_keep_options(&request.build, desc, &arena);
    if (status == INGOT_SUCCESS) {
        take_digests(&request, desc, &arena);
        if (!arena.failed)
            request_write(out, REQUEST_OF_DIGESTS, &request);
        status = arena.failed || out->failed ? error_out_of_memory() : INGOT_SUCCESS;
    }
    arena_fini(&arena);
    return status;
}

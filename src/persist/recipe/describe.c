/*
 * describe.c - creates a descriptor of a recorded program, in a context.
 */
#include <ingot/backend.h>
#include <ingot/private/descriptor.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/recipe/reader.h"
#include "util/memory.h"

/* The sources and includes from which a descriptor is created. */
struct description {
    ingot_recipe_t recipe;
    struct arena arena;
    ingot_source_t *sources; /* source_count of them, then header_count headers, then file_count files */
    size_t count;
};

/* Makes a source with the given headers. */
static ingot_status_t make_source(struct description *description, const ingot_recipe_text_t *text, size_t header_count,
                                  const ingot_source_t *headers, ingot_source_t *source)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    uint8_t *bytes = NULL;
    if (text->text == SIZE_MAX)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the recipe lacks the text %.80s", text->name);
    ingot_status_t status = recipe_read_text(description->recipe, text->text, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    info.kind = text->kind;
    info.bytes = bytes;
    info.size = (size_t)text->size;
    info.name = text->name;
    info.compile_options = text->compile_options;
    info.headers = headers;
    info.header_count = header_count;
    status = ingot_source_create(source, &info);
    memory_free(&description->recipe->allocator, bytes, info.size);
    return status;
}

static void release_sources(size_t count, ingot_source_t *sources)
{
    for (size_t i = 0; i < count && sources != NULL; ++i)
        ingot_source_release(sources[i]);
}

static ingot_status_t make_sources(struct description *description, size_t count, const ingot_recipe_text_t *texts)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const ingot_recipe_text_t *text = &texts[i];
        ingot_source_t *headers = arena_take(&description->arena, text->header_count * sizeof(ingot_source_t));
        if (headers == NULL)
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu headers", text->header_count);
        for (size_t j = 0; j < text->header_count && status == INGOT_SUCCESS; ++j)
            status = make_source(description, &text->headers[j], 0, NULL, &headers[j]);
        if (status == INGOT_SUCCESS)
            status =
                make_source(description, text, text->header_count, headers, &description->sources[description->count]);
        description->count += status == INGOT_SUCCESS;
        release_sources(text->header_count, headers);
    }
    return status;
}

static ingot_status_t gather_program_sources(struct description *description, const ingot_recipe_program_t *program)
{
    const size_t count = program->source_count + program->header_count + program->file_count;
    description->sources = arena_take(&description->arena, count * sizeof(ingot_source_t));
    if (description->sources == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu sources", count);
    ingot_status_t status = make_sources(description, program->source_count, program->sources);
    if (status == INGOT_SUCCESS)
        status = make_sources(description, program->header_count, program->headers);
    if (status == INGOT_SUCCESS)
        status = make_sources(description, program->file_count, program->files);
    return status;
}

static ingot_status_t check_program_backend(const ingot_recipe_program_t *program, ingot_context_t context)
{
    const char *backend = ingot_context_get_backend_name(context);
    if (program->status != INGOT_SUCCESS)
        return ingot_set_error_detail(program->status, "%s", program->reason);
    if (strcmp(program->backend, backend) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the program is for the backend %s, but the context has "
                                      "the backend %s",
                                      program->backend, backend);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_recipe_desc_create(ingot_program_desc_t *desc, ingot_recipe_t recipe, size_t index,
                                        ingot_context_t context, size_t device_count, const uint32_t *device_indices)
{
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_includes_info_t includes = INGOT_INCLUDES_INFO_INIT;
    struct description description = {.recipe = recipe};
    if (desc == NULL || context == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "desc or context is NULL");
    ingot_status_t status = ingot_recipe_get_program(recipe, index, &program);
    if (status == INGOT_SUCCESS)
        status = check_program_backend(&program, context);
    if (status != INGOT_SUCCESS)
        return status;
    arena_init(&description.arena, &recipe->allocator);
    status = gather_program_sources(&description, &program);
    info.sources = description.sources;
    info.source_count = program.source_count;
    info.headers = description.sources + program.source_count;
    info.header_count = program.header_count;
    info.compile_options = program.compile_options;
    info.link_options = program.link_options;
    info.spec_constants = program.spec_constants;
    info.spec_constant_count = program.spec_constant_count;
    info.device_indices = device_count != 0 ? device_indices : NULL;
    info.device_count = device_count;
    info.group = program.group[0] != '\0' ? program.group : NULL;
    info.name_expressions = program.name_expressions;
    info.name_expression_count = program.name_expression_count;
    includes.files = info.headers + program.header_count;
    includes.file_count = program.file_count;
    includes.numbers = recipe_node_at(recipe, index)->fields.numbers;
    includes.number_count = recipe_node_at(recipe, index)->fields.number_count;
    /* also without includes, because a recipe's sources must never include files of this machine */
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create_with(desc, context, &info, &includes);
    release_sources(description.count, description.sources);
    arena_fini(&description.arena);
    return status;
}

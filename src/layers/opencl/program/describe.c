/*
 * describe.c - creates Ingot's descriptors for builds and compilations of the application.
 *
 * The source is read from the driver's program, so the layer keeps no copy.
 */
#include "layers/opencl/program/describe.h"

#include <ingot/backend.h>

#include <stdlib.h>
#include <string.h>

#include "layers/opencl/objects/compiler.h"
#include "layers/opencl/program/recordings.h"

/* A source: text or intermediate language. The caller frees the bytes. */
struct input {
    size_t size;
    char *bytes;
};

static ingot_status_t read_bytes(cl_program native, cl_program_info name, struct input *input)
{
    size_t size = 0;
    if (layer_target.clGetProgramInfo(native, name, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the driver does not return the source");
    input->bytes = malloc(size);
    if (input->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a source of %zu bytes", size);
    input->size = size;
    return layer_target.clGetProgramInfo(native, name, size, input->bytes, NULL) == CL_SUCCESS
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the driver does not return the source");
}

static ingot_status_t read_text(const struct shadow *shadow, struct input *input)
{
    if (shadow->has_text_after_nul)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the source has text after a NUL");
    const ingot_status_t status = read_bytes(shadow->native, CL_PROGRAM_SOURCE, input);
    if (status != INGOT_SUCCESS)
        return status;
    const size_t size = input->size;
    input->size = strnlen(input->bytes, size);
    return input->size + 1 == size && size > 1
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the source is empty or contains NUL");
}

static ingot_status_t read_input(const struct shadow *shadow, struct input *input)
{
    return shadow->kind == INGOT_SOURCE_SPIRV ? read_bytes(shadow->native, CL_PROGRAM_IL, input)
                                              : read_text(shadow, input);
}

ingot_status_t describe_header(const struct shadow *shadow, const char *name, ingot_source_view_t *header)
{
    struct input input = {0, NULL};
    ingot_status_t status = read_text(shadow, &input);
    char *copy = strdup(name);
    if (status == INGOT_SUCCESS && copy == NULL)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the name of a header");
    if (status != INGOT_SUCCESS) {
        free(copy);
        free(input.bytes);
        return status;
    }
    *header = (ingot_source_view_t){INGOT_SOURCE_HEADER, input.size, input.bytes, copy};
    return INGOT_SUCCESS;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool has_option(const char *options, const char *option)
{
    const size_t size = strlen(option);
    for (const char *found = options; (found = strstr(found, option)) != NULL; ++found) {
        if ((found == options || is_blank(found[-1])) && (found[size] == '\0' || is_blank(found[size])))
            return true;
    }
    return false;
}

/* Returns the reason why the driver must do a build or compilation with these options, or NULL. */
static const char *why_not_with(const char *options)
{
    if (has_option(options, "-g"))
        return "a debugger needs what the driver keeps from a build with -g";
    if (has_option(options, "-create-library"))
        return "-create-library makes a library, not a program";
    return NULL;
}

static ingot_status_t create_source(const ingot_source_view_t *view, ingot_source_t *source)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    info.kind = view->kind;
    info.bytes = view->bytes;
    info.size = view->size;
    info.name = view->name;
    return ingot_source_create(source, &info);
}

static ingot_status_t copy_constants(const struct shadow *shadow, ingot_spec_constant_t **constants)
{
    if (shadow->constant_count == 0)
        return INGOT_SUCCESS;
    *constants = calloc(shadow->constant_count, sizeof(**constants));
    if (*constants == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for specialization constants");
    for (size_t i = 0; i < shadow->constant_count; ++i)
        (*constants)[i] =
            (ingot_spec_constant_t){shadow->constants[i].id, shadow->constants[i].size, shadow->constants[i].value};
    return INGOT_SUCCESS;
}

static ingot_status_t create_desc(ingot_context_t context, const struct shadow *shadow, const struct input *input,
                                  const char *options, const char *link_options, const struct object_headers *headers,
                                  ingot_program_desc_t *desc)
{
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_spec_constant_t *constants = NULL;
    ingot_source_t *sources = calloc(1 + headers->count, sizeof(ingot_source_t)); /* the source, and the headers */
    const ingot_source_view_t source = {shadow->kind, input->size, input->bytes, NULL};
    ingot_status_t status = sources != NULL ? create_source(&source, &sources[0])
                                            : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for sources");
    for (size_t i = 0; i < headers->count && status == INGOT_SUCCESS; ++i)
        status = create_source(&headers->texts[i], &sources[1 + i]);
    if (status == INGOT_SUCCESS)
        status = copy_constants(shadow, &constants);
    info.sources = sources;
    info.source_count = 1;
    info.headers = headers->count > 0 ? sources + 1 : NULL;
    info.header_count = headers->count;
    info.compile_options = options != NULL ? options : "";
    info.link_options = link_options;
    info.spec_constants = constants;
    info.spec_constant_count = shadow->constant_count;
    info.flags = INGOT_PROGRAM_NO_MEMORY_CACHE; /* each program has its own globals, so no two shadows may share one */
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create(desc, context, &info);
    for (size_t i = 0; i < 1 + headers->count && sources != NULL; ++i)
        ingot_source_release(sources[i]);
    free(sources);
    free(constants);
    return status;
}

/* `request` may be NULL. */
static ingot_status_t describe(ingot_context_t context, const struct shadow *shadow, const char *options,
                               const char *link_options, const struct object_headers *headers,
                               struct kept_request *request, ingot_program_desc_t *out)
{
    const char *reason = NULL;
    struct input input = {0, NULL};
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    reason = options != NULL ? why_not_with(options) : NULL;
    if (reason != NULL)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
    status = read_input(shadow, &input);
    if (status == INGOT_SUCCESS)
        status = create_desc(context, shadow, &input, options, link_options, headers, &desc);
    if (status == INGOT_SUCCESS && ingot_program_desc_is_cacheable(desc, &reason) != INGOT_SUCCESS) {
        recordings_add_refused(desc);
        status = ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
    }
    if (status == INGOT_SUCCESS && request != NULL)
        status = kept_request_take_of_files(request, desc, input.size, input.bytes);
    free(input.bytes);
    if (status == INGOT_SUCCESS) {
        *out = desc;
        desc = NULL;
    }
    ingot_program_desc_release(desc);
    return status;
}

ingot_status_t describe_build(const struct shadow *shadow, const char *options, struct kept_request *request,
                              ingot_program_desc_t *desc)
{
    const struct object_headers none = {0, NULL};
    return describe(shadow->context->ingot, shadow, options, NULL, &none, request, desc);
}

ingot_status_t describe_compilation(const struct shadow *shadow, const char *options,
                                    const struct object_headers *headers, ingot_program_desc_t *desc)
{
    return describe(shadow->context->objects, shadow, options, options == NULL ? OBJECT_WITHOUT_OPTIONS : NULL, headers,
                    NULL, desc);
}

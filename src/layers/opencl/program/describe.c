/*
 * describe.c - creates Ingot's descriptors for builds of the application.
 *
 * The source is read from the driver's program, so the layer keeps no copy.
 */
#include "layers/opencl/program/program.h"

#include <ingot/private/program.h>

#include <stdlib.h>
#include <string.h>

#include "layers/common/common.h"

/* A source: text or intermediate language. The caller frees the bytes. */
struct input {
    size_t size;
    char *bytes;
};

static ingot_status_t read_program_bytes(cl_program native, cl_program_info name, struct input *input)
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

static ingot_status_t read_source_text(const struct shadow *shadow, struct input *input)
{
    if (shadow->has_text_after_nul)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the source has text after a NUL");
    const ingot_status_t status = read_program_bytes(shadow->native, CL_PROGRAM_SOURCE, input);
    if (status != INGOT_SUCCESS)
        return status;
    const size_t size = input->size;
    input->size = strnlen(input->bytes, size);
    return input->size + 1 == size && size > 1
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the source is empty or contains NUL");
}

static bool is_blank_character(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool has_option(const char *options, const char *option)
{
    const size_t size = strlen(option);
    for (const char *found = options; (found = strstr(found, option)) != NULL; ++found) {
        if ((found == options || is_blank_character(found[-1])) &&
            (found[size] == '\0' || is_blank_character(found[size])))
            return true;
    }
    return false;
}

/* Returns the reason why the driver must do a build with these options, or NULL. */
static const char *why_not_with(const char *options)
{
    if (has_option(options, "-g"))
        return "a debugger needs what the driver keeps from a build with -g";
    if (has_option(options, "-create-library"))
        return "-create-library makes a library, not a program";
    return NULL;
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

ingot_status_t describe_build(const struct shadow *shadow, const char *options, ingot_program_desc_t *desc)
{
    struct input input = {0, NULL};
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_spec_constant_t *constants = NULL;
    ingot_source_t source = NULL;
    const char *reason = why_not_with(options);
    if (reason != NULL)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
    ingot_status_t status = shadow->kind == INGOT_SOURCE_SPIRV
                                ? read_program_bytes(shadow->native, CL_PROGRAM_IL, &input)
                                : read_source_text(shadow, &input);
    source_info.kind = shadow->kind;
    source_info.bytes = input.bytes;
    source_info.size = input.size;
    if (status == INGOT_SUCCESS)
        status = ingot_source_create(&source, &source_info);
    if (status == INGOT_SUCCESS)
        status = copy_constants(shadow, &constants);
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = options;
    info.spec_constants = constants;
    info.spec_constant_count = shadow->constant_count;
    info.flags = INGOT_PROGRAM_NO_MEMORY_CACHE; /* each program has its own globals, so no two shadows may share one */
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create(desc, shadow->context->ingot, &info);
    if (status == INGOT_SUCCESS && ingot_program_desc_is_cacheable(*desc, &reason) != INGOT_SUCCESS)
        status = ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
    ingot_source_release(source);
    free(constants);
    free(input.bytes);
    return status;
}

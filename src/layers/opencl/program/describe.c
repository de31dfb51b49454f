/*
 * describe.c - a program as Ingot describes it.
 *
 * The source is the driver's copy, so the layer keeps none.
 */
#include "layers/opencl/program/describe.h"

#include <ingot/backend.h>

#include <stdlib.h>
#include <string.h>

/* A text or intermediate language. The caller frees the bytes. */
struct input {
    size_t size;
    char *bytes;
};

static ingot_status_t read_input(const struct shadow *shadow, struct input *input)
{
    const cl_program_info name = shadow->kind == INGOT_SOURCE_SPIRV ? CL_PROGRAM_IL : CL_PROGRAM_SOURCE;
    size_t size = 0;
    if (layer_target.clGetProgramInfo(shadow->native, name, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the driver does not return the source");
    input->bytes = malloc(size);
    if (input->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a source of %zu bytes", size);
    input->size = size;
    if (layer_target.clGetProgramInfo(shadow->native, name, size, input->bytes, NULL) != CL_SUCCESS)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the driver does not return the source");
    if (shadow->kind == INGOT_SOURCE_SPIRV)
        return INGOT_SUCCESS;
    input->size = strnlen(input->bytes, size);
    return input->size + 1 == size && size > 1
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the source is empty or contains NUL");
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A debugger wants what the driver keeps of a build with -g. */
static bool wants_debugger(const char *options)
{
    for (const char *found = options; (found = strstr(found, "-g")) != NULL; ++found) {
        if ((found == options || is_blank(found[-1])) && (found[2] == '\0' || is_blank(found[2])))
            return true;
    }
    return false;
}

static ingot_status_t create_desc(const struct shadow *shadow, const struct input *input, const char *options,
                                  ingot_program_desc_t *desc)
{
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_source_t source = NULL;
    ingot_spec_constant_t *constants = NULL;
    source_info.kind = shadow->kind;
    source_info.bytes = input->bytes;
    source_info.size = input->size;
    ingot_status_t status = ingot_source_create(&source, &source_info);
    if (shadow->constant_count > 0 && (constants = calloc(shadow->constant_count, sizeof(*constants))) == NULL)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for specialization constants");
    for (size_t i = 0; i < shadow->constant_count && status == INGOT_SUCCESS; ++i)
        constants[i] =
            (ingot_spec_constant_t){shadow->constants[i].id, shadow->constants[i].size, shadow->constants[i].value};
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = options;
    info.spec_constants = constants;
    info.spec_constant_count = shadow->constant_count;
    info.flags = INGOT_PROGRAM_NO_MEMORY_CACHE; /* globals of a program are its own: no two shadows share one */
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create(desc, shadow->context->ingot, &info);
    ingot_source_release(source);
    free(constants);
    return status;
}

ingot_status_t describe_build(const struct shadow *shadow, const char *options, ingot_program_desc_t *out)
{
    const char *reason = "";
    struct input input = {0, NULL};
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    if (wants_debugger(options))
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the option -g is for a debugger");
    status = read_input(shadow, &input);
    if (status == INGOT_SUCCESS)
        status = create_desc(shadow, &input, options, &desc);
    free(input.bytes);
    if (status == INGOT_SUCCESS && ingot_program_desc_is_cacheable(desc, &reason) != INGOT_SUCCESS)
        status = ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
    if (status == INGOT_SUCCESS) {
        *out = desc;
        desc = NULL;
    }
    ingot_program_desc_release(desc);
    return status;
}

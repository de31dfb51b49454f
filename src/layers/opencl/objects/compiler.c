/*
 * compiler.c - builds programs from requests, and calls clCompileProgram with headers that are given as texts instead
 * of programs.
 */
#include "layers/opencl/objects/compiler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/extension_lookup.h"

const char *compiler_options_of(const ingot_build_request_t *request)
{
    return strcmp(request->link_options, OBJECT_WITHOUT_OPTIONS) != 0 ? request->compile_options : NULL;
}

cl_program compiler_create(cl_context context, const ingot_source_view_t *text, cl_int *error)
{
    const char *bytes = text->bytes;
    return layer_target.clCreateProgramWithSource(context, 1, &bytes, &text->size, error);
}

/* Creates a program for each header. The arrays have room for one more element, because calloc may return NULL for a
 * size of 0. */
static cl_int create_headers(cl_context context, size_t count, const ingot_source_view_t *headers, cl_program *programs,
                             const char **names)
{
    cl_int error = programs != NULL && names != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < count && error == CL_SUCCESS; ++i) {
        programs[i] = compiler_create(context, &headers[i], &error);
        names[i] = headers[i].name;
    }
    return error;
}

cl_int compiler_run(cl_context context, cl_program native, const char *options, size_t header_count,
                    const ingot_source_view_t *headers)
{
    cl_program *programs = calloc(header_count + 1, sizeof(*programs));
    const char **names = calloc(header_count + 1, sizeof(*names));
    cl_int error = create_headers(context, header_count, headers, programs, names);
    if (error == CL_SUCCESS)
        error = layer_target.clCompileProgram(native, 0, NULL, options, (cl_uint)header_count,
                                              header_count > 0 ? programs : NULL, header_count > 0 ? names : NULL, NULL,
                                              NULL);
    for (size_t i = 0; i < header_count && programs != NULL; ++i) {
        if (programs[i] != NULL)
            (void)layer_target.clReleaseProgram(programs[i]);
    }
    free(programs);
    free((void *)names);
    return error;
}

static cl_program create_with_il(cl_context context, const ingot_source_view_t *il)
{
    cl_program(CL_API_CALL * create)(cl_context, const void *, size_t, cl_int *) = layer_target.clCreateProgramWithIL;
    cl_int error = CL_SUCCESS;
    cl_program native = create != NULL ? create(context, il->bytes, il->size, &error) : NULL;
    if (native == NULL) { /* a driver of OpenCL 2.0 has it as an extension */
        *(void **)&create = extension_find_for_context(context, "clCreateProgramWithILKHR");
        native = create != NULL ? create(context, il->bytes, il->size, &error) : NULL;
    }
    return native;
}

cl_program compiler_build(cl_context context, const ingot_build_request_t *request, const char *options)
{
    cl_int error = CL_SUCCESS;
    const ingot_source_view_t *source = &request->sources[0];
    cl_program native =
        source->kind == INGOT_SOURCE_SPIRV ? create_with_il(context, source) : compiler_create(context, source, &error);
    if (native == NULL)
        return NULL;
    for (size_t i = 0; i < request->spec_constant_count && error == CL_SUCCESS; ++i)
        error = layer_target.clSetProgramSpecializationConstant(
            native, request->spec_constants[i].id, request->spec_constants[i].size, request->spec_constants[i].value);
    if (error == CL_SUCCESS)
        error = layer_target.clBuildProgram(native, 0, NULL, options, NULL, NULL);
    if (error == CL_SUCCESS)
        return native;
    (void)layer_target.clReleaseProgram(native);
    return NULL;
}

cl_program compiler_try_options(cl_context context, const char *options, bool is_compilation)
{
    const ingot_source_view_t text = {.bytes = "\n", .size = 1};
    cl_int error = CL_SUCCESS;
    cl_program native = compiler_create(context, &text, &error);
    if (native == NULL)
        return NULL;
    if (is_compilation)
        (void)layer_target.clCompileProgram(native, 0, NULL, options, 0, NULL, NULL, NULL, NULL);
    else
        (void)layer_target.clBuildProgram(native, 0, NULL, options, NULL, NULL);
    return native; /* also after a failure, because the options are known then, too */
}

cl_program compiler_publish(_Atomic(cl_program) *place, cl_program made)
{
    cl_program first = NULL;
    if (made == NULL ||
        atomic_compare_exchange_strong_explicit(place, &first, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    (void)layer_target.clReleaseProgram(made);
    return first;
}

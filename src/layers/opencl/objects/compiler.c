/*
 * compiler.c - calls clCompileProgram with headers that are given as texts instead of programs.
 */
#include "layers/opencl/objects/compiler.h"

#include <stdlib.h>
#include <string.h>

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

/*
 * compiler.h - calls clCompileProgram with headers that are given as texts instead of programs.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_COMPILER_H
#define INGOT_LAYERS_OPENCL_OBJECTS_COMPILER_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>

/* These link options in a descriptor mark an object that is compiled with NULL options, because PoCL distinguishes NULL
 * from empty options. */
#define OBJECT_WITHOUT_OPTIONS "-without-compile-options"

/* Returns the compile options of an object's request, or NULL if the application gave none. */
const char *compiler_options_of(const ingot_build_request_t *request);

/* Creates a program from a text. The caller releases it. */
cl_program compiler_create(cl_context context, const ingot_source_view_t *text, cl_int *error);

/* Compiles a program for all of its devices, with these texts as headers. `options` may be NULL. */
cl_int compiler_run(cl_context context, cl_program native, const char *options, size_t header_count,
                    const ingot_source_view_t *headers);

#endif

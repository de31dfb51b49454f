/*
 * compiler.h - builds programs from requests, and calls clCompileProgram with headers that are given as texts instead
 * of programs.
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

/* Creates a program from the request's text or intermediate language, and builds it for all of its devices. `options`
 * may be NULL, and replaces those of the request. The caller releases the program. Returns NULL on failure. */
cl_program compiler_build(cl_context context, const ingot_build_request_t *request, const char *options);

/* Returns a program without kernels that was built or compiled with these options, or NULL. The driver reports the
 * options of any program in the same way, and this one reads no files. The caller releases it. */
cl_program compiler_try_options(cl_context context, const char *options, bool is_compilation);

/* Stores a program in *place, unless another thread has stored one: then releases it. Returns the stored program, or
 * NULL if `made` is NULL. */
cl_program compiler_publish(_Atomic(cl_program) *place, cl_program made);

/* Compiles a program for all of its devices, with these texts as headers. `options` may be NULL. */
cl_int compiler_run(cl_context context, cl_program native, const char *options, size_t header_count,
                    const ingot_source_view_t *headers);

#endif

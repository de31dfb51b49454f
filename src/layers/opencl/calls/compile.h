/*
 * compile.h - functions that clCompileProgram and the compilation of a recipe's objects (recipe.c) share.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_COMPILE_H
#define INGOT_LAYERS_OPENCL_CALLS_COMPILE_H

#include "layers/opencl/program/shadow.h"

/* Finds the shadow's context. Fails and sets the error detail if that context cannot compile objects. Call this and the
 * next function between shadow_begin_work and shadow_end_work. */
ingot_status_t compile_find_context(struct shadow *shadow);
/* Loads or compiles an object. Takes over the headers on success; the options may be NULL. */
ingot_status_t compile_object(const struct shadow *shadow, ingot_program_desc_t desc, const char *options,
                              struct object_headers *headers, struct object **object);

#endif

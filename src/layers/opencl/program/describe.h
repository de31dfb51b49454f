/*
 * describe.h - a program as Ingot describes it.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_DESCRIBE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_DESCRIBE_H

#include "layers/opencl/program/shadow.h"

/* Describes a build of the shadow, which must have a context. The caller releases the descriptor. INGOT_NOT_CACHEABLE,
 * with a detail: the build must pass through. */
ingot_status_t describe_build(const struct shadow *shadow, const char *options, ingot_program_desc_t *desc);

#endif

/*
 * describe.h - creates Ingot's descriptors for builds of the application.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_DESCRIBE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_DESCRIBE_H

#include "layers/opencl/program/shadow.h"

/* Describes a build of the shadow, which must have a context. The caller releases the descriptor. If only the driver
 * can do the build, sets the error detail and returns INGOT_NOT_CACHEABLE. */
ingot_status_t describe_build(const struct shadow *shadow, const char *options, ingot_program_desc_t *desc);

#endif

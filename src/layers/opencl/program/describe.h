/*
 * describe.h - creates Ingot's descriptors for builds and compilations of the application.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_DESCRIBE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_DESCRIBE_H

#include "layers/opencl/program/shadow.h"

/* Describes a build of the shadow, which must have a context. The caller releases the descriptor. If the program
 * includes files, fills in `request`, and the caller must call kept_request_fini. If only the driver can do the build,
 * sets the error detail and returns INGOT_NOT_CACHEABLE. */
ingot_status_t describe_build(const struct shadow *shadow, const char *options, struct kept_request *request,
                              ingot_program_desc_t *desc);

/* Describes a compilation of the shadow with these headers. The shadow must have a context for objects. `options` may
 * be NULL. In all other respects, this is like describe_build. */
ingot_status_t describe_compilation(const struct shadow *shadow, const char *options,
                                    const struct object_headers *headers, ingot_program_desc_t *desc);

/* Copies a header's name, and its text from the shadow. The caller frees both. */
ingot_status_t describe_header(const struct shadow *shadow, const char *name, ingot_source_view_t *header);

#endif

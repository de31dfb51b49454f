/*
 * kept_request.h - keeps the compiler's input, to compile it later.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_KEPT_REQUEST_H
#define INGOT_LAYERS_OPENCL_OBJECTS_KEPT_REQUEST_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>

/* The headers of a compilation. */
struct object_headers {
    size_t count;
    ingot_source_view_t *texts; /* with their names; each text and each name is a separate block */
};

/* A copy of a build request, with all texts, so that compiling it reads no files. */
struct kept_request {
    ingot_source_view_t text; /* its `bytes` is NULL if no request is kept */
    char *options;            /* NULL: none */
    struct object_headers headers;
};

/* Frees the texts and the names. */
void object_headers_fini(struct object_headers *headers);

/* Copies what the compiler would get for this descriptor of an object. If a file has changed since the descriptor was
 * created, sets the error detail and returns INGOT_NOT_CACHEABLE. */
ingot_status_t kept_request_take(struct kept_request *kept, ingot_program_desc_t desc);
/* Like kept_request_take, but keeps nothing if the compiler would get only the application's own text, because the
 * descriptor has that. */
ingot_status_t kept_request_take_of_files(struct kept_request *kept, ingot_program_desc_t desc, size_t own_size,
                                          const char *own_text);
/* Fails in the same way if the compiler would get something else for this descriptor now. */
ingot_status_t kept_request_check(ingot_program_desc_t desc);
void kept_request_fini(struct kept_request *kept);
/* Moves a request to an empty one, and empties it. */
void kept_request_move(struct kept_request *to, struct kept_request *from);

/* Compiles the request. Returns a new program, which the caller releases. On failure, sets the error detail and returns
 * NULL. */
cl_program kept_request_compile(const struct kept_request *kept, cl_context context);

/* Builds the request or, if nothing was kept, that of the descriptor. If `has_options` is false, the application gave
 * none. Returns a new program, which the caller releases, or NULL. */
cl_program kept_request_build(const struct kept_request *kept, const_ingot_program_desc_t desc, cl_context context,
                              bool has_options);

#endif

/*
 * kept_request.h - builds programs again from what their ids cover, without reading files.
 *
 * By the time of such a build, the files that a program includes may have changed. So the text that the compiler got is
 * kept for programs that include files. For all others, the descriptor has it.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_KEPT_REQUEST_H
#define INGOT_LAYERS_OPENCL_PROGRAM_KEPT_REQUEST_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>

/* The compiler's input for a program that includes files. */
struct kept_request {
    ingot_source_view_t text; /* its `bytes` is NULL if nothing is kept */
    char *options;
};

/* Copies what the compiler would get for this descriptor, unless that is only the application's own text. If a file has
 * changed since the descriptor was created, sets the error detail and returns INGOT_NOT_CACHEABLE. */
ingot_status_t kept_request_take(struct kept_request *kept, ingot_program_desc_t desc, size_t own_size,
                                 const char *own_text);
/* Fails in the same way if the compiler would get something else for this descriptor now. */
ingot_status_t kept_request_check(ingot_program_desc_t desc);
void kept_request_fini(struct kept_request *kept);
/* Moves a request to an empty one, and empties it. */
void kept_request_move(struct kept_request *to, struct kept_request *from);

/* Builds the request or, if nothing was kept, that of the descriptor. If `has_options` is false, the application gave
 * none. Returns a new program, which the caller releases, or NULL. */
cl_program kept_request_build(const struct kept_request *kept, const_ingot_program_desc_t desc, cl_context context,
                              bool has_options);

/* Returns a program without kernels that was built with these options, or NULL. The driver reports the options of any
 * program in the same way, and this one reads no files. The caller releases it. */
cl_program kept_request_try_options(cl_context context, const char *options);

/* Stores a program in *place, unless another thread has stored one: then releases it. Returns the stored program, or
 * NULL if `made` is NULL. */
cl_program kept_request_publish(_Atomic(cl_program) *place, cl_program made);

#endif

/*
 * kept_request.h - makes programs again from what their ids cover, without reading files.
 *
 * By then, the files that a program includes may have changed. So the text that the compiler got is
 * kept for programs that include files. For all others, the descriptor has it.
 */
#ifndef INGOT_LAYERS_OPENCL_COMPILER_KEPT_REQUEST_H
#define INGOT_LAYERS_OPENCL_COMPILER_KEPT_REQUEST_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>

/* The compiler's input. */
struct kept_request {
    ingot_source_view_t text; /* its `bytes` is NULL if the program includes no files */
    char *options;
};

/* Copies what the compiler would get for this descriptor, but no text that is the application's own. If a file has
 * changed since the descriptor was created, sets the error detail and returns INGOT_NOT_CACHEABLE. */
ingot_status_t kept_request_take(struct kept_request *kept, ingot_program_desc_t desc, size_t own_size,
                                 const char *own_text);
/* Fails in the same way if the compiler would get something else for this descriptor now. */
ingot_status_t kept_request_check(ingot_program_desc_t desc);
void kept_request_fini(struct kept_request *kept);
/* Moves a request to an empty one, and empties it. */
void kept_request_move(struct kept_request *to, struct kept_request *from);

/* Creates a program from the kept text or, if there is none, from that of the descriptor, without building it. Returns
 * a new program, which the caller releases, or NULL. */
cl_program kept_request_create(const struct kept_request *kept, const_ingot_program_desc_t desc, cl_context context);

/* Creates a program without kernels. Otherwise as kept_request_create. */
cl_program kept_request_create_empty(cl_context context);

/* Stores a program in *place, unless another thread has stored one: then releases it. Returns the stored program, or
 * NULL if `made` is NULL. */
cl_program kept_request_publish(_Atomic(cl_program) *place, cl_program made);

#endif

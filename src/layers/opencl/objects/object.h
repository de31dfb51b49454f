/*
 * object.h - an object: a program as clCompileProgram made it.
 *
 * Objects are reference-counted and immutable, except that an object that was loaded is compiled when the driver
 * needs it. By then, the files that it includes may have changed or disappeared, so the object keeps the compiler's
 * input.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_OBJECT_H
#define INGOT_LAYERS_OPENCL_OBJECTS_OBJECT_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>

#include "layers/opencl/objects/kept_request.h"

struct object {
    _Atomic unsigned references;
    ingot_program_desc_t desc;
    size_t id_size;
    const uint8_t *id; /* belongs to desc */
    cl_context context;
    char *options; /* NULL: the application gave none */
    struct object_headers headers;
    char *log;
    ingot_program_t program;
    bool is_of_recipe; /* never compiled by the application's own call, which would read files of this machine */
    struct kept_request request;      /* empty unless `program` was loaded */
    _Atomic(cl_program) compiled;     /* compiled from `request`; NULL: not needed yet */
    _Atomic(cl_program) options_twin; /* see object_get_options_twin; NULL: not needed yet */
};

/* Creates the object of a compilation. Copies the options, which may be NULL, and takes over the headers on success.
 * If memory runs out, or if the id does not identify the program, sets the error detail and fails. */
ingot_status_t object_create(struct object **object, ingot_program_desc_t desc, cl_context context, const char *options,
                             struct object_headers *headers, ingot_program_t program);
void object_retain(struct object *object);
/* Drops a reference. Does nothing if object is NULL. */
void object_release(struct object *object);

/* Compiles the application's own program as the application asked. Fails for an object of a recipe, and if a file that
 * it includes has changed since. */
cl_int object_compile_native(const struct object *object, cl_program native);

/* Returns the driver's compiled program, which lives as long as the object. If it could not be compiled from what the
 * id covers, sets the error detail and returns NULL. */
cl_program object_get_native(struct object *object);
/* Returns a program that reports the application's options as the driver does, or NULL. It lives as long as the
 * object. */
cl_program object_get_options_twin(struct object *object);

#endif

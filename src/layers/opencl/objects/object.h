/*
 * object.h - a program as clCompileProgram left it.
 *
 * Counted and immutable, except that an object that was loaded is compiled when the driver needs it. Only objects that
 * were made of no file are loaded, so this gives what a compilation gave at once.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_OBJECT_H
#define INGOT_LAYERS_OPENCL_OBJECTS_OBJECT_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>

/* The link options in the descriptor of an object that is compiled with NULL for options: to PoCL these are not those
 * that are empty. */
#define OBJECT_WITHOUT_OPTIONS "-without-compile-options"

/* The headers that the application gave to clCompileProgram. */
struct object_headers {
    size_t count;
    ingot_source_view_t *texts; /* with their names; each text and each name is a block of its own */
};

struct object {
    _Atomic unsigned references;
    ingot_program_desc_t desc;
    size_t id_size;
    const uint8_t *id; /* the desc's */
    cl_context context;
    char *options; /* NULL: the application gave none */
    struct object_headers headers;
    char *log;
    ingot_program_t program;
    _Atomic(ingot_program_t) compiled; /* of the same descriptor, if `program` was loaded; NULL: not needed yet */
};

/* Frees the texts and the names. */
void object_headers_fini(struct object_headers *headers);

/* Returns the object of a compilation. The options are copied and may be NULL; takes over the headers on success. A
 * failure has a detail: no memory, or a program that is not known by its id. */
ingot_status_t object_create(struct object **object, ingot_program_desc_t desc, cl_context context, const char *options,
                             struct object_headers *headers, ingot_program_t program);
void object_retain(struct object *object);
/* NULL does nothing. */
void object_release(struct object *object);

/* Compiles the application's own program as it asked. */
cl_int object_compile_native(const struct object *object, cl_program native);

/* Returns the driver's compiled program, which lives as long as the object. NULL, with a detail: it could not be
 * compiled of what the id covers. */
cl_program object_get_native(struct object *object);

#endif

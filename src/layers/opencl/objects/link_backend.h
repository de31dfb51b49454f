/*
 * link_backend.h - linked programs as programs of Ingot.
 *
 * The key of a link consists of its options and the ids of its objects, in order. These cover every byte that was
 * compiled.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_LINK_BACKEND_H
#define INGOT_LAYERS_OPENCL_OBJECTS_LINK_BACKEND_H

#include "layers/opencl/objects/object.h"
#include "layers/opencl/objects/piece.h"

/* A call of clLinkProgram without a callback. */
struct link_call {
    cl_context context;
    cl_uint device_count;
    const cl_device_id *devices;
    const char *options; /* or NULL */
    size_t object_count;
    struct object *const *objects;
    /* set by the call */
    bool was_made;       /* the driver was asked */
    uint64_t objects_ns; /* for the compilation of objects that were loaded */
    cl_int error;
    cl_program native; /* some drivers create one even if they fail */
};

/* Makes the call, after compiling the objects that were loaded. Returns false if one could not be compiled; the driver
 * was then not asked. */
bool link_call_make(struct link_call *call);

/* Describes the call's program. */
ingot_status_t link_describe(ingot_context_t links, const struct link_call *call, ingot_program_desc_t *desc);

/* The calling thread links by this call when Ingot asks it to build a linked program. NULL: no more. */
void link_set_call(struct link_call *call);

#endif

/*
 * link_backend.h - the Ingot backend for programs that clLinkProgram makes.
 *
 * The key of a link consists of its options and the ids of its objects, in order. These cover every byte that was
 * compiled.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_LINK_BACKEND_H
#define INGOT_LAYERS_OPENCL_OBJECTS_LINK_BACKEND_H

#include "layers/opencl/objects/object.h"
#include "layers/opencl/objects/piece.h"

/* A call to clLinkProgram without a callback. */
struct link_call {
    cl_context context;
    cl_uint device_count;
    const cl_device_id *devices;
    const char *options; /* may be NULL */
    size_t object_count;
    struct object *const *objects;
    /* set by link_call_make */
    bool was_made;       /* true if the driver was asked to link */
    uint64_t objects_ns; /* time spent compiling objects that had been loaded */
    cl_int error;
    cl_program native; /* some drivers create one even if the link fails */
};

/* Makes the call. First compiles those objects that were loaded, because they have no native program. Fails without
 * asking the driver to link if one of them could not be compiled (INGOT_NOT_CACHEABLE) or if memory ran out. */
ingot_status_t link_call_make(struct link_call *call);

/* Creates the descriptor of the call's program. */
ingot_status_t link_describe(ingot_context_t links, const struct link_call *call, ingot_program_desc_t *desc);

/* Sets the call that the backend makes when Ingot asks it to build a linked program in this thread. NULL removes it. */
void link_set_call(struct link_call *call);

#endif

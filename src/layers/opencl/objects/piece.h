/*
 * piece.h - what clCompileProgram and clLinkProgram make, as programs of Ingot.
 *
 * Compiled objects and linked programs have one backend each. Both wrap the OpenCL backend, whose devices, drivers,
 * compilers and text rules they use. So an object is compiled from the text that its id covers, like any program. Both
 * backends are for contexts with one device.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_PIECE_H
#define INGOT_LAYERS_OPENCL_OBJECTS_PIECE_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>
#include <stdatomic.h>

/* What the driver answers about a linked program, and perhaps not about one that was created from its binary. */
struct fact {
    cl_program_info name;
    cl_int error;
    uint32_t size;
    uint8_t *bytes; /* NULL if the size is 0 */
};
#define FACT_COUNT 2u

/* A backend's program. */
struct piece {
    cl_program native;      /* NULL: an object that was loaded and not compiled */
    atomic_bool is_taken;   /* owned by a shadow */
    atomic_bool is_changed; /* the application had it built again, so it no longer matches its id */
    struct fact facts[FACT_COUNT];
};

/* The state of a backend. */
struct piece_state {
    ingot_context_t opencl; /* referenced: it owns the state of the OpenCL backend */
    const ingot_backend_ops_t *opencl_ops;
    void *opencl_state;
    cl_context context; /* of the application; its programs keep it alive */
    cl_device_id device;
};

/* Creates a context for the pieces of a native context with one device. `opencl` is the context for its programs. */
ingot_status_t piece_create_object_context(ingot_context_t *context, ingot_context_t opencl, cl_context native,
                                           cl_device_id device);
ingot_status_t piece_create_link_context(ingot_context_t *context, ingot_context_t opencl, cl_context native,
                                         cl_device_id device);

/* Returns the piece of a program, or NULL. */
struct piece *piece_of_object(ingot_program_t program);
struct piece *piece_of_link(ingot_program_t program);

/* For both backends. Fills in the operations that they share. */
void piece_complete_ops(ingot_backend_ops_t *ops);
ingot_status_t piece_create_context(ingot_context_t *context, const ingot_backend_ops_t *ops, ingot_context_t opencl,
                                    cl_context native, cl_device_id device);
/* Takes over the reference to the native program, even on failure. */
ingot_status_t piece_create(cl_program native, struct piece **piece);
void piece_destroy(struct piece *piece);
/* Appends the messages of the driver's compiler or linker. */
ingot_status_t piece_write_log(cl_program native, cl_device_id device, ingot_sink_t *log);
/* Returns the text of a program's log; the caller frees it. NULL if memory runs out. */
char *piece_read_log(cl_program native, cl_device_id device);
/* Does the same for a program of Ingot. */
char *piece_copy_log(ingot_program_t program);

#endif

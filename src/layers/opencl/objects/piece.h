/*
 * piece.h - a piece: an Ingot program that holds what clCompileProgram or clLinkProgram made.
 *
 * Compiled objects and linked programs have separate backends. Both wrap the OpenCL backend, and use its devices,
 * drivers, compilers and text rules. So an object is compiled from the text that its id covers, like any program.
 * Both backends are for contexts with one device.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_PIECE_H
#define INGOT_LAYERS_OPENCL_OBJECTS_PIECE_H

#include "layers/opencl/layer.h"

#include <ingot/backend.h>
#include <stdatomic.h>

/* A driver's answer to a query about a linked program. A program created from its binary may answer differently. */
struct fact {
    cl_program_info name;
    cl_int error;
    uint32_t size;
    uint8_t *bytes; /* NULL if the size is 0 */
};
#define FACT_COUNT 2u

/* The program of one of these backends. */
struct piece {
    cl_program native;      /* NULL for an object that was loaded */
    atomic_bool is_taken;   /* true if a shadow owns it */
    atomic_bool is_changed; /* true if the application built it again, so that it no longer matches its id */
    struct fact facts[FACT_COUNT];
};

/* The state of a backend. */
struct piece_state {
    ingot_context_t opencl; /* referenced: it owns the state of the OpenCL backend */
    const ingot_backend_ops_t *opencl_ops;
    void *opencl_state;
    cl_context context; /* the application's context; its programs keep it alive */
    cl_device_id device;
};

/* Create the Ingot context for the objects or for the linked programs of a native context with one device. `opencl` is
 * the Ingot context for all other programs of that native context. */
ingot_status_t piece_create_object_context(ingot_context_t *context, ingot_context_t opencl, cl_context native,
                                           cl_device_id device);
ingot_status_t piece_create_link_context(ingot_context_t *context, ingot_context_t opencl, cl_context native,
                                         cl_device_id device);

/* Returns the piece of a program, or NULL. */
struct piece *piece_of_object(ingot_program_t program);
struct piece *piece_of_link(ingot_program_t program);

/* Fills in the operations that both backends share. The functions below are for both backends, too. */
void piece_complete_ops(ingot_backend_ops_t *ops);
ingot_status_t piece_create_context(ingot_context_t *context, const ingot_backend_ops_t *ops, ingot_context_t opencl,
                                    cl_context native, cl_device_id device);
/* Creates a piece. Takes over the reference to the native program, even on failure. */
ingot_status_t piece_create(cl_program native, struct piece **piece);
void piece_destroy(struct piece *piece);
/* Writes the messages of the driver's compiler or linker to `log`. */
ingot_status_t piece_write_log(cl_program native, cl_device_id device, ingot_sink_t *log);
/* Returns the build log of a driver's program, or NULL if memory runs out. The caller frees it. */
char *piece_read_log(cl_program native, cl_device_id device);
/* Returns the build log of an Ingot program, or NULL on failure. The caller frees it. */
char *piece_copy_log(ingot_program_t program);

#endif

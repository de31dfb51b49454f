/*
 * binaries.h - the driver's whole binaries of a program, which an application asks for by CL_PROGRAM_BINARIES.
 *
 * A program's blob has only what loading needs. Once an application has asked for the binaries of a program, they are
 * kept in the store, too, so that later processes get them without a build.
 */
#ifndef INGOT_LAYERS_OPENCL_COMPILER_BINARIES_H
#define INGOT_LAYERS_OPENCL_COMPILER_BINARIES_H

#include "layers/opencl/layer.h"

struct binaries;

/* Reads the binaries of a program that the driver built, and keeps them in the store. Returns NULL on failure. */
struct binaries *binaries_read(const_ingot_program_desc_t desc, cl_program native);
/* Loads the binaries of a program from the store. Returns NULL if it does not have them for this many devices. */
struct binaries *binaries_load(const_ingot_program_desc_t desc, cl_uint device_count);
/* Answers a query for CL_PROGRAM_BINARIES or CL_PROGRAM_BINARY_SIZES. */
cl_int binaries_answer(const struct binaries *binaries, cl_program_info name, size_t capacity, void *value,
                       size_t *size_ret);
/* Does nothing if binaries is NULL. */
void binaries_destroy(struct binaries *binaries);

#endif

/*
 * compiler.h - counts and traces the builds that reach the driver's compiler, and keeps what it refused.
 *
 * Ingot builds through a table of functions, which is the target's except for two functions of this file. A program
 * that the compiler refuses is kept, so that the application gets its answers without a second compilation.
 */
#ifndef INGOT_LAYERS_OPENCL_COMPILER_COMPILER_H
#define INGOT_LAYERS_OPENCL_COMPILER_COMPILER_H

#include "layers/opencl/layer.h"

/* A program that the compiler refused. */
struct refusal {
    cl_int error;
    cl_program native; /* NULL: the compiler refused none */
};

/* Returns the table for Ingot's contexts. */
const cl_icd_dispatch *compiler_table(void);

/* If this thread builds between the two calls, and the compiler refuses the program, *refusal receives it. `refusal`
 * may be NULL. */
void compiler_begin(struct refusal *refusal);
void compiler_end(void);
void compiler_refusal_fini(struct refusal *refusal);

/* Builds a program of the driver for all of its devices, because only the driver's own program can answer a call. */
cl_int compiler_build(cl_program native, const char *options);

/* Returns the build log of a driver's program, or NULL if memory runs out. The caller frees it. */
char *compiler_read_log(cl_program native, cl_device_id device);

#endif

/*
 * compiler.h - counts and traces the builds that reach the driver's compiler, and remembers what it refused.
 *
 * Ingot builds through a table of functions, which is the target's except for a few functions of this file. A program
 * that the compiler refuses is kept, so that the application gets its answers without a second compilation. If the
 * refusal is one of the source, the store keeps it for a day, so that the next process does not compile the program.
 */
#ifndef INGOT_LAYERS_OPENCL_COMPILER_COMPILER_H
#define INGOT_LAYERS_OPENCL_COMPILER_COMPILER_H

#include "layers/opencl/layer.h"

/* A program that the compiler refused. */
struct refusal {
    cl_int error;
    cl_program native; /* NULL: the store remembered the refusal */
    char *log;
};

/* Returns the table for Ingot's contexts. */
const cl_icd_dispatch *compiler_table(void);

/* If this thread builds `desc` between the two calls, and the compiler refuses it, *refusal receives the refused
 * program. If the store remembers the refusal, the compiler is not called. `refusal` may be NULL. */
void compiler_begin(struct refusal *refusal, const_ingot_program_desc_t desc);
void compiler_end(void);

/* Reads the log of a refusal that the compiler made now, for a program of one device. If may_be_kept is true, and the
 * log names a place in the source, keeps the refusal in the store. Returns false if there is none. */
bool compiler_complete_refusal(struct refusal *refusal, const_ingot_program_desc_t desc, cl_device_id device,
                               bool may_be_kept);
void compiler_refusal_fini(struct refusal *refusal);

/* Builds a program of the driver for all of its devices, for a purpose of the layer, which the trace states. */
cl_int compiler_build(cl_program native, const char *options, const char *purpose);

/* Returns the build log of a driver's program, or NULL if memory runs out. The caller frees it. */
char *compiler_read_log(cl_program native, cl_device_id device);

#endif

/*
 * result.h - a result: a program that Ingot built or loaded, or that the compiler refused, and its answers to queries.
 *
 * Results are immutable and reference-counted. A thread that queries one holds a reference, because another thread may
 * build the same program again at the same time.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_RESULT_H
#define INGOT_LAYERS_OPENCL_PROGRAM_RESULT_H

#include "layers/opencl/layer.h"

#include "layers/opencl/compiler/compiler.h"
#include "layers/opencl/program/contexts.h"

struct result {
    _Atomic unsigned references;
    ingot_program_desc_t desc;
    const struct layer_context *context; /* that of its shadow, which lives longer */
    ingot_program_t program;             /* NULL: the compiler refused the program, and the layer owns `native` */
    cl_program native;
    cl_int error;           /* not CL_SUCCESS: the compiler refused the program */
    cl_uint own_references; /* reference count of `native` when it had no kernels */
    bool is_loaded;         /* `native` may have been made from a binary */
    bool is_shared;         /* true if another thread made `program` and also has a result with it */
    bool has_options;       /* false: the application gave NULL */
    char *options;          /* as the application gave them */
    char *log;              /* as the application gets it */
    size_t earlier_size;    /* how much of the log is of earlier builds of the application's program */
};

/* How a result is made. */
struct result_info {
    const struct layer_context *context;
    ingot_program_desc_t desc;
    const char *options;     /* NULL: the application gave none */
    const char *earlier_log; /* of the application's earlier builds of the program, if the driver adds to it */
};

/* Gets a program. If the compiler refuses it, and `refusal` is not NULL, fills that in. On failure, sets the error
 * detail. Returns INGOT_NOT_FOUND if the store lacks the program, and the layer does not compile it: it
 * is left to the driver, or nothing may be compiled. */
ingot_status_t result_create(struct result **result, const struct result_info *info, struct refusal *refusal);
/* Makes a result of what the compiler refused. Takes the refusal's program. Returns NULL if memory runs out. */
struct result *result_create_refused(const struct result_info *info, struct refusal *refusal);

/* True if the driver would get the same texts if it built the program now. */
bool result_is_unchanged(const struct result *result);

void result_retain(struct result *result);
/* Drops a reference. Does nothing if result is NULL. */
void result_release(struct result *result);
/* Stores the program once more if launches have added code to it (PoCL). Nothing else may use the program anymore, and
 * it must be as Ingot built it. Does nothing for NULL. */
void result_store_launches(const struct result *result);

/* Returns a log that begins with that of earlier builds, as a driver with LOG_RULE_ALL puts them together, or NULL if
 * memory runs out. The caller frees it. */
char *result_join_logs(const char *earlier, const char *log);

/* Returns the driver's reference count of a program (CL_PROGRAM_REFERENCE_COUNT). */
cl_uint result_count_references(cl_program native);

/* Returns how many references and kernels the driver counts in addition to the layer's own. */
cl_uint result_count_uses(const struct result *result);

#endif

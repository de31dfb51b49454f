/*
 * result.h - a result: a program that Ingot built or loaded, or that the compiler refused, and its answers to queries.
 *
 * Results are immutable and reference-counted. A thread that queries one holds a reference, because another thread may
 * build the same program again at the same time.
 *
 * By the time of a query, the files that the program includes may have changed. So a result keeps the text that the
 * compiler got, or would have got.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_RESULT_H
#define INGOT_LAYERS_OPENCL_PROGRAM_RESULT_H

#include "layers/opencl/layer.h"

#include <stdatomic.h>

#include "layers/opencl/compiler/binaries.h"
#include "layers/opencl/compiler/compiler.h"
#include "layers/opencl/compiler/kept_request.h"
#include "layers/opencl/program/contexts.h"

struct result {
    _Atomic unsigned references;
    ingot_program_desc_t desc;
    const struct layer_context *context; /* that of its shadow, which lives longer */
    ingot_program_t program;             /* NULL if `native` is owned */
    cl_program native;
    bool is_owned;          /* `native` is a program of the layer: the twin of another result, or a refused program */
    cl_int error;           /* not CL_SUCCESS: the compiler refused the program */
    atomic_bool is_unbuilt; /* the store remembered the refusal, and `native` has not been built */
    cl_uint own_references; /* reference count of `native` when it had no kernels */
    bool is_loaded;         /* `native` may have been made from a binary */
    bool is_shared;         /* true if another thread made `program` and also has a result with it */
    uint64_t duration_ns;   /* of the build or load */
    bool has_options;       /* false: the application gave NULL */
    char *options;          /* as the application gave them */
    char *log;              /* as the application gets it */
    size_t earlier_size;    /* how much of the log is of earlier builds of the application's program */
    bool has_files;         /* the program includes files */
    struct kept_request request;         /* empty if this is the twin of another result */
    _Atomic(cl_program) twin;            /* see result_get_twin; NULL: not needed yet */
    _Atomic(cl_program) options_twin;    /* see result_get_options_twin; NULL: not needed yet */
    _Atomic(struct binaries *) binaries; /* see result_get_binaries; NULL: not needed yet */
};

/* How a result is made. */
struct result_info {
    const struct layer_context *context;
    ingot_program_desc_t desc;
    const char *options;          /* NULL: the application gave none */
    struct kept_request *request; /* the new result takes its content, unless result_create fails */
    const char *earlier_log;      /* of the application's earlier builds of the program, if the driver adds to it */
};

/* Gets a program. If the compiler refuses it, and `refusal` is not NULL, fills that in. On failure, sets the error
 * detail. */
ingot_status_t result_create(struct result **result, const struct result_info *info, struct refusal *refusal);
/* Makes a result of what the compiler refused. Takes the refusal's program. Returns NULL if memory runs out. */
struct result *result_create_refused(const struct result_info *info, struct refusal *refusal);
/* Returns a result whose program is the twin of another result, or NULL. */
struct result *result_create_of_twin(struct result *result);

/* Returns a program that was built from what the id covers, in this process and without reading files. It answers
 * queries that a program made from a binary cannot answer. It lives as long as the result. NULL on failure. */
cl_program result_get_twin(struct result *result);
/* Returns a program that reports the application's options as the driver does, or NULL. It lives as long as the
 * result. */
cl_program result_get_options_twin(struct result *result);
/* Returns the binaries of a fresh build, or NULL if only the driver can answer. They live as long as the result. */
struct binaries *result_get_binaries(struct result *result);
/* Returns the program that the driver is asked for binaries. PoCL keeps its first answer, and generates code at launch.
 * So if Ingot built the program, its twin is asked, which PoCL's cache makes cheap; what is stored later then also has
 * the code of all launches. */
cl_program result_get_with_binaries(struct result *result);
/* Lets the compiler refuse a program whose refusal only the store remembered. One thread at a time may call this. */
void result_build_refused(struct result *result);
/* True if the driver would get the same texts if it built the program now. */
bool result_is_unchanged(const struct result *result);

void result_retain(struct result *result);
/* Drops a reference. Does nothing if result is NULL. */
void result_release(struct result *result);

/* Returns a log that begins with that of earlier builds, as a driver with LOG_RULE_ALL puts them together, or NULL if
 * memory runs out. The caller frees it. */
char *result_join_logs(const char *earlier, const char *log);

/* Returns the driver's reference count of a program (CL_PROGRAM_REFERENCE_COUNT). */
cl_uint result_count_references(cl_program native);

/* Returns how many references and kernels the driver counts in addition to the layer's own. */
cl_uint result_count_uses(const struct result *result);

#endif

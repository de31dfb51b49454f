/*
 * result.h - a result: a program that Ingot built or loaded, and its answers to queries.
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

#include "layers/opencl/program/kept_request.h"

struct result {
    _Atomic unsigned references;
    ingot_program_desc_t desc;
    ingot_program_t program; /* NULL if is_twin is true */
    cl_program native;
    bool is_twin;           /* `native` is the twin of another result */
    cl_uint own_references; /* reference count of `native` when it had no kernels */
    bool is_loaded;         /* `native` may have been made from a binary */
    bool is_shared;         /* another thread made the program and has it, too */
    uint64_t duration_ns;   /* of the build or load */
    bool has_options;       /* false: the application gave NULL */
    char *options;          /* as the application gave them */
    char *log;
    bool has_files;                   /* the program includes files */
    struct kept_request request;      /* with their texts; empty unless has_files is true */
    _Atomic(cl_program) twin;         /* see result_get_twin; NULL: not needed yet */
    _Atomic(cl_program) options_twin; /* see result_get_options_twin; NULL: not needed yet */
};

/* Gets the program of `desc`, for a native context with this many devices. `options` may be NULL. Copies `request`,
 * which is empty if the program includes no files, unless this fails. On failure, sets the error detail. */
ingot_status_t result_create(struct result **result, ingot_program_desc_t desc, cl_uint device_count,
                             const char *options, struct kept_request *request);
/* Returns a result whose program is the twin of another result, or NULL. */
struct result *result_create_of_twin(struct result *result, cl_context context);

/* Returns a program that was built from what the id covers, in this process and without reading files. It answers
 * queries that a program made from a binary cannot answer. It lives as long as the result. NULL on failure. */
cl_program result_get_twin(struct result *result, cl_context context);
/* Returns a program that reports the application's options as the driver does, or NULL. It lives as long as the
 * result. */
cl_program result_get_options_twin(struct result *result, cl_context context);
/* True if the driver would get the same texts if it built the program now. */
bool result_is_unchanged(const struct result *result);

void result_retain(struct result *result);
/* Drops a reference. Does nothing if result is NULL. */
void result_release(struct result *result);

/* Returns the driver's reference count of a program (CL_PROGRAM_REFERENCE_COUNT). */
cl_uint result_count_references(cl_program native);

/* Returns how many references and kernels the driver counts in addition to the layer's own. */
cl_uint result_count_uses(const struct result *result);

#endif

/*
 * shadow.h - a shadow: what the application holds instead of a native program.
 *
 * The driver made the native program in the application's own call, so the native program answers queries that do
 * not depend on a build: source, context, devices. After a build through Ingot, the shadow has a result, which
 * answers the others. Without a result, the native program answers everything, as if there were no layer.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_SHADOW_H
#define INGOT_LAYERS_OPENCL_PROGRAM_SHADOW_H

#include "layers/opencl/program/contexts.h"
#include "layers/opencl/program/result.h"

#define SHADOW_MAX_CONSTANT 8u

struct shadow_constant {
    cl_uint id;
    cl_uint size;
    unsigned char value[SHADOW_MAX_CONSTANT];
};

/* An entry of the table that maps pointers to shadows. */
struct handle {
    const void *key; /* NULL: not in the table */
    struct shadow *shadow;
    struct handle *next;
};

struct shadow {
    const void *header[2]; /* copied from the native program, because loaders expect their functions there */
    cl_program native;
    cl_uint own_references;   /* reference count of `native` when it was new; usually 1 */
    cl_uint first_references; /* the reference count that queries reported when the shadow was new */
    ingot_source_kind_t kind;
    bool has_text_after_nul; /* the driver may not return the whole source; set when the shadow is made */
    /* the fields below are for the thread that works on the shadow; see shadow_begin_work */
    struct layer_context *context; /* NULL: not needed yet */
    _Atomic bool is_native_built;  /* true if `native` was built as the application built the result; set when needed */
    char *_Atomic earlier_log;     /* what the native program's log lacks; NULL: nothing; set at most once */
    _Atomic bool is_drivers;       /* true if the driver built it as the application asked, and does all later builds */
    size_t constant_count;
    struct shadow_constant *constants;
    /* the fields below are guarded by the lock */
    cl_uint references; /* the application's references */
    bool is_busy;
    bool is_building;
    bool is_to_retry; /* for reclaim.c, like the next two fields */
    struct shadow *previous_waiting;
    struct shadow *next_waiting;
    cl_uint pin_count; /* number of driver calls that need the shadow even if their callbacks release it */
    struct result *result;
    char *miss; /* why the last build was refused, because nothing may be compiled; NULL: it was not */
    struct handle by_shadow;
    struct handle by_native;
    struct handle by_result;
};

/* Returns a shadow with one reference, or NULL if out of memory. It takes over the reference to the native program. */
struct shadow *shadow_create(cl_program native, ingot_source_kind_t kind);
/* Removes the shadow from the table of handles. The caller holds the lock. */
void shadow_forget(struct shadow *shadow);
/* Destroys a shadow that no thread can reach anymore. */
void shadow_destroy(struct shadow *shadow);

/* Returns the shadow whose handle, native program or program of the result this is, or NULL. The caller holds the lock.
 */
struct shadow *handles_find(const void *key);
/* Returns the shadow with this handle, or NULL for any other program. */
struct shadow *shadow_find(cl_program program);
/* Returns the driver's program behind a program of the application. If `program` is not a shadow, returns it
 * unchanged. */
cl_program shadow_find_native(cl_program program);
/* Returns the shadow of a driver's program, or NULL. */
struct shadow *shadow_find_of_native(cl_program native);

/* Waits until no other thread works on the shadow, and begins work on it, such as a build. */
void shadow_begin_work(struct shadow *shadow, bool is_building);
void shadow_end_work(struct shadow *shadow);

/* Removes the result and returns it; the caller releases it. */
struct result *shadow_take_result(struct shadow *shadow);
/* Sets the result, and takes over the reference to it. Returns false if another shadow has the result's program. */
bool shadow_set_result(struct shadow *shadow, struct result *result);

/* Sets why the last build was refused, because nothing may be compiled; NULL: it was not. */
void shadow_set_miss(struct shadow *shadow, const char *reason);
/* Returns a copy, which the caller frees, or NULL. */
char *shadow_copy_miss(struct shadow *shadow);

/* True if the shadow has a result. */
bool shadow_has_result(struct shadow *shadow);

/* Returns how many references and kernels there are in addition to the application's references to the shadow. */
cl_uint shadow_count_uses(struct shadow *shadow);

/* True if the result has kernels, so that the program cannot be built again. */
bool shadow_has_kernels_of_result(struct shadow *shadow);

/* Keep the shadow alive while the driver may call the application back. reclaim_try must be called after
 * shadow_unpin. */
void shadow_pin(struct shadow *shadow);
void shadow_unpin(struct shadow *shadow);

/* Builds the native program as the application built the result, but at most once. This is done before calls that
 * continue from that state. Returns false on failure, if there is no result, or if a file that it includes has changed
 * since. */
bool shadow_build_native(struct shadow *shadow);
/* Returns the driver's program for a call that a program from a binary cannot answer: the native program, built if the
 * shadow has a result. If that is not possible, returns the program of the result. If `program` is not a shadow,
 * returns it unchanged. */
cl_program shadow_find_built(cl_program program);
/* Builds the native program in place of a result that the driver rejects. It then answers everything, and the driver
 * does all later builds. Returns it, or NULL on failure. */
cl_program shadow_replace_result(struct shadow *shadow, const struct result *rejected);

/* describe.c: describes a build of the shadow, which must have a context. The caller releases the descriptor,
 * also after a failure. If only the driver can do the build, sets the error detail and returns INGOT_NOT_CACHEABLE. */
ingot_status_t describe_build(const struct shadow *shadow, const char *options, ingot_program_desc_t *desc);

/* What a call with a program uses. Holds a reference to the result. */
struct shadow_use {
    struct shadow *shadow; /* NULL: the program is not a shadow */
    struct result *result; /* NULL: none */
    cl_program native;     /* the program of the result or of the shadow, or else the application's own program */
};
struct shadow_use shadow_begin_use(cl_program program);
void shadow_end_use(struct shadow_use *use);

#endif

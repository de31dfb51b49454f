/*
 * program.h - what stands for a program of the application, and the builds that reach the compiler, grouped by file.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_PROGRAM_H
#define INGOT_LAYERS_OPENCL_PROGRAM_PROGRAM_H

#include "layers/opencl/layer.h"

/* ---- compiler.c: counts and traces the builds that reach the driver's compiler, and keeps what it refused.
 *
 * Ingot builds through a table of functions, which is the target's except for two functions of this file. A program
 * that the compiler refuses is kept, so that the application gets its answers without a second compilation. */

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

/* ---- what stands for a program of the application, grouped by file. ---- */

/* ---- contexts.c: keeps an Ingot context for each OpenCL context that has a program of the layer.
 *
 * The Ingot context is destroyed with the last such program. Otherwise, it would keep the OpenCL context alive longer
 * than the application expects. */

/* What the build log of a program has after a second build. */
enum log_rule {
    LOG_RULE_UNKNOWN, /* the layer was not compared with the driver */
    LOG_RULE_LAST,    /* the messages of the last build */
    LOG_RULE_ALL      /* the messages of all builds, with a line end between them */
};

/* True if the layer caches programs of the platform to which this driver's program belongs: one on which the layer was
 * compared with the bare driver, because drivers differ in details that the specification leaves open, or one that
 * INGOT_LAYER_PLATFORMS names instead. Programs of all other platforms pass through, and the trace says why, once per
 * process. */
bool platforms_have(cl_program native);

struct layer_context {
    ingot_context_t ingot;
    cl_context native;
    cl_uint device_count;
    cl_device_id *devices; /* the devices of its programs, in order */
    enum log_rule log_rule;
    /* the fields below are for contexts.c, guarded by the lock */
    size_t user_count;
    struct layer_context *next;
};

/* Returns the context of a driver's program, or NULL if Ingot cannot make one. The caller releases it. */
struct layer_context *contexts_acquire(cl_program native);
/* True if the context's driver generates code when a kernel is launched, as PoCL does. */
bool contexts_generate_code_at_launch(const struct layer_context *context);
/* True if the driver adds the messages of a build to those of earlier builds of the program. */
bool contexts_add_up_logs(const struct layer_context *context);
/* Drops a reference. Does nothing if context is NULL. */
void contexts_release(struct layer_context *context);

/* ---- result.c: a result: a program that Ingot built or loaded, or that the compiler refused, and its answers to
 * queries.
 *
 * Results are immutable and reference-counted. A thread that queries one holds a reference, because another thread may
 * build the same program again at the same time. */

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

/* ---- shadow.c: a shadow: what the application holds instead of a native program.
 *
 * The driver made the native program in the application's own call, so the native program answers queries that do
 * not depend on a build: source, context, devices. After a build through Ingot, the shadow has a result, which
 * answers the others. Without a result, the native program answers everything, as if there were no layer. */

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
    bool is_to_retry; /* for reclaim_try, like the next two fields */
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

/* ---- destroying shadows that nothing uses anymore ----
 *
 * A program without references lives on as long as it has kernels, because CL_KERNEL_PROGRAM leads back to it.
 * Until then, its shadow waits. The layer does not see when the driver drops the last kernel, which may happen
 * after the kernel has run. So it checks some waiting shadows whenever the application creates or releases a
 * program or releases a kernel, and all of them when the application releases a context. */

/* True if a shadow without references is waiting for its kernels to end. */
bool reclaim_is_due(void);

/* Add and drop one of the application's references to the shadow's program. reclaim_release returns false if there is
 * none. */
void reclaim_retain(struct shadow *shadow);
bool reclaim_release(struct shadow *shadow);

/* Destroys the shadow of this program, and some of the waiting shadows, if nothing uses them anymore. The program may
 * be the application's handle, the driver's, or NULL. */
void reclaim_try(cl_program program);
/* Destroys all waiting shadows that nothing uses anymore. */
void reclaim_try_all(void);

#endif

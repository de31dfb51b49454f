/*
 * reference_backend.h - a small backend, written against the public interface as a user would write one.
 *
 * Its language is lines of `kernel NAME WORD...`, where words are integers, `x` (the argument), `+`, `-`, `*`, names
 * that an option -DNAME=INTEGER or a line `#define NAME INTEGER` defines, `$ID` or `$ID=DEFAULT` for a specialization
 * constant, and functions, in reverse Polish order. `function NAME WORD...` may stand in any of the sources; `#include
 * "NAME"` takes an embedded header or a file of a directory named by -I; `__DATE__` is the day. It compiles to bytes
 * that are bound to a target, so that the backend shows everything that a driver does, and with its hooks everything
 * that a driver may do wrong.
 */
#ifndef INGOT_TESTS_REFERENCE_BACKEND_H
#define INGOT_TESTS_REFERENCE_BACKEND_H

#include <ingot/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REFERENCE_SOURCE_KIND INGOT_SOURCE_OWN_TEXT

/* Counts of a context; each may be read at any time. */
typedef struct reference_counts {
    uint64_t builds; /* of one device each */
    uint64_t loads;
    uint64_t binaries_taken;
    uint64_t identifications;
    int64_t live_programs;
    int64_t live_kernels;
    uint64_t states_destroyed;
} reference_counts_t;

/* The configuration of a context. counts and hooks belong to the caller and must outlive the context. */
typedef struct reference_info {
    uint32_t device_count;
    const char *const *targets; /* one per device; equal names are equal devices */
    const char *driver_version;
    reference_counts_t *counts; /* updated atomically; NULL: not wanted */
    /* Called before each operation with its name ("build", "load", "get_binary", "create_kernel", "identify"); any
     * status but INGOT_SUCCESS becomes the operation's. NULL: none. */
    ingot_status_t (*hook)(void *user, const char *operation);
    void *hook_user;
    int no_binaries;              /* the table lacks get_binary and load */
    int generates_code_at_launch; /* as told to users; changes nothing here */
    int name_expressions;         /* accept them; they name nothing here */
    const char *name;             /* of the backend, which must live as long as the context; NULL: "reference" */
} reference_info_t;

ingot_status_t reference_context_create(ingot_context_t *context, const reference_info_t *info,
                                        const ingot_context_info_t *context_info);

/* Computes the kernel for x. INGOT_INVALID_ARGUMENTS for a kernel of another backend. */
ingot_status_t reference_kernel_run(const_ingot_kernel_t kernel, int64_t x, int64_t *result);

#ifdef __cplusplus
}
#endif

#endif

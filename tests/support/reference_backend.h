/*
 * reference_backend.h - a small backend, written against the public interface as a user would write one.
 *
 * A source has lines `kernel NAME WORD...`, in reverse Polish order. A word is an integer, `x` (the argument), `+`,
 * `-`, `*`, a name that an option -DNAME=INTEGER or a line `#define NAME INTEGER` defines, a specialization constant
 * (`$ID` or `$ID=DEFAULT`), or a function. Each source may also have lines `function NAME WORD...`. A line `#include
 * "NAME"` takes an embedded header, or a file of a directory named by -I. `__DATE__` is the day. A source of kind
 * INGOT_SOURCE_OWN_BINARY is read in the same way, but Ingot does not look into it.
 *
 * A source is compiled to bytes that are bound to a target. The backend can thus do everything that a driver does and,
 * with its hook, everything that a driver may do wrong.
 */
#pragma once

#include <ingot/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REFERENCE_SOURCE_KIND INGOT_SOURCE_OWN_TEXT

/* Counts of a context; each may be read at any time. */
typedef struct reference_counts {
    uint64_t builds; /* one per device */
    uint64_t loads;
    uint64_t binaries_taken;
    uint64_t identifications;
    int64_t live_programs;
    int64_t live_kernels;
    uint64_t states_destroyed;
} reference_counts_t;

/* The configuration of a context. `counts` and the hook belong to the caller and must outlive the context. */
typedef struct reference_info {
    uint32_t device_count;
    const char *const *targets; /* one per device; devices with equal names are identical */
    const char *driver_version;
    reference_counts_t *counts; /* updated atomically; NULL: not wanted */
    /* Called before each operation with its name ("build", "load", "get_binary", "create_kernel", "identify"). Unless
     * it returns INGOT_SUCCESS, the operation fails with its status. May be NULL. */
    ingot_status_t (*hook)(void *user, const char *operation);
    void *hook_user;
    int no_binaries;              /* the table lacks get_binary and load */
    int generates_code_at_launch; /* reported to users; has no effect here */
    /* Bytes that get_binary adds, as if launches had generated code. Such a binary cannot be loaded. NULL: none. */
    const uint32_t *launched_bytes;
    int name_expressions; /* accepted, but they name nothing here */
    const char *name;     /* of the backend; must live as long as the context; NULL: "reference" */
    /* A fault that the conformance suite must find: "device" or "driver" is not in the identity; a build ignores
     * "headers", "options" or "constants", returns another status after a "failure", or is a "race" for the options; a
     * load accepts a "foreign" binary, or "anything"; no kernel has "names"; the "binary" is cut. NULL: none. */
    const char *fault;
} reference_info_t;

ingot_status_t reference_context_create(ingot_context_t *context, const reference_info_t *info,
                                        const ingot_context_info_t *context_info);

/* Runs the kernel for x. Returns INGOT_INVALID_ARGUMENTS for a kernel of another backend. */
ingot_status_t reference_kernel_run(const_ingot_kernel_t kernel, int64_t x, int64_t *result);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file backend.h
 * For authors of a backend: the table of operations by which Ingot compiles, loads and takes apart programs.
 *
 * The backends that come with Ingot use nothing else. doc/backends.md leads from an empty table to a backend that
 * passes the conformance suite.
 *
 * @par Rules for operations
 *  - Called with no lock held and from any number of threads at once, on the same state too.
 *  - Outputs are written on success only. Whatever an operation made before it failed, it undoes.
 *  - On failure call ingot_set_error_detail with a sentence that has the driver's own code in it.
 *  - Device indices are positions in the list that the context was made with, below device_count.
 *  - Ingot serializes nothing but this: destroy_* of an object comes after all other use of it.
 */
#ifndef INGOT_BACKEND_H
#define INGOT_BACKEND_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sets ingot_last_error_detail of the calling thread, printf-style; longer texts are cut. Returns @p status. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
INGOT_API ingot_status_t ingot_set_error_detail(ingot_status_t status, const char *format, ...);

/**
 * Zeroed memory for a backend's objects, or NULL. @p allocator is the one of the context's info, kept by value; with
 * functions that are NULL it stands for the C library's.
 */
INGOT_API void *ingot_allocate(const ingot_allocator_t *allocator, size_t size);
/** The same without the zeros, for what is written at once. */
INGOT_API void *ingot_allocate_bytes(const ingot_allocator_t *allocator, size_t size);
/** @p size as it was allocated; NULL memory does nothing. */
INGOT_API void ingot_deallocate(const ingot_allocator_t *allocator, void *memory, size_t size);
/**
 * The allocator that a context's info names, for a backend's function that makes contexts. One whose functions are
 * NULL where @p info is NULL, names none, or is of a version that had none.
 */
INGOT_API ingot_allocator_t ingot_context_info_get_allocator(const ingot_context_info_t *info);

/** Takes bytes from an operation; made by Ingot. */
typedef struct ingot_sink ingot_sink_t;
/** Appends bytes, which are copied. @retval INGOT_OUT_OF_MEMORY */
INGOT_API ingot_status_t ingot_sink_write(ingot_sink_t *sink, size_t size, const void *bytes);
/**
 * For a driver that fills a buffer: @p size more bytes to be written by the caller, valid until the next call with
 * this sink. @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_sink_reserve(ingot_sink_t *sink, size_t size, void **bytes);
/**
 * What a compiler said, for a build log: @p text with one line's end at its end, however many it has; nothing for one
 * that is empty. @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_sink_write_log(ingot_sink_t *sink, const char *text);

/** Takes the fields of a device's identity; made by Ingot. */
typedef struct ingot_identity ingot_identity_t;
/** One field. @p name is a stable word such as "driver_version"; @p value is any bytes, text where it can be. */
INGOT_API ingot_status_t ingot_identity_add(ingot_identity_t *identity, const char *name, size_t size,
                                            const void *value);
/**
 * The field "compiler": the ELF build-ids of the library that holds @p driver_function, of all that it was linked
 * with (except the C and C++ runtimes), and of @p compiler_libraries (a NULL-terminated list of names as dlopen takes
 * them; those not there are left out). Version strings lie, build-ids do not; where a library has none, its content
 * is hashed. @retval INGOT_BACKEND_ERROR  The driver's library could not be found or read.
 */
INGOT_API ingot_status_t ingot_identity_add_compiler(ingot_identity_t *identity, const void *driver_function,
                                                     const char *const *compiler_libraries);

/**
 * The field "environment": those of @p variables that are set, sorted, one "NAME=value" a line; no field where none is.
 * For variables that change the code a driver generates, not where it keeps it or how it reports.
 *
 * @param[in] variables  NULL-terminated. A name that ends in '*' stands for all that begin so.
 */
INGOT_API ingot_status_t ingot_identity_add_environment(ingot_identity_t *identity, const char *const *variables);

/** One source, as a backend sees it. Valid as long as the operation runs. */
typedef struct ingot_source_view {
    ingot_source_kind_t kind;
    size_t size;
    const void *bytes; /**< Text is followed by a NUL that @p size does not count. */
    const char *name;  /**< "" where it has none. */
} ingot_source_view_t;

/** What to build, as a backend sees it. Valid as long as the operation runs. */
typedef struct ingot_build_request {
    size_t struct_size;
    const ingot_source_view_t *sources; /**< Several: compile each and link them. */
    size_t source_count;
    const ingot_source_view_t *headers;
    size_t header_count;
    const char *compile_options; /**< The descriptor's and the environment's, joined; never NULL. */
    const char *link_options;    /**< Likewise. */
    const ingot_spec_constant_t *spec_constants; /**< Sorted by id. */
    size_t spec_constant_count;
    const char *const *name_expressions; /**< Sorted by bytes; only for a backend with takes_name_expressions. */
    size_t name_expression_count;
} ingot_build_request_t;

/**
 * For backends that take SPIR-V: whether the request's modules are framed as SPIR-V is, and each constant is in one of
 * them at least, with its size. Drivers may end the process over the first, and do not name the second.
 *
 * @retval INGOT_BUILD_FAILED  One is not; @p log and the detail say which.
 */
INGOT_API ingot_status_t ingot_spirv_check_request(const ingot_build_request_t *request, ingot_sink_t *log);
/** Whether this module, which passed ingot_spirv_check_request, has the specialization constant @p id. */
INGOT_API int ingot_spirv_has_spec_constant(const ingot_source_view_t *module, uint32_t id);

/** A device binary for load. */
typedef struct ingot_binary {
    size_t size;
    const uint8_t *bytes;
} ingot_binary_t;

/**
 * The operations. Required ones must be set; the three of a group are set together or not at all. Copied when the
 * context is made.
 */
typedef struct ingot_backend_ops {
    size_t struct_size;
    const char *name; /**< Part of the id, e.g. "opencl": [a-z0-9_]+. Required. */

    /** Lets go of the state; the last call. Required. */
    void (*destroy)(void *state);

    /** Adds what tells this device, its driver and compiler from others; no handles, paths, ordinals or times.
     *  Devices of equal identity share binaries. Called when first needed, by each thread that needs it then.
     *  Required. */
    ingot_status_t (*identify_device)(void *state, uint32_t device_index, ingot_identity_t *identity);
    /** @p info has struct_size and zeros. NULL: all zeros. */
    ingot_status_t (*get_device_info)(void *state, uint32_t device_index, ingot_device_info_t *info);
    /** Whether sources of this kind can be built at all. Required. */
    int (*accepts)(void *state, ingot_source_kind_t kind);

    /** Compiles (and links) for these devices. @p log takes the compiler's messages, also of a failure.
     *  INGOT_BUILD_FAILED: the compiler refused the program. Required. */
    ingot_status_t (*build)(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program);
    /** Lets go of a program. Its kernels have gone before. Required. */
    void (*destroy_program)(void *state, void *program);
    /** Writes the names of all kernels, each followed by its NUL, in any order. Required. */
    ingot_status_t (*get_kernel_names)(void *state, void *program, ingot_sink_t *names);

    /** Binaries: both or neither. Writes the device's binary, finished as far as the driver can. */
    ingot_status_t (*get_binary)(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
    /** Makes a program from one binary a device. The request's options apply; its sources are given for reference,
     *  and there are none where a program is loaded by its id alone.
     *  INGOT_BLOB_REJECTED: the driver does not take a binary. It must not compile silently. */
    ingot_status_t (*load)(void *state, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

    /** Kernels: both. INGOT_NOT_FOUND: no such entry point. Required. */
    ingot_status_t (*create_kernel)(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
    void (*destroy_kernel)(void *state, void *kernel);
    /** Another native object for the same entry point. NULL: ingot_kernel_clone is INGOT_UNIMPLEMENTED. */
    ingot_status_t (*clone_kernel)(void *state, void *program, void *kernel, void **clone);

    /** Bytes of the program's binaries where the driver knows them without further work, else 0; for the byte budget of
     *  the in-memory cache. NULL: not known. */
    size_t (*get_program_size)(void *state, void *program);

    /** Whether programs may have name expressions. If so, get_kernel_names also names kernels by their expressions, and
     *  create_kernel finds them by these, after load too: get_binary keeps what that needs. NULL: they may not. */
    int (*takes_name_expressions)(void *state);
} ingot_backend_ops_t;

/**
 * Makes a context for a backend of one's own. On success the context owns @p state and calls ops->destroy once; on
 * failure the caller still owns it.
 *
 * @param[in] device_count  At least 1.
 * @param[in] info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A required operation is missing, a group is incomplete, a name malformed.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_context_create(ingot_context_t *context, const ingot_backend_ops_t *ops, void *state,
                                              uint32_t device_count, const ingot_context_info_t *info);

/** The backend's state if the context was made with these operations (compared by ops->build), else NULL. */
INGOT_API void *ingot_context_get_backend_state(const_ingot_context_t context, const ingot_backend_ops_t *ops);
/** What ops->build or ops->load made, under the same condition. Borrowed: valid as long as the program is held. */
INGOT_API void *ingot_program_get_backend_program(const_ingot_program_t program, const ingot_backend_ops_t *ops);
/** What ops->create_kernel or clone_kernel made, likewise. */
INGOT_API void *ingot_kernel_get_backend_kernel(const_ingot_kernel_t kernel, const ingot_backend_ops_t *ops);

#ifdef __cplusplus
}
#endif

#endif

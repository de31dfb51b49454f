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
 *  - On failure call ingot_set_error with the driver's own code, and a sentence that names it.
 *  - Device indices are positions in the list that the context was made with, below device_count.
 *  - Ingot serializes nothing but this: destroy_* of an object comes after all other use of it.
 */
#ifndef INGOT_BACKEND_H
#define INGOT_BACKEND_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets ingot_last_error_detail, printf-style, and ingot_last_error_code of the calling thread; longer texts are cut.
 *
 * @param[in] code  The driver's own, or an errno. 0: none.
 * @return @p status.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
INGOT_API ingot_status_t
ingot_set_error(ingot_status_t status, int64_t code, const char *format, ...);

/** The same for a failure without a code: ingot_last_error_code is 0. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
INGOT_API ingot_status_t
ingot_set_error_detail(ingot_status_t status, const char *format, ...);

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
/**
 * Refuses a program: writes a sentence to the build log, and sets it as ingot_set_error does.
 *
 * @param[in] code  The driver's own, or 0.
 * @retval INGOT_BUILD_FAILED
 * @retval INGOT_OUT_OF_MEMORY
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
INGOT_API ingot_status_t
ingot_refuse_program(ingot_sink_t *log, int64_t code, const char *format, ...);

/** Takes the fields of a device's identity; made by Ingot. */
typedef struct ingot_identity ingot_identity_t;
/** One field. @p name is a stable word such as "driver_version"; @p value is any bytes, text where it can be. */
INGOT_API ingot_status_t ingot_identity_add(ingot_identity_t *identity, const char *name, size_t size,
                                            const void *value);
/** One field with the digest of @p value (BLAKE2b-256 in hexadecimal), for values too long to stand in each id. */
INGOT_API ingot_status_t ingot_identity_add_digest(ingot_identity_t *identity, const char *name, size_t size,
                                                   const void *value);
/**
 * The field "compiler": the ELF build-ids of the library that holds @p driver_function, of all that it was linked
 * with, and of @p compiler_libraries (a NULL-terminated list of names as dlopen takes them; those not there are left
 * out). Libraries that are known to generate no code are left out too, since they change often: the C and C++ runtimes
 * and what drivers use for compression, XML, terminals and finding devices. Version strings lie, build-ids do not;
 * where a library has none, its content is hashed.
 * @retval INGOT_BACKEND_ERROR  The driver's library could not be found or read.
 */
INGOT_API ingot_status_t ingot_identity_add_compiler(ingot_identity_t *identity, const void *driver_function,
                                                     const char *const *compiler_libraries);

/**
 * The field @p name: what data files of a compiler hold (device libraries, headers, settings), as one digest of their
 * names, without directories, and of a 128-bit hash of each one's content. Files that are not there are left out; no
 * field where none is.
 *
 * @param[in] paths  NULL-terminated.
 * @retval INGOT_BACKEND_ERROR  A file is there and cannot be read.
 */
INGOT_API ingot_status_t ingot_identity_add_files(ingot_identity_t *identity, const char *name,
                                                  const char *const *paths);

/**
 * The field "environment": those of @p variables that are set, sorted, one "NAME=value" a line; no field where none is.
 * For variables that change the code a driver generates, not where it keeps it or how it reports.
 *
 * @param[in] variables  NULL-terminated. A name that ends in '*' stands for all that begin so; "Aa*" for all in camel
 *                       case (letters and digits, the first a capital, one a small letter: so Intel's driver calls its
 *                       keys). A name behind '!' takes out what others take in.
 */
INGOT_API ingot_status_t ingot_identity_add_environment(ingot_identity_t *identity, const char *const *variables);

/** One source, as a backend sees it. Valid as long as the operation runs. */
typedef struct ingot_source_view {
    ingot_source_kind_t kind;
    size_t size;
    const void *bytes; /**< Text is followed by a NUL that @p size does not count. */
    const char *name;  /**< "" where it has none. */
} ingot_source_view_t;

/** What applies to one source: the program's, the environment's and its own options joined, and the headers likewise.
 * */
typedef struct ingot_source_settings {
    const char *compile_options; /**< Never NULL. */
    const ingot_source_view_t *headers;
    size_t header_count;
} ingot_source_settings_t;

/** What to build, as a backend sees it. Valid as long as the operation runs. */
typedef struct ingot_build_request {
    size_t struct_size;
    const ingot_source_view_t *sources; /**< Several: compile each and link them. */
    size_t source_count;
    const ingot_source_view_t *headers;
    size_t header_count;
    const char *compile_options;                 /**< The descriptor's and the environment's, joined; never NULL. */
    const char *link_options;                    /**< Likewise. */
    const ingot_spec_constant_t *spec_constants; /**< Sorted by id. */
    size_t spec_constant_count;
    const char *const *name_expressions; /**< Sorted by bytes; only for a backend with takes_name_expressions. */
    size_t name_expression_count;
    /** source_count of them, where a source has options or headers of its own; only for a backend with
     *  takes_source_settings. NULL: what stands above applies to all. */
    const ingot_source_settings_t *source_settings;
} ingot_build_request_t;

/** What applies to a source of the request, whether it has settings of its own or not. */
static inline ingot_source_settings_t ingot_build_request_get_settings(const ingot_build_request_t *request,
                                                                       size_t source)
{
    ingot_source_settings_t settings;
    if (request->source_settings != NULL)
        return request->source_settings[source];
    settings.compile_options = request->compile_options;
    settings.headers = request->headers;
    settings.header_count = request->header_count;
    return settings;
}

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

/** How a compiler takes its option string apart. */
typedef enum ingot_option_quotes {
    /** Not known, or quotes and backslashes are ordinary characters: blanks separate words. A word is understood
     *  only if every known compiler reads it alike. */
    INGOT_QUOTES_UNKNOWN = 0,
    /** The same, but double quotes group what is between them and are taken off. */
    INGOT_QUOTES_DOUBLE = 1,
    /** Double and single quotes group, and a backslash protects the next character; white space separates. */
    INGOT_QUOTES_SHELL = 2
} ingot_option_quotes_t;

/** When a compiler looks for an included file in the current directory. */
typedef enum ingot_current_directory {
    INGOT_CURRENT_UNKNOWN = 0,
    INGOT_CURRENT_FIRST = 1, /**< Before the directories of -I. */
    INGOT_CURRENT_LAST = 2,  /**< Behind them; for "x.h" in a source also before. */
    INGOT_CURRENT_NEVER = 3
} ingot_current_directory_t;

/**
 * How a compiler reads options and finds included files. With it, Ingot replaces the includes of text sources by what
 * they include, so that the compiler needs no search path (doc/hermetic-builds.md). All zeros is a careful default;
 * what a rule does not settle makes a program not cacheable, never a wrong one. All texts stay the backend's and must
 * live as long as the state.
 */
typedef struct ingot_text_rules {
    size_t struct_size;
    ingot_option_quotes_t option_quotes;
    ingot_current_directory_t current_directory;
    int searches_beside_source; /**< "x.h" in a source is looked for beside the source's name, not in the current
                                 *   directory. */
    int knows_all_directories;  /**< The compiler looks nowhere but in the places named here. */
    const char *unnamed_source; /**< The name of a source without one in messages, where the compiler takes line markers
                                 *   with names; NULL: it takes `# 2 "" 2` for the way back to the including text. */
    const char *const *options; /**< NULL-terminated: options known to read no file, `-w`, `-cl-*`. -I, -D and -U are
                                 *   known. NULL: those that compilers have in common. */
    /** NULL-terminated: likewise, those whose value is the next word. Or NULL. */
    const char *const *options_with_value;
    /** NULL-terminated: directories that the compiler searches by itself, behind all others. One that is also named by
     *  -I is searched there and not where -I stands. Or NULL. */
    const char *const *late_directories;
    /** NULL-terminated: environment variables whose value the compiler takes for more options. Or NULL. */
    const char *const *option_variables;
} ingot_text_rules_t;

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

    /** Bytes of the program's binaries for the byte budget of the in-memory cache; 0: not known. Where asking the
     *  driver costs more than a build, an estimate: get_binary's sizes take its place. NULL: not known. */
    size_t (*get_program_size)(void *state, void *program);

    /** Whether programs may have name expressions. If so, get_kernel_names also names kernels by their expressions, and
     *  create_kernel finds them by these, after load too: get_binary keeps what that needs. NULL: they may not. */
    int (*takes_name_expressions)(void *state);

    /** How the compiler of text sources reads options and finds files: @p rules has struct_size and zeros. Called once,
     *  when the context is made. NULL: all zeros. */
    void (*get_text_rules)(void *state, ingot_text_rules_t *rules);

    /** Whether sources may have options and headers of their own; build then takes each source's from
     *  ingot_build_request_get_settings. NULL: they may not. */
    int (*takes_source_settings)(void *state);
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

/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file backend.h
 * The interface for authors of backends: the table of operations with which Ingot compiles, loads and inspects
 * programs.
 *
 * doc/backends.md explains how to write a backend that passes the conformance suite.
 *
 * @par Rules for operations
 *  - Ingot calls operations with no lock held and from any number of threads at once, even on the same state.
 *  - An operation writes its outputs on success only. If it fails, it undoes its partial work.
 *  - On failure, an operation calls ingot_set_error with the driver's code and a message that names the failed call.
 *  - Device indices are positions in the list that the context was created with, below device_count.
 *  - Ingot guarantees only one order: destroy_* of an object comes after all other use of the object.
 */
#ifndef INGOT_BACKEND_H
#define INGOT_BACKEND_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets ingot_last_error_detail (printf-style) and ingot_last_error_code of the calling thread. Truncates long texts.
 *
 * @param[in] code  The driver's code, or an errno. 0: none.
 * @return @p status.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
INGOT_API ingot_status_t
ingot_set_error(ingot_status_t status, int64_t code, const char *format, ...);

/** Sets ingot_last_error_detail for a failure without a code, so that ingot_last_error_code is 0. Returns @p status. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
INGOT_API ingot_status_t
ingot_set_error_detail(ingot_status_t status, const char *format, ...);

/**
 * Returns zeroed memory for a backend's objects, aligned for any type, or NULL if memory ran out. @p allocator is a
 * copy of the allocator in the context's info. If its functions are NULL, the C library's allocator is used.
 */
INGOT_API void *ingot_allocate(const ingot_allocator_t *allocator, size_t size);
/** Releases memory. @p size must be the allocated size. Does nothing if @p memory is NULL. */
INGOT_API void ingot_deallocate(const ingot_allocator_t *allocator, void *memory, size_t size);
/**
 * Returns the allocator of a context's info, for a backend's function that creates contexts. The allocator's functions
 * are NULL if @p info is NULL, has no allocator, or is from a version without that field.
 */
INGOT_API ingot_allocator_t ingot_context_info_get_allocator(const ingot_context_info_t *info);

/** Receives bytes from an operation. Created by Ingot. */
typedef struct ingot_sink ingot_sink_t;
/** Appends a copy of bytes: a binary's, kernel names, or a compiler's messages, which should end with a newline.
 *  @retval INGOT_OUT_OF_MEMORY */
INGOT_API ingot_status_t ingot_sink_write(ingot_sink_t *sink, size_t size, const void *bytes);

/** Receives the fields of a device's identity. Created by Ingot. */
typedef struct ingot_identity ingot_identity_t;
/**
 * Adds a field. @p name is a stable word such as "driver_version"; @p value may be any bytes, preferably text.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the name does not consist of a-z, 0-9 and _.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_identity_add(ingot_identity_t *identity, const char *name, size_t size,
                                            const void *value);
/**
 * Adds the field "compiler": the ELF build-ids of the library that contains @p driver_function, of @p
 * compiler_libraries (a NULL-terminated list of dlopen names), and of all libraries that these were linked with. A
 * library that is not loaded is read from the file that dlopen would load. Missing libraries are skipped. Libraries
 * that are known to generate no code are skipped too, because they change often: the C, C++, OpenMP and sanitizer
 * runtimes; libraries for compression, XML, Unicode, terminals, digests and encryption, ELF files and foreign calls;
 * libraries that find devices or talk to displays; and the loaders of OpenCL and Level Zero. Build-ids are more
 * reliable than version strings. If a library has no build-id, its content is hashed.
 * @retval INGOT_BACKEND_ERROR  The driver's library could not be found or read.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_identity_add_compiler(ingot_identity_t *identity, const void *driver_function,
                                                     const char *const *compiler_libraries);

/**
 * Adds the field "environment": the environment variables in @p variables that are set, sorted, one "NAME=value" per
 * line. If none is set, no field is added. List variables that change the generated code, not those that say where the
 * driver caches it or what the driver reports.
 *
 * @param[in] variables  NULL-terminated. A name that ends in '*' stands for all names with that prefix. "Aa*" stands
 * for all names in camel case (letters and digits, a capital first, at least one lower-case letter), as Intel's driver
 * names its keys. A '!' before a name excludes names that other entries include.
 * @retval INGOT_BACKEND_ERROR  More than 128 of the variables are set.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_identity_add_environment(ingot_identity_t *identity, const char *const *variables);

/** One source, as a backend sees it. Valid during the operation. */
typedef struct ingot_source_view {
    ingot_source_kind_t kind;
    size_t size;
    const void *bytes; /**< Text is followed by a NUL that @p size does not count. */
    const char *name;  /**< "" if the source has none. */
} ingot_source_view_t;

/** A build request, as a backend sees it. Valid during the operation. */
typedef struct ingot_build_request {
    size_t struct_size;
    const ingot_source_view_t *sources; /**< If there are several, compile each and link them. */
    size_t source_count;
    const ingot_source_view_t *headers;
    size_t header_count;
    /** The descriptor's options and the environment's, joined; never NULL. */
    const char *compile_options;
    const char *link_options;                    /**< The same for the link options; never NULL. */
    const ingot_spec_constant_t *spec_constants; /**< Sorted by id. */
    size_t spec_constant_count;
    const char *const *name_expressions; /**< Sorted bytewise; only for a backend with takes_name_expressions. */
    size_t name_expression_count;
} ingot_build_request_t;

/** A device binary to load. */
typedef struct ingot_binary {
    size_t size;
    const uint8_t *bytes;
} ingot_binary_t;

/** Properties of a device that affect how an application should use blobs. */
typedef struct ingot_device_info {
    size_t struct_size;
    /** Not 0: the driver generates the final code when a kernel is first launched (PoCL). A process that loads a blob
     *  taken before that launch must do the rest of the compilation, so persist takes blobs late. */
    int generates_code_at_launch;
} ingot_device_info_t;
#define INGOT_DEVICE_INFO_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_device_info_t), 0                                                                                 \
    }

/** How a compiler splits its option string. */
typedef enum ingot_option_quotes {
    /** Unknown, or quotes and backslashes are ordinary characters: blanks separate words. Ingot understands a word only
     *  if every known compiler reads it in the same way. */
    INGOT_QUOTES_UNKNOWN = 0,
    /** Like INGOT_QUOTES_UNKNOWN, but double quotes group the text between them and are removed. */
    INGOT_QUOTES_DOUBLE = 1,
    /** Double and single quotes group text, a backslash escapes the next character, and white space separates words. */
    INGOT_QUOTES_SHELL = 2
} ingot_option_quotes_t;

/** When a compiler looks for an included file in the current directory. */
typedef enum ingot_current_directory {
    INGOT_CURRENT_UNKNOWN = 0,
    INGOT_CURRENT_FIRST = 1, /**< Before the directories of -I. */
    INGOT_CURRENT_LAST = 2,  /**< After the directories of -I; for "x.h" in a source also before them. */
    INGOT_CURRENT_NEVER = 3
} ingot_current_directory_t;

/**
 * How a compiler reads options and finds included files. With these rules, Ingot replaces the includes of text sources
 * with the included text, so that the compiler needs no search path (doc/hermetic-builds.md). All zeros is a safe
 * default: if the rules leave a case open, the program is not cacheable, but never wrong. The backend owns all strings,
 * which must live as long as the state.
 */
typedef struct ingot_text_rules {
    size_t struct_size;
    ingot_option_quotes_t option_quotes;
    ingot_current_directory_t current_directory;
    /** Not 0: the compiler looks for a source's "x.h" in the directory of the source's name, not in the current one. */
    int searches_beside_source;
    int knows_all_directories; /**< Not 0: the compiler looks only in the places that these rules name. */
    /** The name that the compiler's messages give to an unnamed source. NULL: the compiler does not accept it in line
     *  markers, and reads `# 2 "" 2` as the return to the including text. If it is set, a text that is compiled for its
     *  id has a name only if the id has it, too. */
    const char *unnamed_source;
    /** NULL-terminated: options known to read no file, such as `-w`, `-cl-*`. NULL: the options that compilers have in
     *  common. Ingot knows -I, -D and -U. `--include-path`, `--define-macro` and `--undefine-macro` mean the same if
     *  they are in the list, with a value after `=` or in the next word. */
    const char *const *options;
    /** NULL-terminated: options that read no file and whose value is the next word. NULL: none. */
    const char *const *options_with_value;
    /** NULL-terminated: directories that the compiler searches by itself, after all others. If -I names one of them,
     *  the compiler searches it here and not at the position of -I. NULL: none. */
    const char *const *late_directories;
    /** NULL-terminated: environment variables whose values the compiler reads as more options. NULL: none. */
    const char *const *option_variables;
    /** Not 0: an asm statement can read files when the compiler assembles it. Ingot then lets the compiler refuse the
     *  keyword by `#pragma GCC poison`, and builds natively what needs it. */
    int assembler_reads_files;
} ingot_text_rules_t;

/**
 * A backend's operations. Required operations must be set. get_binary and load are set together or not at all. The
 * table is copied when the context is created.
 */
typedef struct ingot_backend_ops {
    size_t struct_size;
    const char *name; /**< Part of the id, e.g. "opencl": [a-z0-9_]+. Required. */

    /** Destroys the state. No operation is called afterwards. Required. */
    void (*destroy)(void *state);

    /** Adds the fields that distinguish this device, its driver and its compiler from others, but no handles, paths,
     *  ordinals or times. Devices with equal identities share binaries. Called when the identity is first needed,
     *  perhaps by several threads at once. Required. */
    ingot_status_t (*identify_device)(void *state, uint32_t device_index, ingot_identity_t *identity);
    /** Fills in @p info, in which Ingot has set struct_size and zeroed the other fields. NULL: they stay zero. */
    ingot_status_t (*get_device_info)(void *state, uint32_t device_index, ingot_device_info_t *info);
    /** Returns nonzero if the backend can build sources of this kind. Required. */
    int (*accepts)(void *state, ingot_source_kind_t kind);

    /** Compiles (and links) for these devices. @p log receives the compiler's messages, even on failure.
     *  INGOT_BUILD_FAILED: the compiler rejected the program. Required. */
    ingot_status_t (*build)(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program);
    /** Destroys a program, after its kernels have been destroyed. Required. */
    void (*destroy_program)(void *state, void *program);
    /** Writes the names of all kernels, each followed by its NUL, in any order. Required. */
    ingot_status_t (*get_kernel_names)(void *state, void *program, ingot_sink_t *names);

    /** Writes the device's binary, as complete as the driver can make it. A backend has both this and load, or
     *  neither. */
    ingot_status_t (*get_binary)(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
    /** Creates a program from one binary per device. The request's options apply. Its sources are only
     *  informative. This operation must not compile silently. It returns INGOT_BLOB_REJECTED if the driver compiles or
     *  does not accept a binary. */
    ingot_status_t (*load)(void *state, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

    /** Creates a kernel. INGOT_NOT_FOUND: there is no such entry point. This and destroy_kernel are required. */
    ingot_status_t (*create_kernel)(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
    /** Destroys a kernel. */
    void (*destroy_kernel)(void *state, void *kernel);

    /** Returns the size of the program's binaries, for the byte limit of the in-memory cache; 0: unknown. If asking the
     *  driver would take longer than a build, returns an estimate, which get_binary's sizes replace later. NULL:
     *  unknown. */
    size_t (*get_program_size)(void *state, void *program);

    /** Returns nonzero if programs may have name expressions. Then get_kernel_names also lists kernels by their
     *  expressions, and create_kernel accepts expressions. Both must also work after a load, so get_binary includes the
     *  necessary data. NULL: they may not. */
    int (*takes_name_expressions)(void *state);

    /** Describes how the compiler of text sources reads options and finds files. Ingot has set struct_size in @p rules
     *  and zeroed the other fields. Called once, when the context is created. NULL: the fields stay zero. */
    void (*get_text_rules)(void *state, ingot_text_rules_t *rules);
} ingot_backend_ops_t;

/**
 * Creates a context for a custom backend. On success the context owns @p state and calls ops->destroy once. On failure
 * the caller still owns it.
 *
 * @param[in] device_count  At least 1.
 * @param[in] info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A required operation is missing, get_binary or load is set alone, or the name is
 *                                  malformed.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_context_create(ingot_context_t *context, const ingot_backend_ops_t *ops, void *state,
                                              uint32_t device_count, const ingot_context_info_t *info);

/** Returns the program that ops->build or ops->load created, or NULL if the context does not have these operations.
 *  Valid as long as @p program is held. */
INGOT_API void *ingot_program_get_backend_program(const_ingot_program_t program, const ingot_backend_ops_t *ops);
/** Returns the kernel that ops->create_kernel created, or NULL if the context does not have these operations.
 *  Valid as long as @p kernel is held. */
INGOT_API void *ingot_kernel_get_backend_kernel(const_ingot_kernel_t kernel, const ingot_backend_ops_t *ops);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file ingot.h
 * The core of Ingot: an in-memory cache for compiled device programs.
 *
 * An application describes a program (sources, options, constants, devices). The program then comes from the in-memory
 * cache, from a cache blob that the application stored, or from the compiler. The core writes no file except a
 * requested trace and requested counters: the application decides where to keep blobs (see ingot/storage.h, and
 * ingot/persist.h for bundled storages).
 *
 * @code
 * #include <ingot/ingot.h>
 * #include <stdlib.h>
 *
 * // Creates a program from the bytes that were stored under its id, or builds it. Returns bytes to store, if any.
 * ingot_status_t load_or_build(ingot_program_t *program, const_ingot_program_desc_t desc, size_t stored_size,
 *                              const uint8_t *stored, size_t *size, uint8_t **blob)
 * {
 *     *blob = NULL;
 *     if (stored != NULL && ingot_program_create_from_cache_blob(program, desc, stored_size, stored) == INGOT_SUCCESS)
 *         return INGOT_SUCCESS;
 *     ingot_status_t status = ingot_program_get(program, desc, 0);
 *     if (status == INGOT_SUCCESS && ingot_program_get_cache_blob(*program, size, NULL) == INGOT_SUCCESS) {
 *         *blob = malloc(*size);
 *         if (*blob != NULL)
 *             status = ingot_program_get_cache_blob(*program, size, *blob);
 *     }
 *     return status;
 * }
 * @endcode
 *
 * @par Conventions
 *  - Every function that can fail returns an ingot_status_t; ingot_last_error_detail() returns the error message.
 *  - The created object is the first parameter. It is written on success only.
 *  - Functions that copy bytes to the caller follow the size protocol. If the buffer is NULL, they set *size to the
 *    required size and succeed. If *size is too small, they set it to the required size, leave the buffer unchanged,
 *    and return INGOT_BUFFER_TOO_SMALL. Otherwise they set *size to the number of bytes written. The size of a text
 *    includes its terminating NUL.
 *  - Objects have create, retain and release functions. Any thread may release a handle; release(NULL) does nothing.
 *  - For a NULL or malformed argument, a function returns INGOT_INVALID_ARGUMENTS, even if its own list of statuses
 *    does not repeat it. Using a released handle is undefined behavior.
 *  - Info structures begin with struct_size and have an _INIT macro. Zero means "default". A function that gets a flag
 *    unknown to this version returns INGOT_INVALID_ARGUMENTS.
 *  - Strings are NUL-terminated UTF-8. Sizes are in bytes. Times that a caller sets are in milliseconds
 *    (`_ms`), and those in events and statistics in nanoseconds (`_ns`).
 *  - Unless stated otherwise, any number of threads may call any function on the same objects at once.
 *  - Do not cancel a thread (pthread_cancel) inside a call.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/event.h>
#include <ingot/export.h>
#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_VERSION_MAJOR 1
#define INGOT_VERSION_MINOR 0
#define INGOT_VERSION_PATCH 0

/** Returns the version and build revision of the loaded library, "MAJOR.MINOR.PATCH+REVISION". The string is static.
 *  Ids do not contain it: a new build keeps what earlier ones stored. */
INGOT_API const char *ingot_version(void);

/* ---- handles ----------------------------------------------------------------------------------------- */

/** One backend, one native context, its devices, and one in-memory cache. */
typedef struct ingot_context *ingot_context_t;
typedef const struct ingot_context *const_ingot_context_t;
/** Immutable build input: OpenCL C, SPIR-V, CUDA C++, PTX, HIP C++, or a custom backend's format. Independent of
 * contexts. */
typedef struct ingot_source *ingot_source_t;
typedef const struct ingot_source *const_ingot_source_t;
/** Describes what to build: sources, options, constants and devices of one context. Immutable. */
typedef struct ingot_program_desc *ingot_program_desc_t;
typedef const struct ingot_program_desc *const_ingot_program_desc_t;
/** A built program. Requests with equal descriptors share it. */
typedef struct ingot_program *ingot_program_t;
typedef const struct ingot_program *const_ingot_program_t;
/** One entry point of a program on one device. Shared. */
typedef struct ingot_kernel *ingot_kernel_t;
typedef const struct ingot_kernel *const_ingot_kernel_t;

/* ---- context --------------------------------------------------------------------------------------------- */

/**
 * Allocates host memory for a context and its objects. allocate returns memory aligned to @p alignment (a power of
 * two, at most 4096), or NULL. deallocate gets a pointer from allocate, with the same size. Any thread may call both.
 */
typedef struct ingot_allocator {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*deallocate)(void *user, void *memory, size_t size);
    void *user;
} ingot_allocator_t;

/** Values of limits, counts and times in all structures. 0 means the default, which each structure documents.
 *  INGOT_UNLIMITED means no limit. INGOT_NONE means nothing at all: no bytes, no entries, no time. */
#define INGOT_UNLIMITED UINT64_MAX
#define INGOT_NONE (UINT64_MAX - 1)

#define INGOT_CACHE_DEFAULT_PROGRAMS 1024

/** Flags of a context's in-memory cache. */
typedef enum ingot_cache_flags {
    INGOT_CACHE_OFF = 1, /**< Keeps nothing: every request builds or loads. The cache ignores max_programs. */
    /** If max_groups is exceeded, evicts the least recently used group; without this flag, the oldest group. Finding
     *  that group examines every program, each time a new group exceeds the limit. */
    INGOT_CACHE_LRU_GROUPS = 2
} ingot_cache_flags_t;

/** Limits of a context's in-memory cache. INGOT_NONE in any of them keeps nothing, as INGOT_CACHE_OFF does. */
typedef struct ingot_cache_capacity {
    size_t struct_size;
    uint64_t max_programs; /**< 0: INGOT_CACHE_DEFAULT_PROGRAMS. */
    /** Bytes of device binaries and host overhead together; 0: no limit. A program that alone exceeds the limit is
     *  returned but not kept. If asking the driver for the size would cost more than the build (PoCL), the size of a
     *  built program is an estimate until its blob is taken. */
    uint64_t max_bytes;
    uint64_t max_groups; /**< If exceeded, the oldest group (see flags) is evicted as a whole; 0: no limit. */
    uint32_t flags;      /**< ingot_cache_flags_t */
} ingot_cache_capacity_t;
#define INGOT_CACHE_CAPACITY_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(ingot_cache_capacity_t), 0, 0, 0, 0                                                                     \
    }

/** Flags of a context. */
typedef enum ingot_context_flags {
    INGOT_CONTEXT_IGNORE_ENVIRONMENT = 1, /**< Does not read any INGOT_* variable. */
    INGOT_CONTEXT_NO_HEADER_MEMO = 2 /**< Reads all included files for each descriptor; see doc/hermetic-builds.md. */
} ingot_context_flags_t;

/**
 * Context configuration. Unless INGOT_CONTEXT_IGNORE_ENVIRONMENT is set, creating the context reads the environment
 * once. INGOT_TRACE=1 writes one line per event to standard error; INGOT_TRACE=PATH appends to a file.
 * INGOT_COMPILE_OPTIONS and INGOT_LINK_OPTIONS are appended to every program's options and are part of its id.
 * INGOT_CACHE_CAPACITY, INGOT_CACHE_MAX_BYTES and INGOT_CACHE_GROUPS apply if cache_capacity is NULL, and so does
 * INGOT_CACHE=0, which turns the in-memory cache off. INGOT_HEADER_MEMO=0 sets INGOT_CONTEXT_NO_HEADER_MEMO. Creating
 * the context fails with INGOT_INVALID_ARGUMENTS if a value that it uses is invalid. An unknown INGOT_* variable causes
 * an INGOT_EVENT_ENVIRONMENT. A setuid program reads no variables. doc/environment.md lists all variables.
 */
typedef struct ingot_context_info {
    size_t struct_size;
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
    ingot_event_callback_t on_event;    /**< NULL: none. */
    void *on_event_user;
    const ingot_cache_capacity_t *cache_capacity; /**< NULL: the limits in the environment, or else the defaults. */
    uint32_t flags;                               /**< ingot_context_flags_t */
} ingot_context_info_t;
#define INGOT_CONTEXT_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_context_info_t), NULL, NULL, NULL, NULL, 0                                                        \
    }

/* Each backend's header (ingot/opencl.h, ingot/level_zero.h, ingot/cuda.h) creates contexts. For a custom backend,
 * call ingot_context_create of ingot/backend.h. */

/**
 * Releases a context, and drops its in-memory cache. Descriptors and programs hold their own references: Ingot releases
 * the native context when the last of all these is dropped. A build in flight finishes; its program is returned to the
 * threads that wait for it, but is not kept.
 */
INGOT_API void ingot_context_release(ingot_context_t context);

/* ---- what to build -------------------------------------------------------------------------------------------- */

/** Language or format of a source. */
typedef enum ingot_source_kind {
    INGOT_SOURCE_OPENCL_C = 1,
    INGOT_SOURCE_SPIRV = 2,
    INGOT_SOURCE_CUDA_CPP = 3,
    INGOT_SOURCE_PTX = 4,
    INGOT_SOURCE_HEADER = 5, /**< Text that other sources include by name. */
    INGOT_SOURCE_HIP_CPP = 6,
    INGOT_SOURCE_HIP_CODE = 7,      /**< An AMD code object, or a fat binary of several. */
    INGOT_SOURCE_OWN_TEXT = 0x100,  /**< A custom backend's language with C's #include; up to 0x1ff. */
    INGOT_SOURCE_OWN_BINARY = 0x200 /**< A custom backend's format without includes; up to 0x2ff. */
} ingot_source_kind_t;

/** Source configuration. Bytes and name are copied. */
typedef struct ingot_source_info {
    size_t struct_size;
    ingot_source_kind_t kind;
    const void *bytes; /**< Text need not end with a NUL, and must not contain one. */
    size_t size;       /**< Bytes; at least 1 except for a header. */
    /** The name in messages and in lists of stored programs. For a header, the name in the #include. NULL: none. */
    const char *name;
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
} ingot_source_info_t;
#define INGOT_SOURCE_INFO_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_source_info_t), (ingot_source_kind_t)0, NULL, 0, NULL, NULL                                       \
    }

/** Creates a source and hashes its content once. @retval INGOT_OUT_OF_MEMORY */
INGOT_API ingot_status_t ingot_source_create(ingot_source_t *source, const ingot_source_info_t *info);
/** Drops a reference. Descriptors hold their own references. */
INGOT_API void ingot_source_release(ingot_source_t source);

/** The value of one specialization constant, in the device's byte order. */
typedef struct ingot_spec_constant {
    uint32_t id;   /**< SPIR-V SpecId. */
    uint32_t size; /**< Bytes: 1, 2, 4 or 8; 1 for booleans. */
    const void *value;
} ingot_spec_constant_t;

/** Flags of a program. */
typedef enum ingot_program_flags {
    /** Does not keep the program in memory. Each request builds or loads. A request that arrives during another
     *  request's build or load gets the same result. Later requests build again until a storage has the program. */
    INGOT_PROGRAM_NO_MEMORY_CACHE = 1
} ingot_program_flags_t;

/** Program configuration. Everything is copied; sources are retained. */
typedef struct ingot_program_info {
    size_t struct_size;
    /** If there are several, they are compiled and linked into one program, in this order. */
    const ingot_source_t *sources;
    size_t source_count;           /**< At least 1. */
    const ingot_source_t *headers; /**< Each is of kind INGOT_SOURCE_HEADER and has a name. */
    size_t header_count;
    const char *compile_options;                 /**< NULL: none. */
    const char *link_options;                    /**< NULL: none. */
    const ingot_spec_constant_t *spec_constants; /**< In any order; a repeated id is INGOT_INVALID_ARGUMENTS. */
    size_t spec_constant_count;
    const uint32_t *device_indices; /**< In any order, each once; NULL: all devices of the context. */
    size_t device_count;
    /** The eviction group, e.g. an input shape. It is not part of the id. NULL: none. A program requested through
     *  descriptors of several groups belongs to all of them, and is evicted with the last one. */
    const char *group;
    uint32_t flags; /**< ingot_program_flags_t */
    /** Expressions that name entry points in templates or namespaces, such as "scale<float>". The compiler instantiates
     *  them, and they name kernels. In any order, each once. For backends that support them (ingot/cuda.h). */
    const char *const *name_expressions;
    size_t name_expression_count;
} ingot_program_info_t;
#define INGOT_PROGRAM_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_program_info_t), NULL, 0, NULL, 0, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0                 \
    }

/**
 * Creates a program descriptor without compiling. Reads the files that text sources can reach by #include, so the
 * descriptor represents their content at this time.
 *
 * A descriptor remembers its program. Keep the descriptor and use it again: requests with it take the fast path.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p info is malformed, or the backend does not accept a source's kind.
 * @retval INGOT_UNIMPLEMENTED      The backend does not support name expressions.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                                   const ingot_program_info_t *info);
/** Drops a reference. Programs hold their own references. */
INGOT_API void ingot_program_desc_release(ingot_program_desc_t desc);

/* ---- the three entry points for persistence ---------------------------------------------------------------------- */

/**
 * Returns the bytes that identify the result of building @p desc. They are equal in every process in which sources,
 * options, devices, driver, compiler and library are equal. The first call computes them. doc/blob-format.md specifies
 * them.
 *
 * @param[out] size  The size of the id in bytes.
 * @param[out] id    Owned by the descriptor, and valid as long as the descriptor is.
 * @retval INGOT_NOT_CACHEABLE  The error detail says why: an option may read a file, the program uses __DATE__,
 * __TIME__ or __TIMESTAMP__, or compilers read one of its texts differently (doc/hermetic-builds.md). The program still
 * builds.
 * @retval INGOT_BACKEND_ERROR  A device did not report its identity.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_desc_get_cache_blob_id(const_ingot_program_desc_t desc, size_t *size,
                                                              const uint8_t **id);

/**
 * Describes the id of an entry, such as a program's or an artifact's (ingot/artifact.h), as a JSON object with one
 * member per field, as a NUL-terminated text; size protocol. "source[0].blake2b" of a program is the digest of the text
 * that the compiler gets: the first source with all that it includes.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  @p id is not an id that this library can read.
 * @retval INGOT_BUFFER_TOO_SMALL, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_blob_id_describe(size_t size, const uint8_t *id, size_t *text_size, char *text);

/**
 * Copies the program's cache blob to @p cache_blob.
 *
 * The blob contains the compiled binary for every distinct device of the program, its kernel names, the build log and
 * the name of the first source. It can be loaded only with an equal descriptor. Getting the binaries from the driver
 * can take longer than the build (INGOT_EVENT_TAKE_BLOB reports the time). A size query keeps the bytes that it
 * gathered until a later call copies them. If the driver generates code at launch, the blob has the code of the
 * launches before. PoCL returns a program's second blob again to all later calls; of a loaded program, or one that was
 * linked from several sources, it does so with the first.
 *
 * @param[in]     program     A program, built or loaded.
 * @param[in,out] size        In: capacity of @p cache_blob in bytes. Out: the blob's size in bytes.
 * @param[out]    cache_blob  The destination, or NULL to query the size.
 * @retval INGOT_BUFFER_TOO_SMALL  @p size is set, @p cache_blob is unchanged.
 * @retval INGOT_NOT_CACHEABLE     The program has no id (ingot_program_desc_get_cache_blob_id), was compiled with
 * files that its compiler found by itself, or a file or environment variable of the compiler has changed since the
 * context identified the device.
 * @retval INGOT_UNIMPLEMENTED     The driver does not provide binaries.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_get_cache_blob(const_ingot_program_t program, size_t *size, uint8_t *cache_blob);

/**
 * Creates the program of @p desc from a blob. Compiles nothing, except for devices that the blob has no binary for.
 *
 * If an equal program is already in the in-memory cache, returns it and ignores the blob. A rejected blob leaves
 * nothing behind and does not affect other callers; call ingot_program_get then. Ingot verifies the whole blob
 * before the driver sees any of it.
 *
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_BLOB_MISMATCH, INGOT_BLOB_STALE,
 *         INGOT_BLOB_REJECTED  The blob was rejected. Treat each as a miss and build.
 * @retval INGOT_NOT_CACHEABLE  @p desc has no id.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_create_from_cache_blob(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                              size_t size, const uint8_t *cache_blob);

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/** Flags of a request for a program. */
typedef enum ingot_program_get_flags {
    INGOT_PROGRAM_GET_IN_MEMORY = 1 /**< Returns the program only if it is in memory. Neither waits nor builds. */
} ingot_program_get_flags_t;

/**
 * Returns the program of @p desc from memory, waits for a thread that is building it, or builds it. The caller releases
 * the program.
 *
 * @param flags                     ingot_program_get_flags_t; 0: none.
 * @retval INGOT_NOT_FOUND          INGOT_PROGRAM_GET_IN_MEMORY is set, and the program is not in memory.
 * @retval INGOT_DEADLOCK           This thread is building the program. Nothing detects builders that wait for each
 *                                  other's programs: their order is the application's.
 * @retval INGOT_BUILD_FAILED       The detail holds the build log. Failures are not cached: the next call tries again.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_get(ingot_program_t *program, const_ingot_program_desc_t desc, uint32_t flags);

/** Drops a reference. The in-memory cache and each kernel hold their own references. */
INGOT_API void ingot_program_release(ingot_program_t program);

/** What is known of a program. A blob contains it, so a loaded program has it, too. */
typedef struct ingot_program_facts {
    size_t struct_size;
    int is_from_cache_blob; /**< Not 0: any of the program's binaries came from a cache blob. 0: all were compiled. */
    /** How long compiling took: the time spent in calls to the compiler, for all of the program's devices together. For
     *  a loaded program, the time in the blob. 0: unknown, because an earlier version of Ingot wrote the blob. */
    uint64_t build_time_ns;
    const char *build_log;    /**< The compiler's messages, in device order; "" if it had none. */
    const char *kernel_names; /**< Sorted, each followed by a NUL. */
    size_t kernel_names_size; /**< The size of all names together, with their NULs. */
    size_t kernel_count;
} ingot_program_facts_t;
#define INGOT_PROGRAM_FACTS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_program_facts_t), 0, 0, NULL, NULL, 0, 0                                                          \
    }
/** Returns what is known of a program. @param[in,out] facts  The caller sets struct_size. The pointers are valid as
 * long as @p program is held. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_program_get_facts(const_ingot_program_t program, ingot_program_facts_t *facts);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/**
 * Returns a kernel of a program. All callers share it, and each caller releases its reference. The kernel holds a
 * reference to the program. The first request creates the native kernel. Concurrent first requests may each create one;
 * all of them return the one that is finished first.
 *
 * @param[in] device_index  One of the program's devices, by its index in the context.
 * @retval INGOT_NOT_FOUND          The program has no such kernel.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the program was not made for the device.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_kernel_create(ingot_kernel_t *kernel, ingot_program_t program, uint32_t device_index,
                                             const char *name);

/** Combines ingot_program_get and ingot_kernel_create in one look-up: the fast path from descriptor to kernel. The
 *  caller releases the kernel. Statuses as these two functions. */
INGOT_API ingot_status_t ingot_kernel_get(ingot_kernel_t *kernel, const_ingot_program_desc_t desc,
                                          uint32_t device_index, const char *name);

/** Drops a reference. A shared kernel lives as long as its program. */
INGOT_API void ingot_kernel_release(ingot_kernel_t kernel);

/**
 * Locks a kernel. In OpenCL and Level Zero, setting arguments and launching is one critical section: callers that share
 * a kernel must hold its lock while doing both. The lock is not recursive, and the thread that locked it unlocks it.
 * Ingot itself never takes this lock. @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_kernel_lock(ingot_kernel_t kernel);
/** Unlocks a kernel, in the thread that locked it. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_kernel_unlock(ingot_kernel_t kernel);

/* ---- the in-memory cache ----------------------------------------------------------------------------------------- */

/**
 * Drops the programs of @p group from memory, except those that were also requested in another group or without a
 * group. Existing references stay valid. A build in flight is returned to the threads that wait for it but is not kept.
 *
 * @param[in] group  NULL: drops all programs.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_context_clear_cache(ingot_context_t context, const char *group);

/** Counts since the context was created, and the cache's current content and limits. */
typedef struct ingot_cache_stats {
    size_t struct_size;
    uint64_t hits;             /**< Requests answered from memory. */
    uint64_t misses;           /**< Requests for which a builder ran. */
    uint64_t waits;            /**< Requests that waited for another thread's builder. */
    uint64_t builds;           /**< Compilations that succeeded. */
    uint64_t build_failures;   /**< Compilations that failed. */
    uint64_t loads;            /**< Programs created from blobs. */
    uint64_t load_failures;    /**< Rejected blobs. */
    uint64_t blobs_taken;      /**< Times the driver was asked for binaries. */
    uint64_t evictions_count;  /**< Programs evicted because of max_programs. */
    uint64_t evictions_bytes;  /**< Programs evicted because of max_bytes. */
    uint64_t evictions_groups; /**< Programs evicted because of max_groups. */
    uint64_t evictions_clear;  /**< Programs dropped by ingot_context_clear_cache. */
    uint64_t evictions_memory; /**< Programs evicted because memory ran out. */
    size_t programs;           /**< Now in the cache. */
    size_t bytes;              /**< The bytes of these programs. */
    size_t groups;             /**< The groups of these programs. */
    uint64_t max_programs;     /**< The cache's limits (ingot_cache_capacity_t). 0 if the cache is off. */
    uint64_t max_bytes;        /**< 0: no limit, as in max_groups. */
    uint64_t max_groups;
    uint32_t flags; /**< ingot_cache_flags_t */
} ingot_cache_stats_t;
#define INGOT_CACHE_STATS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_cache_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                        \
    }
/** Returns the counts and limits. The counts are exact if no other thread is using the context.
 *  @param[in,out] stats  The caller sets struct_size. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_context_get_cache_stats(const_ingot_context_t context, ingot_cache_stats_t *stats);

#ifdef __cplusplus
}
#endif

#endif

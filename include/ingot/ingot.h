/* SPDX-License-Identifier: MIT */
/**
 * @file ingot.h
 * The core of Ingot: it keeps compiled device programs.
 *
 * An application describes a program (sources, options, constants, devices), and gets it from the
 * in-memory cache, from a cache blob that it kept itself, or by compiling. The core never touches a
 * file for writing; where blobs are kept is the application's choice (see ingot/storage.h and
 * ingot/persist.h for the bundled answer).
 *
 * @par Conventions
 *  - Every function that can fail returns an ingot_status_t; ingot_last_error_detail() has a sentence.
 *  - The created object is the first parameter; it is written on success only.
 *  - Bytes are copied out by one size protocol: buffer NULL, *size = bytes needed and success; *size too
 *    small, INGOT_BUFFER_TOO_SMALL, *size = bytes needed and the buffer untouched; else *size = bytes
 *    written. Text sizes count the terminating NUL.
 *  - create / retain / release. A handle may be released from any thread; release(NULL) does nothing.
 *  - NULL or malformed arguments are INGOT_INVALID_ARGUMENTS. A dangling handle is undefined behaviour.
 *  - Info structures begin with struct_size and have an _INIT macro; zero means "default". A flag that this version
 *    does not know is INGOT_INVALID_ARGUMENTS.
 *  - Strings are NUL-terminated UTF-8. Sizes are bytes, durations nanoseconds, unless a name says else.
 *  - Unless said otherwise, every function may be called from any number of threads on the same objects.
 *  - pthread_cancel ends no thread where it holds a lock of Ingot or where others wait for what it makes.
 *    Asynchronous cancellation is not supported.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_VERSION_MAJOR 0
#define INGOT_VERSION_MINOR 1
#define INGOT_VERSION_PATCH 0

/** Version and build revision of the library in use, "MAJOR.MINOR.PATCH+REVISION"; part of every id. */
INGOT_API const char *ingot_version(void);

/* ---- status ---------------------------------------------------------------------------------------- */

/** What became of a call. Values are stable; new ones are appended. */
typedef enum ingot_status {
    INGOT_SUCCESS = 0,
    INGOT_OUT_OF_MEMORY = 1,     /**< Host or device; the in-memory cache was emptied and the call tried once more. */
    INGOT_INVALID_ARGUMENTS = 2, /**< The caller's mistake; the detail names the argument. */
    INGOT_BUFFER_TOO_SMALL = 3,  /**< The size was set to what is needed, the buffer is untouched. */
    INGOT_UNIMPLEMENTED = 4,     /**< This backend or driver cannot do it (no binaries, no SPIR-V, ...). */
    INGOT_NOT_FOUND = 5,         /**< A look-up found nothing; no such kernel. */
    INGOT_NOT_CACHEABLE = 6,     /**< No id can vouch for this program; ingot_program_desc_is_cacheable says why. */
    INGOT_BUILD_FAILED = 7,      /**< The compiler refused the program; the detail holds the build log. */
    INGOT_BACKEND_ERROR = 8,     /**< The driver failed otherwise; ingot_last_error_code has its own code. */
    INGOT_BLOB_TRUNCATED = 9,    /**< The blob ends before its header says it does. */
    INGOT_BLOB_CORRUPT = 10,     /**< Not a blob, or its checksum does not hold. */
    INGOT_BLOB_VERSION = 11,     /**< A blob of a format version that this library does not read. */
    INGOT_BLOB_MISMATCH = 12,    /**< A sound blob, of another program. */
    INGOT_BLOB_STALE = 13,       /**< A sound blob, for another device, driver, compiler or library build. */
    INGOT_BLOB_REJECTED = 14,    /**< All of it checked out and the driver still refused it. */
    INGOT_IO_ERROR = 15,         /**< Storages: the operating system failed; its errno is in the detail. */
    INGOT_READ_ONLY = 16,        /**< Storages: opened or found read-only. */
    INGOT_NO_SPACE = 17,         /**< Storages: disk full, quota, or larger than the storage may become. */
    INGOT_BUSY = 18,             /**< Storages: a lock was not had in time. */
    INGOT_UNTRUSTED = 19         /**< Storages: owned or writable by another user, or not a plain directory or file. */
} ingot_status_t;

/** The enumerator's name, e.g. "INGOT_NOT_FOUND"; "unknown status" for a value that is none. Never NULL. */
INGOT_API const char *ingot_status_name(ingot_status_t status);

/**
 * A sentence about the last failure in the calling thread, with the driver's code or the build log where there
 * is one. Never NULL; "" where nothing failed yet. Valid until the thread's next call into Ingot that is no release:
 * whatever a release calls or stores, sentence and code stay, so that a failure can be told after cleaning up.
 */
INGOT_API const char *ingot_last_error_detail(void);

/**
 * The code that belongs to the sentence: what the driver or its compiler answered, such as a cl_int, ze_result_t,
 * CUresult or nvrtcResult (the sentence names the call), or the errno of INGOT_IO_ERROR and other failures of the
 * operating system. 0 where the failure was found by Ingot, or nothing failed yet. Valid as long as the sentence.
 */
INGOT_API int64_t ingot_last_error_code(void);

/* ---- handles ----------------------------------------------------------------------------------------- */

/** One backend, one native context, its devices, one in-memory cache. */
typedef struct ingot_context *ingot_context_t;
typedef const struct ingot_context *const_ingot_context_t;
/** Immutable input of a build: OpenCL C, SPIR-V, CUDA C++, PTX, or a backend's own. Belongs to no context. */
typedef struct ingot_source *ingot_source_t;
typedef const struct ingot_source *const_ingot_source_t;
/** What to build: sources, options, constants and devices of one context. Immutable. */
typedef struct ingot_program_desc *ingot_program_desc_t;
typedef const struct ingot_program_desc *const_ingot_program_desc_t;
/** A built descriptor; shared by all who asked for an equal one. */
typedef struct ingot_program *ingot_program_t;
typedef const struct ingot_program *const_ingot_program_t;
/** One entry point of a program on one device; shared. */
typedef struct ingot_kernel *ingot_kernel_t;
typedef const struct ingot_kernel *const_ingot_kernel_t;

/* ---- events -------------------------------------------------------------------------------------------- */

/** What happened. Each kind says what status, bytes and duration_ns of the event mean. */
typedef enum ingot_event_kind {
    INGOT_EVENT_HIT = 0,           /**< Found in memory. */
    INGOT_EVENT_MISS = 1,          /**< Not in memory: a builder runs next. */
    INGOT_EVENT_WAIT = 2,          /**< Waited duration_ns for another thread's build; status: how it ended. */
    INGOT_EVENT_BUILD = 3,         /**< Compiled; status, duration_ns. */
    INGOT_EVENT_LOAD = 4,          /**< Made from a blob of bytes; status (a refusal says why), duration_ns. */
    INGOT_EVENT_TAKE_BLOB = 5,     /**< The driver was asked for binaries: bytes, duration_ns, status. */
    INGOT_EVENT_EVICT = 6,         /**< Left the in-memory cache: bytes; reason: what made it go. */
    INGOT_EVENT_STORAGE_LOAD = 7,  /**< A storage was asked: status (INGOT_NOT_FOUND: a miss), bytes, duration_ns. */
    INGOT_EVENT_STORAGE_STORE = 8, /**< A blob was handed to a storage: status, bytes, duration_ns. */
    INGOT_EVENT_STORAGE_EVICT = 9, /**< A storage dropped entries to keep its limits: bytes, duration_ns. */
    INGOT_EVENT_STORAGE_DEGRADED = 10, /**< A storage went on without something; status and reason say what. */
    INGOT_EVENT_PREWARM = 11, /**< Loading ahead ended: bytes, duration_ns; reason: why, and how much was loaded. */
    INGOT_EVENT_NATIVE_BUILD = 12, /**< Compiled as the application asked, with the files that the compiler found: the
                                    *   program has no blob; reason: what could not be replaced. */
    INGOT_EVENT_ENVIRONMENT = 13 /**< name is an INGOT_* variable that Ingot does not have; reason: the nearest one. */
} ingot_event_kind_t;

/** One event. Pointers are valid during the callback only and never NULL. */
typedef struct ingot_event {
    size_t struct_size;
    ingot_event_kind_t kind;
    ingot_status_t status;
    uint64_t duration_ns;
    size_t bytes;
    const char *group;   /**< The descriptor's group, or "". */
    const char *name;    /**< The first source's name, an entry's place in a storage, or "". */
    const char *reason;  /**< Why, for people; "" where the kind says all. */
    const char *session; /**< Of an object cache's object; "" otherwise. */
} ingot_event_t;
#define INGOT_EVENT_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(ingot_event_t), INGOT_EVENT_HIT, INGOT_SUCCESS, 0, 0, "", "", "", ""                                    \
    }

/**
 * Called in the thread in which the event happened, with no lock held. It may call Ingot, except for what would
 * cause the same event for ever. It must not throw or longjmp.
 */
typedef void (*ingot_event_callback_t)(const ingot_event_t *event, void *user);

/** Kind as it stands in INGOT_TRACE's output, e.g. "hit", "storage_load". Never NULL. */
INGOT_API const char *ingot_event_kind_name(ingot_event_kind_t kind);

/** Tells the context's callback and its trace; for storages, so that all that happens is in one place. */
INGOT_API void ingot_context_emit_event(const struct ingot_context *context, const ingot_event_t *event);

/* ---- context --------------------------------------------------------------------------------------------- */

/**
 * Host memory for a context and what belongs to it. allocate returns memory aligned to @p alignment (a power of
 * two) or NULL; deallocate takes what allocate gave, with the same size. Both may be called from any thread.
 */
typedef struct ingot_allocator {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*deallocate)(void *user, void *memory, size_t size);
    void *user;
} ingot_allocator_t;

#define INGOT_CACHE_DEFAULT_PROGRAMS 1024

/** Flags of a context's in-memory cache. */
typedef enum ingot_cache_flags {
    INGOT_CACHE_OFF = 1, /**< Nothing is kept: every request builds or loads. max_programs is not looked at. */
    /** Over max_groups the group goes first whose last use was the earliest; without it, the oldest group. Finding it
     *  looks at every program, once for each group that begins over the limit. */
    INGOT_CACHE_LRU_GROUPS = 2
} ingot_cache_flags_t;

/** Limits of a context's in-memory cache. */
typedef struct ingot_cache_capacity {
    size_t struct_size;
    size_t max_programs; /**< 0: INGOT_CACHE_DEFAULT_PROGRAMS. */
    /** Device binaries and host overhead together; 0: no limit. Where asking the driver would cost more than the build
     *  (PoCL), a built program counts by an estimate, and by its real size once its blob was taken. */
    size_t max_bytes;
    size_t max_groups; /**< Groups; over it the oldest group goes whole (flags); 0: no limit. */
    uint32_t flags;    /**< ingot_cache_flags_t; others are INGOT_INVALID_ARGUMENTS. */
} ingot_cache_capacity_t;
#define INGOT_CACHE_CAPACITY_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(ingot_cache_capacity_t), 0, 0, 0, 0                                                                     \
    }

/** Flags of a context. */
typedef enum ingot_context_flags {
    INGOT_CONTEXT_IGNORE_ENVIRONMENT = 1 /**< Read no INGOT_* variable. */
} ingot_context_flags_t;

/**
 * How a context is to be. Unless INGOT_CONTEXT_IGNORE_ENVIRONMENT is set, the environment is read once, when the
 * context is made: INGOT_TRACE=1 writes one line an event to standard error (INGOT_TRACE=PATH appends to a file);
 * INGOT_COMPILE_OPTIONS and INGOT_LINK_OPTIONS are appended to every program's and part of its id;
 * INGOT_CACHE_CAPACITY, INGOT_CACHE_MAX_BYTES and INGOT_CACHE_GROUPS are used where cache_capacity is NULL;
 * INGOT_CACHE=0 turns the in-memory cache off likewise. A value that makes no sense is INGOT_INVALID_ARGUMENTS, if it
 * would be used; an INGOT_* variable that is not there is told by an INGOT_EVENT_ENVIRONMENT. A setuid program reads
 * none. doc/environment.md has all variables.
 */
typedef struct ingot_context_info {
    size_t struct_size;
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
    ingot_event_callback_t on_event;    /**< NULL: none. */
    void *on_event_user;
    const ingot_cache_capacity_t *cache_capacity; /**< NULL: the environment's, else the defaults. */
    uint32_t flags;                               /**< ingot_context_flags_t */
} ingot_context_info_t;
#define INGOT_CONTEXT_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_context_info_t), NULL, NULL, NULL, NULL, 0                                                        \
    }

/* A context is made by a backend's own header (ingot/opencl.h, ingot/level_zero.h, ingot/cuda.h), or by
 * ingot_context_create of ingot/backend.h for a backend of one's own. */

/** One more reference to @p context. */
INGOT_API ingot_status_t ingot_context_retain(ingot_context_t context);

/**
 * Lets go of a reference. Descriptors and programs hold references of their own; the native context is let go when
 * the last of all these is. Releasing the application's last one drops the in-memory cache; a build in flight
 * ends, is handed to those who wait for it, and is not kept.
 */
INGOT_API void ingot_context_release(ingot_context_t context);

/** Devices of the context, as they were given when it was made. 0 for NULL. */
INGOT_API uint32_t ingot_context_get_device_count(const_ingot_context_t context);

/** Name of the context's backend: "opencl", "level_zero", "cuda" or that of a custom one. Never NULL; "" for NULL. */
INGOT_API const char *ingot_context_get_backend_name(const_ingot_context_t context);

/** What Ingot knows of a device that a user of blobs should know too. */
typedef struct ingot_device_info {
    size_t struct_size;
    /** Not 0: the driver finishes code generation at a kernel's first launch, so a blob taken before it leaves that
     *  part of the compiling to the next process (PoCL). Take blobs after the first launches. */
    int generates_code_at_launch;
} ingot_device_info_t;
#define INGOT_DEVICE_INFO_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_device_info_t), 0                                                                                 \
    }
/** @param[in,out] info  struct_size set by the caller. */
INGOT_API ingot_status_t ingot_context_get_device_info(const_ingot_context_t context, uint32_t device_index,
                                                       ingot_device_info_t *info);

/* ---- what to build -------------------------------------------------------------------------------------------- */

/** Language or format of a source. */
typedef enum ingot_source_kind {
    INGOT_SOURCE_OPENCL_C = 1,
    INGOT_SOURCE_SPIRV = 2,
    INGOT_SOURCE_CUDA_CPP = 3,
    INGOT_SOURCE_PTX = 4,
    INGOT_SOURCE_HEADER = 5,        /**< Text that other sources include by name. */
    INGOT_SOURCE_OWN_TEXT = 0x100,  /**< A backend's own language with C's #include; this and up to 0x1ff. */
    INGOT_SOURCE_OWN_BINARY = 0x200 /**< A backend's own format without includes; this and up to 0x2ff. */
} ingot_source_kind_t;

/** A source to be. Bytes and name are copied. */
typedef struct ingot_source_info {
    size_t struct_size;
    ingot_source_kind_t kind;
    const void *bytes;                  /**< Text need not end in NUL and must not contain it. */
    size_t size;                        /**< Bytes; at least 1 except for a header. */
    const char *name;                   /**< For messages; for a header the name in the #include. NULL: none. */
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
    /** Options for this source alone, behind the program's. For backends that compile source by source; a header has
     *  none. Copied. NULL: none. */
    const char *compile_options;
    /** Embedded headers for this source alone, beside the program's: of kind INGOT_SOURCE_HEADER, with names that
     * differ
     *  among themselves and from the program's. References are taken. */
    const ingot_source_t *headers;
    size_t header_count;
} ingot_source_info_t;
#define INGOT_SOURCE_INFO_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_source_info_t), (ingot_source_kind_t)0, NULL, 0, NULL, NULL, NULL, NULL, 0                        \
    }

/** Makes a source; its content is hashed once, here. @retval INGOT_OUT_OF_MEMORY */
INGOT_API ingot_status_t ingot_source_create(ingot_source_t *source, const ingot_source_info_t *info);
/** One more reference, and one less. Descriptors hold references of their own. */
INGOT_API ingot_status_t ingot_source_retain(ingot_source_t source);
INGOT_API void ingot_source_release(ingot_source_t source);

/** Value of one specialization constant, as the device's byte order has it. */
typedef struct ingot_spec_constant {
    uint32_t id;   /**< SPIR-V SpecId. */
    uint32_t size; /**< Bytes: 1, 2, 4 or 8; booleans take 1. */
    const void *value;
} ingot_spec_constant_t;

/** Flags of a program. */
typedef enum ingot_program_flags {
    /** Never kept in memory: each request builds or loads, but for those that come while another does. They get what
     *  that one made. */
    INGOT_PROGRAM_NO_MEMORY_CACHE = 1
} ingot_program_flags_t;

/** A program to be described. Everything is copied; sources are retained. */
typedef struct ingot_program_info {
    size_t struct_size;
    const ingot_source_t *sources; /**< Several are compiled and linked into one program, in this order. */
    size_t source_count;           /**< At least 1. */
    const ingot_source_t *headers; /**< Of kind INGOT_SOURCE_HEADER; each needs a name. */
    size_t header_count;
    const char *compile_options;                 /**< NULL: none. */
    const char *link_options;                    /**< NULL: none. */
    const ingot_spec_constant_t *spec_constants; /**< Any order; an id twice is INGOT_INVALID_ARGUMENTS. */
    size_t spec_constant_count;
    const uint32_t *device_indices; /**< Any order, each once; NULL: all devices of the context. */
    size_t device_count;
    /** Eviction group, e.g. an input shape; not part of the id. NULL: none. A program that descriptors of several
     *  groups asked for belongs to all of these, and goes with the last of them. */
    const char *group;
    uint32_t flags; /**< ingot_program_flags_t */
    /** Expressions that name entry points of templates or namespaces, such as "scale<float>", and make them be
     *  compiled; kernels are then found by them. Any order, each once. For backends that have them (ingot/cuda.h). */
    const char *const *name_expressions;
    size_t name_expression_count;
} ingot_program_info_t;
#define INGOT_PROGRAM_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_program_info_t), NULL, 0, NULL, 0, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0                 \
    }

/**
 * Describes a program. Nothing is compiled. Files that text sources can reach by #include are read here, so that
 * a descriptor stands for their content at this moment.
 *
 * A descriptor remembers the program it led to, so keep it and ask with it again: that is the fast path.
 *
 * @retval INGOT_INVALID_ARGUMENTS  A malformed info; a source kind that the backend does not take.
 * @retval INGOT_UNIMPLEMENTED      Name expressions, or options and headers of a source, and the backend has none.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                                   const ingot_program_info_t *info);
/** One more reference, and one less. Programs hold references of their own. */
INGOT_API ingot_status_t ingot_program_desc_retain(ingot_program_desc_t desc);
INGOT_API void ingot_program_desc_release(ingot_program_desc_t desc);

/** The context it was created with; borrowed. NULL for NULL. */
INGOT_API ingot_context_t ingot_program_desc_get_context(const_ingot_program_desc_t desc);

/** Its devices, ascending; @p indices is valid as long as the descriptor. */
INGOT_API ingot_status_t ingot_program_desc_get_devices(const_ingot_program_desc_t desc, size_t *count,
                                                        const uint32_t **indices);

/**
 * Whether an id can vouch for the program.
 *
 * @param[out] reason  May be NULL. Why not, or "" on success; valid as long as the descriptor.
 * @retval INGOT_SUCCESS        It can, if the program builds with the includes that Ingot resolved. If it does not,
 *                              ingot_program_get_cache_blob says so.
 * @retval INGOT_NOT_CACHEABLE  It cannot: an option that may read a file, __DATE__, __TIME__ or __TIMESTAMP__, or a
 * text
 *                              that compilers read differently (doc/hermetic-builds.md). The program still builds.
 */
INGOT_API ingot_status_t ingot_program_desc_is_cacheable(const_ingot_program_desc_t desc, const char **reason);

/* ---- the three entry points for persistence ---------------------------------------------------------------------- */

/**
 * The bytes that identify what a build of @p desc would produce: equal in every process in which sources, options,
 * devices, driver, compiler and library are. Computed at the first call; doc/blob-format.md specifies them.
 *
 * @param[out] size  Bytes.
 * @param[out] id    Valid as long as the descriptor.
 * @retval INGOT_NOT_CACHEABLE  ingot_program_desc_is_cacheable says why.
 * @retval INGOT_BACKEND_ERROR  A device did not tell its identity.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_desc_get_cache_blob_id(const_ingot_program_desc_t desc, size_t *size,
                                                              const uint8_t **id);

/**
 * Copies the program's cache blob to @p cache_blob.
 *
 * The blob holds the compiled binary for every distinct device of the program, its kernel names and the build log.
 * It is meaningful only together with an equal descriptor. Asking the driver can cost more than the build did
 * (INGOT_EVENT_TAKE_BLOB tells); what was gathered for a size query is kept until it is copied out.
 *
 * @param[in]     program     A program, built or loaded.
 * @param[in,out] size        In: capacity of @p cache_blob in bytes. Out: the blob's size in bytes.
 * @param[out]    cache_blob  Where to, or NULL to learn the size.
 * @retval INGOT_BUFFER_TOO_SMALL  @p size set, @p cache_blob untouched.
 * @retval INGOT_NOT_CACHEABLE     No id can vouch for this program.
 * @retval INGOT_UNIMPLEMENTED     The driver gives out no binaries.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_get_cache_blob(const_ingot_program_t program, size_t *size, uint8_t *cache_blob);

/**
 * Makes the program of @p desc from a blob, without compiling; parts for devices that the blob lacks are built.
 *
 * Goes through the in-memory cache: where an equal program is there already, it is returned and the blob is not
 * looked at. A refused blob leaves nothing behind and fails no other caller; call ingot_program_create then.
 * All of the blob is verified before the driver sees a byte of it.
 *
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_BLOB_MISMATCH, INGOT_BLOB_STALE,
 *         INGOT_BLOB_REJECTED  Refused; each is a miss, to be met by building.
 * @retval INGOT_NOT_CACHEABLE  No id can vouch for @p desc.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_create_from_cache_blob(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                              size_t size, const uint8_t *cache_blob);

/**
 * A descriptor of an id alone, without sources: for loading a program before anybody describes it, as when a list of
 * ids from a previous run is loaded ahead. It stands for all devices of the context that the id speaks of.
 *
 * Its programs are made by ingot_program_load and ingot_program_create_from_cache_blob; to compile it is
 * INGOT_INVALID_ARGUMENTS. To a request by a descriptor with sources it is another program, also where the ids are
 * equal: ingot_program_share, in that one's builder, makes one of the other.
 *
 * @param[in] id  Copied; from anywhere.
 * @retval INGOT_BLOB_STALE  It is for another device, driver, compiler, backend, library build, or other options of
 *                           the environment: no descriptor of this context can have this id. Found out before anything
 *                           is loaded.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  No id that this library reads.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY, INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_program_desc_create_from_cache_blob_id(ingot_program_desc_t *desc,
                                                                      ingot_context_t context, size_t size,
                                                                      const uint8_t *id);

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/**
 * The program of @p desc: from memory, or by waiting for a thread that builds it, or by building it.
 *
 * @retval INGOT_BUILD_FAILED   The detail holds the build log. Not remembered: the next call tries anew.
 * @retval INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_create(ingot_program_t *program, const_ingot_program_desc_t desc);

/** The program of @p desc if it is in memory. @retval INGOT_NOT_FOUND  It is not; nothing was built. */
INGOT_API ingot_status_t ingot_program_lookup(ingot_program_t *program, const_ingot_program_desc_t desc);

/**
 * Makes the program of @p desc for ingot_program_get_or_create, typically by ingot_program_load with a blob from
 * somewhere, and ingot_program_build if that fails. Called with no lock held. It may request other programs; a
 * request for the same one through the cache is INGOT_INVALID_ARGUMENTS.
 */
typedef ingot_status_t (*ingot_program_builder_t)(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                  void *user);

/**
 * Like ingot_program_create, with a builder of the caller's own: one builder runs per key, however many threads ask.
 * A builder's INGOT_BUILD_FAILED is told to every waiter with its detail. So is INGOT_OUT_OF_MEMORY, after the cache
 * was emptied and the builder called once more. After another failure one waiter tries once more, with its own builder.
 *
 * @retval INGOT_INVALID_ARGUMENTS  Also: asked for by the builder of the same key.
 */
INGOT_API ingot_status_t ingot_program_get_or_create(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                     ingot_program_builder_t builder, void *user);

/**
 * Work that one thread does and others wait for outside of Ingot, as when a builder hands a load to a thread pool.
 * Ingot refuses a request that would wait in a ring: for a builder that waits, over any number of others, for the
 * thread which asks. With these four functions it also sees the rings that such work is part of. Zeroed before first
 * use; its content is Ingot's.
 */
typedef struct ingot_work {
    struct ingot_worker *worker;
} ingot_work_t;

/** The calling thread does @p work from now on. NULL does nothing. */
INGOT_API void ingot_work_begin(ingot_work_t *work);
/** The work is done, or given up; by the thread that began it, before those who wait are told. NULL: nothing. */
INGOT_API void ingot_work_end(ingot_work_t *work);
/**
 * Notes that the calling thread waits for @p work from now on, until ingot_work_end_wait; in between it must not call
 * Ingot. A thread waits for one work at a time. The memory of @p work must stay as long.
 *
 * @retval INGOT_INVALID_ARGUMENTS  The work waits for the calling thread, or is its own: do not wait. Nothing was
 *                                  noted. Or @p work is NULL.
 */
INGOT_API ingot_status_t ingot_work_begin_wait(const ingot_work_t *work);
/** The calling thread waits no longer. */
INGOT_API void ingot_work_end_wait(void);

/** Compiles, past the in-memory cache; for builders. Statuses as ingot_program_create. */
INGOT_API ingot_status_t ingot_program_build(ingot_program_t *program, const_ingot_program_desc_t desc);

/** Makes from a blob, past the in-memory cache; for builders. Statuses as ingot_program_create_from_cache_blob. */
INGOT_API ingot_status_t ingot_program_load(ingot_program_t *program, const_ingot_program_desc_t desc, size_t size,
                                            const uint8_t *cache_blob);

/**
 * Makes the program of @p desc out of one with an equal id, past the in-memory cache; for builders. Nothing is loaded
 * or compiled: the two share what the driver made, which lives until both are gone.
 *
 * @param[in] other  Of the same context, and made for all devices of @p desc at least; typically by a descriptor of
 *                   an id alone.
 * @retval INGOT_BLOB_MISMATCH  Their ids differ.
 * @retval INGOT_NOT_FOUND      @p other was not made for one of the devices.
 * @retval INGOT_NOT_CACHEABLE  No id can vouch for @p desc, or for what @p other was compiled of.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_share(ingot_program_t *program, const_ingot_program_desc_t desc,
                                             ingot_program_t other);

/** One more reference, and one less. The in-memory cache has its own, as has each kernel. */
INGOT_API ingot_status_t ingot_program_retain(ingot_program_t program);
INGOT_API void ingot_program_release(ingot_program_t program);

/**
 * Drops this program from memory, so that the next request makes it anew; who holds it keeps it. For a program that
 * turned out to be of no use, as when the driver refuses its kernels.
 *
 * @retval INGOT_NOT_FOUND  It is not in memory, or no longer: another may be in its place, which stays.
 */
INGOT_API ingot_status_t ingot_program_forget(ingot_program_t program);

/** 1 where the driver got the program's binaries, or some of them, from a cache blob; 0 where all were compiled. */
INGOT_API int ingot_program_is_from_cache_blob(const_ingot_program_t program);

/** The compiler's messages, devices in order; size protocol, with NUL. Kept in the blob. */
INGOT_API ingot_status_t ingot_program_get_build_log(const_ingot_program_t program, size_t *size, char *log);

/** Kernel names, each with its NUL, sorted; size protocol over all of them together. Kept in the blob. */
INGOT_API ingot_status_t ingot_program_get_kernel_names(const_ingot_program_t program, size_t *size, char *names);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/**
 * A kernel of a program, shared by all who ask. It holds a reference to the program.
 *
 * @param[in] device_index  Of the context; one of the program's devices.
 * @retval INGOT_NOT_FOUND  The program has no such kernel.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_kernel_create(ingot_kernel_t *kernel, ingot_program_t program, uint32_t device_index,
                                             const char *name);

/** ingot_program_create and ingot_kernel_create in one look-up: the fast way from a descriptor to a kernel. */
INGOT_API ingot_status_t ingot_kernel_get(ingot_kernel_t *kernel, const_ingot_program_desc_t desc,
                                          uint32_t device_index, const char *name);

/** A native kernel object of its own for the same entry point, e.g. one a thread. @retval INGOT_UNIMPLEMENTED */
INGOT_API ingot_status_t ingot_kernel_clone(ingot_kernel_t *clone, ingot_kernel_t kernel);

/** One more reference, and one less. A shared kernel lives as long as its program. */
INGOT_API ingot_status_t ingot_kernel_retain(ingot_kernel_t kernel);
INGOT_API void ingot_kernel_release(ingot_kernel_t kernel);

/**
 * Setting arguments and launching is one critical section in OpenCL and Level Zero: who shares a kernel holds its
 * lock meanwhile. Not recursive. Nothing in Ingot takes this lock by itself.
 */
INGOT_API ingot_status_t ingot_kernel_lock(ingot_kernel_t kernel);
INGOT_API ingot_status_t ingot_kernel_unlock(ingot_kernel_t kernel);

/* ---- the in-memory cache ----------------------------------------------------------------------------------------- */

/** Sets all limits at once; what is over them is evicted before this returns, least recently used first. */
INGOT_API ingot_status_t ingot_context_set_cache_capacity(ingot_context_t context,
                                                          const ingot_cache_capacity_t *capacity);
/** @param[in,out] capacity  struct_size set by the caller. Where the cache is off, max_programs is 0. */
INGOT_API ingot_status_t ingot_context_get_cache_capacity(const_ingot_context_t context,
                                                          ingot_cache_capacity_t *capacity);

/**
 * Evicts once, least recently used first and oldest groups first, what is over @p to; the limits stay as they are. For
 * when an application needs memory for something else. Zero: the cache's own limit. INGOT_CACHE_OFF: everything goes.
 */
INGOT_API ingot_status_t ingot_context_trim_cache(ingot_context_t context, const ingot_cache_capacity_t *to);

/**
 * Drops programs from memory: those of @p group that were not asked for in another group or without one, or all for
 * NULL. Held programs live on until released; a build in flight is handed to its waiters and not kept.
 */
INGOT_API ingot_status_t ingot_context_clear_cache(ingot_context_t context, const char *group);

/** Counts since the context was made, and what the cache holds now. */
typedef struct ingot_cache_stats {
    size_t struct_size;
    uint64_t hits;             /**< Requests answered from memory. */
    uint64_t misses;           /**< Requests for which a builder ran. */
    uint64_t waits;            /**< Requests that waited for another's builder. */
    uint64_t builds;           /**< Compilations that succeeded. */
    uint64_t build_failures;   /**< Compilations that did not. */
    uint64_t loads;            /**< Programs made from blobs. */
    uint64_t load_failures;    /**< Blobs refused. */
    uint64_t blobs_taken;      /**< Times the driver was asked for binaries. */
    uint64_t evictions_count;  /**< Evicted because of max_programs, ... */
    uint64_t evictions_bytes;  /**< ... max_bytes, ... */
    uint64_t evictions_groups; /**< ... max_groups, ... */
    uint64_t evictions_clear;  /**< ... a call to clear, ... */
    uint64_t evictions_memory; /**< ... or because memory ran out. */
    size_t programs;           /**< In the cache now. */
    size_t bytes;              /**< Of these. */
    size_t groups;             /**< Of these. */
} ingot_cache_stats_t;
#define INGOT_CACHE_STATS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_cache_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                    \
    }
/** @param[in,out] stats  struct_size set by the caller. Exact when no other thread is in a call. */
INGOT_API ingot_status_t ingot_context_get_cache_stats(const_ingot_context_t context, ingot_cache_stats_t *stats);

/* ---- ids and blobs for people ------------------------------------------------------------------------------------ */

/**
 * An id as a JSON object, one member a field; size protocol, with NUL.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  @p id is not one that this library reads.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_describe(size_t size, const uint8_t *id, size_t *text_size, char *text);

/**
 * Which fields of two ids differ, as a JSON array of {"field", "expected", "found"}; [] for equal ids. Answers "why
 * was this a miss" with the wanted id as @p expected and a stored one as @p found. Statuses as describe.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_explain(size_t expected_size, const uint8_t *expected, size_t found_size,
                                                     const uint8_t *found, size_t *text_size, char *text);

/**
 * What a blob holds, as a JSON object: "kernels", "binaries" with the digest of the device's identity and the bytes of
 * each, "build_log"; size protocol, with NUL. Needs no device.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  Refused, as loading it would be.
 */
INGOT_API ingot_status_t ingot_cache_blob_describe(size_t size, const uint8_t *cache_blob, size_t *text_size,
                                                   char *text);

#ifdef __cplusplus
}
#endif

#endif

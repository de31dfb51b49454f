/*
 * program.h - built programs: what an entry of the in-memory cache stands for.
 *
 * The public handle is the cache's entry, whose reference count is the program's. The body is immutable once made,
 * but for its kernels, which are made when first asked for and published without a lock, and for the blob that a size
 * query gathered (under blob_lock).
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_H
#define INGOT_CORE_PROGRAM_PROGRAM_H

#include "core/base/os.h"
#include "core/descriptor/program_desc.h"

struct ingot_kernel;

/* A name is looked for by its tag, so that one string is compared, the one that it is. */
struct kernel_name {
    uint32_t tag;    /* of the name's hash */
    uint32_t offset; /* in names */
};

/* One block of memory with its names, kernels and log, since a look-up reads a little of each. */
struct program_body {
    size_t name_count;
    struct kernel_name *by_tag;              /* sorted */
    _Atomic(struct ingot_kernel *) *kernels; /* [device position][position in by_tag]; release/acquire */
    char *names;                             /* sorted, each with its NUL */
    struct ingot_program_desc *desc;         /* referenced */
    void *native;
    struct ingot_program *owner; /* of native, referenced; NULL: it is this body's own */
    size_t names_size;
    size_t block_size;
    size_t log_size;             /* with NUL; the log lies behind the names */
    _Atomic size_t device_bytes; /* of the binaries, as far as known: an estimate until the blob is taken; relaxed */
    bool is_from_blob;           /* at least for one of its devices */
    const char *native_reason; /* why it was compiled as the application asked, so that no id stands for it; or NULL */
    os_mutex blob_lock;
    size_t blob_size; /* under blob_lock, as blob */
    uint8_t *blob;    /* gathered by a size query and not yet copied out, or NULL */
};

static inline const char *program_log(const struct program_body *body)
{
    return body->names + body->names_size;
}

extern const struct memory_cache_ops program_cache_ops;

static inline struct cache_entry *program_entry(const struct ingot_program *program)
{
    return (struct cache_entry *)program;
}

static inline struct program_body *program_body(const struct ingot_program *program)
{
    return cache_entry_value(program_entry(program));
}

/* A program that is not in the cache. Takes native (or the reference to its owner) over in any case; names and log are
 * copied. */
struct program_parts {
    void *native;
    struct ingot_program *owner; /* as program_body's */
    size_t names_size;
    const char *names; /* ascending, each with its NUL */
    size_t log_size;
    const char *log;
    size_t device_bytes;
    bool is_from_blob;
    const char *native_reason; /* as program_body's */
};
ingot_status_t program_create(struct ingot_program **program, const struct ingot_program_desc *desc,
                              const struct program_parts *parts);

/* What the in-memory cache counts for it. SIZE_MAX: it is not to be kept. */
size_t program_count_bytes(const struct program_body *body);

/* Tells of an event of this descriptor's, to whoever wants to know. Cold: mostly nobody does. */
__attribute__((cold)) void program_emit(const struct ingot_program_desc *desc, ingot_event_kind_t kind,
                                        ingot_status_t status, uint64_t start_ns, size_t bytes, const char *reason);

#endif

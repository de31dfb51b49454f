/*
 * program_body.h - built programs, which are the values of entries of the in-memory cache.
 *
 * The public handle is the cache's entry, whose reference count is the program's. The body is immutable, except for its
 * kernels, which first requests make and publish without a lock, and the blob that a size query gathered (under
 * blob_lock).
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_BODY_H
#define INGOT_CORE_PROGRAM_PROGRAM_BODY_H

#include "core/base/os.h"
#include "core/descriptor/program_desc.h"

struct ingot_kernel;

/* Names are found by their tags, so that usually one string is compared. */
struct kernel_name {
    uint32_t tag;    /* of the name's hash */
    uint32_t offset; /* in names */
};

/* One block of memory with the names, kernels and log, because a look-up reads a little of each. */
struct program_body {
    size_t name_count;
    struct kernel_name *by_tag;              /* sorted */
    _Atomic(struct ingot_kernel *) *kernels; /* [device position][position in by_tag]; release/acquire */
    char *names;                             /* sorted, each with its NUL */
    struct ingot_program_desc *desc;         /* referenced */
    void *native;
    struct ingot_program *owner; /* of native, referenced; NULL: this body owns it */
    size_t names_size;
    size_t block_size;
    size_t log_size;             /* with NUL; the log follows the names */
    _Atomic size_t device_bytes; /* of the binaries; an estimate until the blob is taken; relaxed */
    bool is_from_blob;           /* for at least one of its devices */
    const char *native_reason;   /* why it was compiled natively and has no id; or NULL */
    const char *source_name;     /* of the first source, according to the blob it was loaded from, or "" */
    os_mutex blob_lock;
    size_t blob_size; /* under blob_lock, like blob */
    uint8_t *blob;    /* gathered by a size query and not yet copied out, or NULL */
};

static inline const char *program_log(const struct program_body *body)
{
    return body->names + body->names_size;
}

/* Returns the name of its first source, or "". */
const char *program_source_name(const struct program_body *body);

static inline struct cache_entry *program_entry(const struct ingot_program *program)
{
    return (struct cache_entry *)program;
}

static inline struct program_body *program_body(const struct ingot_program *program)
{
    return cache_entry_value(program_entry(program));
}

#endif

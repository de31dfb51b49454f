/*
 * program_body.h - built programs, which are the values of entries of the in-memory cache.
 *
 * The public handle is the cache's entry, whose reference count is also the program's. The body is immutable, except
 * for its kernels, which are made by the first request for each, and the blob that a size query gathered.
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_BODY_H
#define INGOT_CORE_PROGRAM_PROGRAM_BODY_H

#include "core/descriptor/program_desc.h"

struct ingot_kernel;
struct kernel_table;

/* A blob that a size query gathered and that has not been copied out yet. */
struct kept_blob {
    size_t size;
    uint8_t *bytes;
};

/* A program, in one block of memory with its names and its log. */
struct program_body {
    struct ingot_program_desc *desc;        /* referenced */
    _Atomic(struct kernel_table *) kernels; /* made by the first request for a kernel; release/acquire */
    uint32_t name_count;
    uint32_t names_size;
    void *native;
    struct ingot_program *owner;      /* the owner of native, referenced; NULL: this body owns it */
    size_t log_size;                  /* with NUL; the log follows the names */
    uint64_t build_ns;                /* how long compiling took, even if it is from a blob; 0: unknown */
    _Atomic size_t device_bytes;      /* size of the binaries; an estimate until the blob is taken; relaxed */
    _Atomic(struct kept_blob *) blob; /* NULL: none; threads take it by an exchange */
    bool is_from_blob;                /* true if at least one device's binary is from a blob */
    bool is_native;                   /* was compiled natively and has no id */
    /* sorted, each with its NUL; followed by the log, the blob's source name, and why the program is native */
    char names[];
};

static inline const char *program_log(const struct program_body *body)
{
    return body->names + body->names_size;
}

/* Returns why the program was compiled natively and has no id, or NULL. */
const char *program_native_reason(const struct program_body *body);
/* Returns the name of the program's first source, or "". */
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

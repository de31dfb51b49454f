/*
 * program.h - defines a built program, which is the value of an entry of the in-memory cache, and requests programs.
 *
 * The public handle of a program is the cache's entry, whose reference count is also the program's. The body is
 * immutable, except for its kernels (each is made when it is first requested), the blob that a size query made, and the
 * size of the binaries, which is corrected when the blob is made.
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_H
#define INGOT_CORE_PROGRAM_PROGRAM_H

#include "core/descriptor/program_desc.h"

struct kernel_table;

/* A blob that a size query made and that has not been copied out yet. */
struct kept_blob {
    size_t size;
    uint8_t *bytes;
};

/* A program. The names of its kernels, its log and its other texts follow it in the same block of memory. */
struct program_body {
    struct ingot_program_desc *desc;        /* holds a reference */
    _Atomic(struct kernel_table *) kernels; /* NULL until a kernel is requested; release/acquire; see kernel.c */
    uint32_t name_count;
    uint32_t names_size;
    void *native;
    size_t log_size;                  /* includes the NUL; the log follows the names */
    uint64_t build_ns;                /* how long compiling took, perhaps before the blob was stored; 0 if unknown */
    _Atomic size_t device_bytes;      /* size of the binaries, estimated until the blob is made; relaxed */
    _Atomic(struct kept_blob *) blob; /* NULL if none is kept; threads take it by an exchange */
    /* what of the compiler had changed when a blob was requested, a static string; NULL if nothing had */
    _Atomic(const char *) compiler_change;
    bool is_from_blob; /* true if at least one device's binary is from a blob */
    bool is_native;    /* true if the program was compiled natively, that is, from the application's own
                        * sources and headers, so that it has no id */
    /* sorted, each followed by a NUL; then the log, and the reason for a native build */
    char names[];
};

static inline const char *program_log(const struct program_body *body)
{
    return body->names + body->names_size;
}

/* Returns why the program was compiled natively and has no id, or NULL. */
const char *program_native_reason(const struct program_body *body);

static inline struct cache_entry *program_entry(const struct ingot_program *program)
{
    return (struct cache_entry *)program;
}

static inline struct program_body *program_body(const struct ingot_program *program)
{
    return cache_entry_value(program_entry(program));
}

/* ---- devices with equal identities, which share a binary (program_make.c) ---- */

/* A group of a descriptor's devices that have the same identity. */
struct device_class {
    const struct device_identity *identity;
    uint32_t device;       /* the first device with this identity */
    ingot_binary_t binary; /* binary.bytes is NULL if there is no binary yet */
};

struct device_classes {
    size_t class_count;
    struct device_class *classes; /* has room for device_count classes */
    size_t *class_of;             /* the class of each device, by the device's position in the descriptor */
};

/* Groups a descriptor's devices. The result is in the arena. */
ingot_status_t device_classes_init(struct device_classes *classes, const struct ingot_program_desc *desc,
                                   struct arena *arena);

/* ---- requests, kernels, blobs and events ---- */

/* Frees the kernels of a program (kernel.c). */
void program_destroy_kernels(struct program_body *body);
/* Returns the size of what a program needs to find its kernels, even if none has been requested yet (kernel.c). */
size_t program_kernels_size(const struct program_body *body);

/* Does the rest of ingot_program_get after cache_memo_lookup_fast has returned NULL. `pending` is the entry that
 * cache_memo_lookup_fast has set, or NULL. */
ingot_status_t program_request(struct ingot_program **program, const struct ingot_program_desc *desc,
                               struct cache_entry *pending);

/* Frees a kept blob. Does nothing if blob is NULL. */
void program_free_blob(struct kept_blob *blob, const ingot_allocator_t *allocator);

/* Returns how many bytes the in-memory cache counts for the program. */
size_t program_count_bytes(const struct program_body *body);

/* Emits an event about this descriptor's program. Marked cold, because most contexts have neither a callback nor a
 * trace. */
__attribute__((cold)) void program_emit(const struct ingot_program_desc *desc, ingot_event_kind_t kind,
                                        ingot_status_t status, uint64_t start_ns, size_t bytes, const char *reason);

#endif

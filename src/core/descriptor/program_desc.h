/*
 * program_desc.h - program descriptors, which are immutable except for their memos.
 *
 * `key` is a framed encoding of everything that determines the result of a build in this context, so equal keys with
 * equal sources (compared by content) mean equal programs. The key identifies programs in memory; the id
 * (cache_blob_id.h) identifies them across processes. A descriptor remembers, without a lock, its program (`memo`), its
 * kernel (`kernel_memo`) and its id (`id`).
 */
#ifndef INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_H
#define INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_H

#include <stdatomic.h>

#include "core/base/arena.h"
#include "core/context/context.h"
#include "core/descriptor/source.h"

struct cache_blob_id;
struct ingot_includes;
struct ingot_kernel;

/* A descriptor's memo of the first kernel that was requested from a program, with that program's serial number
 * (memory_cache.h). It is read and written without a lock; see kernel.c. */
struct kernel_memo {
    _Atomic(struct ingot_kernel *) kernel;
    _Atomic uint64_t serial;
};

struct ingot_program_desc {
    /* The fields that a hit reads come first, close together. */
    struct cache_memo memo;
    struct kernel_memo kernel_memo;
    struct ingot_context *context; /* referenced */
    uint32_t *device_indices;      /* ascending; the key follows */

    atomic_size_t references;
    size_t block_size; /* of this struct and the memory that follows it */
    uint32_t flags;
    uint32_t device_count;
    uint16_t source_count;
    uint16_t header_count;
    uint32_t spec_constant_count;
    uint32_t name_expression_count;
    bool has_directories;  /* some options have -I, which a hermetic build does not pass on */
    char *compile_options; /* the caller's options, without the environment's; in the key, like the next field */
    char *link_options;
    /* compile_options without -I; NULL: the options were not parsed, or have no -I */
    char *kept_options;
    char *group;
    char *not_cacheable;             /* why the program cannot be cached, or NULL */
    struct ingot_includes *includes; /* referenced; NULL: included files are read */
    size_t files_size;               /* size of what program_desc_files returns */
    size_t key_size;
    struct hash128 key_hash;
    _Atomic(struct cache_blob_id *) id; /* release/acquire */
    /* referenced; headers follow the sources, then specialization constants, their values, and name expressions */
    struct ingot_source *sources[];
};

/* Returns the specialization constants, sorted by id. Their values of 8 bytes each follow them. */
static inline ingot_spec_constant_t *program_desc_spec_constants(const struct ingot_program_desc *desc)
{
    return (ingot_spec_constant_t *)(desc->sources + desc->source_count + desc->header_count);
}

/* Returns the name expressions, sorted bytewise. They are in the key. */
static inline const char **program_desc_name_expressions(const struct ingot_program_desc *desc)
{
    const uint64_t *values = (const uint64_t *)(program_desc_spec_constants(desc) + desc->spec_constant_count);
    return (const char **)(values + desc->spec_constant_count);
}

static inline uint8_t *program_desc_key(const struct ingot_program_desc *desc)
{
    return (uint8_t *)(desc->device_indices + desc->device_count);
}

/* Returns the last part of the key, which identifies the files that the sources include; see hermetic.h. */
static inline const uint8_t *program_desc_files(const struct ingot_program_desc *desc)
{
    return program_desc_key(desc) + desc->key_size - desc->files_size;
}

void program_desc_reference(struct ingot_program_desc *desc);
bool program_desc_equals(const struct ingot_program_desc *a, const struct ingot_program_desc *b);
/* True if the descriptor was made from an id alone, so it has no sources and cannot be compiled. */
static inline bool program_desc_is_of_id(const struct ingot_program_desc *desc)
{
    return desc->source_count == 0;
}
/* Returns a name for messages and events; never NULL. */
const char *program_desc_name(const struct ingot_program_desc *desc);

/* Joins the descriptor's own options (or NULL) and the environment's with a blank, or without one if either is empty.
 * Returns NULL if out of memory. */
const char *options_join(struct arena *arena, const char *own, const char *environment);

/* Adds the settings that apply to each source. On failure, the arena's `failed` is set. */
void request_add_settings(ingot_build_request_t *request, struct ingot_source *const *sources,
                          const char *program_options, const char *environment, struct arena *arena);

/* Makes the descriptor's request for a backend. It is valid as long as the descriptor and the arena's pieces. */
ingot_status_t desc_request_init(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                 struct arena *arena);

#endif

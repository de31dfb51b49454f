/*
 * program_desc.h - defines program descriptors, which are immutable except for what they remember.
 *
 * `key` is an encoding of everything that determines the result of a build in this context; of the sources, it contains
 * only hashes. So programs are equal if their keys and the contents of their sources are equal. The key identifies
 * programs in memory; the id identifies them across processes. A descriptor remembers, without a
 * lock, its program (`memo`), its kernel (`kernel_memo`) and its id (`id`).
 */
#ifndef INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_H
#define INGOT_CORE_DESCRIPTOR_PROGRAM_DESC_H

#include <ingot/private/descriptor.h>
#include <stdatomic.h>

#include "core/base/bytes.h"
#include "core/context/context.h"
#include "core/descriptor/source.h"
#include "util/memory.h"

struct cache_blob_id;
struct ingot_kernel;
struct request;

/* Remembers the first kernel that was requested from a program, and that program's serial number (cache_entry.h).
 * Read and written without a lock; see kernel.c. */
struct kernel_memo {
    _Atomic(struct ingot_kernel *) kernel;
    _Atomic uint64_t serial;
};

struct ingot_program_desc {
    /* The fields that a hit reads come first and are adjacent. */
    struct cache_memo memo;
    struct kernel_memo kernel_memo;
    struct ingot_context *context; /* holds a reference */
    uint32_t *device_indices;      /* ascending; followed in memory by the key */

    atomic_size_t references;
    size_t block_size; /* size of this structure and of the memory that follows it */
    uint32_t flags;
    uint32_t device_count;
    uint16_t source_count;
    uint16_t header_count;
    uint32_t spec_constant_count;
    uint32_t name_expression_count;
    bool is_final;         /* true if it was made from a request, whose texts and options are those of the compiler */
    bool has_directories;  /* true if some options have -I, which a hermetic build does not pass on */
    char *compile_options; /* the caller's options, without those of environment variables; part of the key, like
                            * link_options */
    char *link_options;
    char *group;
    char *not_cacheable;  /* why the program cannot be cached; NULL if it can */
    const uint8_t *files; /* the included files (hermetic.h), for the blob */
    size_t files_size;
    size_t digests_size; /* size of the bytes that program_desc_digests returns */
    size_t key_size;
    struct hash128 key_hash;
    _Atomic(struct cache_blob_id *) id; /* NULL until it is requested; release/acquire */
    /* sources, then headers, with a reference to each; specialization constants, their values and name expressions
     * follow */
    struct ingot_source *sources[];
};

/* Returns the specialization constants, sorted by id. Their values, of 8 bytes each, follow the last constant. */
static inline ingot_spec_constant_t *program_desc_spec_constants(const struct ingot_program_desc *desc)
{
    return (ingot_spec_constant_t *)(desc->sources + desc->source_count + desc->header_count);
}

/* Returns the name expressions, sorted by their bytes. */
static inline const char **program_desc_name_expressions(const struct ingot_program_desc *desc)
{
    const uint64_t *values = (const uint64_t *)(program_desc_spec_constants(desc) + desc->spec_constant_count);
    return (const char **)(values + desc->spec_constant_count);
}

static inline uint8_t *program_desc_key(const struct ingot_program_desc *desc)
{
    return (uint8_t *)(desc->device_indices + desc->device_count);
}

/* Returns the last part of the key: the digests of the texts that the compiler gets (text_digests.h). */
static inline const uint8_t *program_desc_digests(const struct ingot_program_desc *desc)
{
    return program_desc_key(desc) + desc->key_size - desc->digests_size;
}

/* Creates a descriptor. If `request` is not NULL, `info` has the texts and options of a request, and `request` what
 * else it says. */
ingot_status_t program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                   const ingot_program_info_t *info, const struct request *request);
void program_desc_reference(struct ingot_program_desc *desc);
bool program_desc_equals(const struct ingot_program_desc *a, const struct ingot_program_desc *b);
/* Returns a name for messages and events. Never NULL. */
const char *program_desc_name(const struct ingot_program_desc *desc);

/* Makes the application's request to the backend from the descriptor, for a native build. It is valid as long as the
 * descriptor and what the arena contains. */
ingot_status_t desc_request_init(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                 struct arena *arena);
/* Removes each -I and its directory from the compile options of a request of the descriptor. */
ingot_status_t desc_request_keep_options(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                         struct arena *arena);
/* Appends the request with digests (request.h) that the descriptor's id contains. Reads no file. */
ingot_status_t desc_request_write(struct bytes_writer *out, const struct ingot_program_desc *desc);

/* ---- ids (cache_blob_id.c) ---- */

/* The bytes that identify the result of a build across processes. An id has two parts. The first is the environment
 * that the program is built with: rules, backend, devices and compilers. The second is the request with digests
 * (request.h). A blob contains a digest of each part, so a reader can distinguish a different program from a different
 * environment. doc/blob-format.md describes the format. */
struct cache_blob_id {
    size_t size;
    uint8_t *bytes;
    uint8_t library_digest[DIGEST_SIZE]; /* digest of the rules and the backend, that is, of the environment without
                                          * its devices */
    uint8_t request_digest[DIGEST_SIZE];
};

/* Gets the descriptor's id, which the first call makes. The id belongs to the descriptor and is freed with it. */
ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id);
void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator);

/* Calls `visit` for each field of an id, which may come from anywhere, with its path, such as
 * "device[0].driver_version". Returns INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT or INGOT_BLOB_VERSION if the bytes are
 * not a valid id. */
ingot_status_t cache_blob_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user);

#endif

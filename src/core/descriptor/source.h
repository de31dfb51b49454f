/*
 * source.h - defines sources, which are the immutable and shared inputs of builds.
 *
 * Sources have no context, and many descriptors may share one. The fast hash is computed when the source is created,
 * and the digest when an id first needs it.
 *
 * The holder in `references` is the application. Each descriptor has a reference as well. If many
 * descriptors use a source, their references are spread over cells, so that threads that make descriptors do not all
 * write to the same memory.
 */
#ifndef INGOT_CORE_DESCRIPTOR_SOURCE_H
#define INGOT_CORE_DESCRIPTOR_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <ingot/backend.h>

#include "core/base/digest.h"
#include "core/base/striped_count.h"

struct ingot_source {
    struct striped_count references;
    atomic_uint uses; /* how often descriptors referenced the source; no longer counted once `references` has cells */
    ingot_allocator_t allocator;
    ingot_source_kind_t kind;
    size_t size;
    char *bytes; /* `size` bytes, followed by a NUL */
    char *name;
    struct hash128 hash;
    bool is_text;            /* true if the language has includes; PTX does not */
    bool may_include;        /* true if it is a text whose includes may have to be resolved; see hermetic_concerns */
    atomic_int digest_state; /* 0: no digest, 1: it is being written, 2: it is written; release/acquire */
    uint8_t digest[DIGEST_SIZE];
};

/* Checks that all are headers and that no two have the same name. */
ingot_status_t source_check_headers(size_t count, struct ingot_source *const *headers);
/* Adds a descriptor's reference. The caller must be sure that the source is held meanwhile, for example by the
 * application. */
void source_reference(struct ingot_source *source);
void source_unreference(struct ingot_source *source);
bool source_equals(const struct ingot_source *a, const struct ingot_source *b);
void source_get_digest(const struct ingot_source *source, uint8_t digest[DIGEST_SIZE]);

#endif

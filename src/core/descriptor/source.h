/*
 * source.h - immutable input of a build, hashed once.
 *
 * Sources have no context, and many descriptors may share one. The fast hash is made when the source is created, and
 * the digest when an id first needs it.
 *
 * `holders` counts the references of the application and of other sources. Together they have one of the `references`,
 * as the owner; each descriptor has one, too. If many descriptors use a source, its `references` are spread, so that
 * threads that make descriptors do not write to shared memory.
 */
#ifndef INGOT_CORE_DESCRIPTOR_SOURCE_H
#define INGOT_CORE_DESCRIPTOR_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <ingot/backend.h>

#include "core/base/digest.h"
#include "core/base/striped_count.h"

struct ingot_source {
    atomic_size_t holders;
    struct striped_count references;
    atomic_uint uses; /* number of uses by descriptors, until the count is spread */
    ingot_allocator_t allocator;
    ingot_source_kind_t kind;
    size_t size;
    char *bytes; /* size bytes and a NUL */
    char *name;
    char *compile_options;         /* for this source only; "" if it has none */
    struct ingot_source **headers; /* likewise, retained */
    size_t header_count;
    struct hash128 hash;
    bool is_text;            /* in a language with includes; PTX is not */
    bool may_include;        /* true for a text whose includes must be resolved */
    atomic_int digest_state; /* 0: none, 1: being written, 2: written; release/acquire with digest */
    uint8_t digest[DIGEST_SIZE];
};

/* True if the source has its own options or headers. */
static inline bool source_has_settings(const struct ingot_source *source)
{
    return source->compile_options[0] != '\0' || source->header_count != 0;
}

/* Adds a descriptor's reference. The caller, or the application on its behalf, holds the source. */
void source_reference(struct ingot_source *source);
void source_unreference(struct ingot_source *source);
bool source_equals(const struct ingot_source *a, const struct ingot_source *b);
void source_get_digest(const struct ingot_source *source, uint8_t digest[DIGEST_SIZE]);
ingot_source_view_t source_view(const struct ingot_source *source);

#endif

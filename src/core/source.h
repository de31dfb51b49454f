/*
 * source.h - immutable input of a build, hashed once.
 *
 * Sources belong to no context and may be shared by many descriptors. The fast hash is made with the source, the digest
 * when an id first asks for it.
 */
#ifndef INGOT_CORE_SOURCE_H
#define INGOT_CORE_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <ingot/backend.h>

#include "core/alloc.h"
#include "core/digest.h"

struct ingot_source {
    atomic_size_t references;
    ingot_allocator_t allocator;
    ingot_source_kind_t kind;
    size_t size;
    char *bytes; /* size bytes and a NUL */
    char *name;
    struct hash128 hash;
    bool may_include; /* the include closure must look at it */
    atomic_int digest_state; /* 0 none, 1 being written, 2 there; release/acquire with digest */
    uint8_t digest[DIGEST_SIZE];
};

bool source_kind_is_text(ingot_source_kind_t kind);
bool source_equals(const struct ingot_source *a, const struct ingot_source *b);
void source_get_digest(const struct ingot_source *source, uint8_t digest[DIGEST_SIZE]);
ingot_source_view_t source_view(const struct ingot_source *source);

#endif

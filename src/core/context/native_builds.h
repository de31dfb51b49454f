/*
 * native_builds.h - remembers programs whose hermetic build (hermetic.h) failed, so that a context does not try it
 * again.
 *
 * It remembers a fixed number of hashes. Forgetting a hash costs one more hermetic build. If two programs have the same
 * hash, one may be built natively and not stored. No program is ever wrong. A lock is held during each lookup.
 */
#ifndef INGOT_CORE_CONTEXT_NATIVE_BUILDS_H
#define INGOT_CORE_CONTEXT_NATIVE_BUILDS_H

#include <pthread.h>
#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"

enum { NATIVE_BUILDS_REMEMBERED = 1024 };

struct native_builds {
    pthread_mutex_t lock;
    struct hash128 *keys; /* guarded by lock, like count; NULL until a program is added */
    size_t count;         /* number of programs added so far; only the newest are in keys */
};

void native_builds_init(struct native_builds *builds);
void native_builds_fini(struct native_builds *builds, const ingot_allocator_t *allocator);
bool native_builds_has(struct native_builds *builds, struct hash128 key);
/* Adds a program. Does nothing if out of memory. */
void native_builds_add(struct native_builds *builds, const ingot_allocator_t *allocator, struct hash128 key);

#endif

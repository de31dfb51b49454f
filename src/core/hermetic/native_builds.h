/*
 * native_builds.h - the programs of a context whose hermetic build failed, so that it is tried once per program and not
 * once per request.
 *
 * A fixed number is remembered, by hash: to forget one, or to take another for it, costs a compilation or a place in a
 * store, never a wrong program. Lock: one, held for a look.
 */
#ifndef INGOT_CORE_HERMETIC_NATIVE_BUILDS_H
#define INGOT_CORE_HERMETIC_NATIVE_BUILDS_H

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/os.h"

enum { NATIVE_BUILDS_REMEMBERED = 1024 };

struct native_builds {
    os_mutex lock;
    struct hash128 *keys; /* under lock, as the next; NULL: none was remembered yet */
    size_t count;         /* ever added; the newest are kept */
};

ingot_status_t native_builds_init(struct native_builds *builds);
void native_builds_fini(struct native_builds *builds, const ingot_allocator_t *allocator);
bool native_builds_has(struct native_builds *builds, struct hash128 key);
/* Without memory for it nothing is remembered. */
void native_builds_add(struct native_builds *builds, const ingot_allocator_t *allocator, struct hash128 key);

#endif

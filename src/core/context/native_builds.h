/*
 * native_builds.h - remembers which programs do not build hermetically, so that their hermetic texts are compiled only
 * once per context.
 *
 * Each program has one place in a table, which another program may take. So a program may be forgotten, and is then
 * tried once more. A program that is mistaken for another one is compiled natively, which only costs its id.
 */
#ifndef INGOT_CORE_CONTEXT_NATIVE_BUILDS_H
#define INGOT_CORE_CONTEXT_NATIVE_BUILDS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/digest.h"

enum { NATIVE_BUILDS_REMEMBERED = 1024 };

/* Zeroed before its first use. The atomics are relaxed, because nothing else is published with them. */
struct native_builds {
    _Atomic uint64_t keys[NATIVE_BUILDS_REMEMBERED]; /* one half of each key; the other half gives its place */
};

static inline bool native_builds_has(struct native_builds *builds, struct hash128 key)
{
    return atomic_load_explicit(&builds->keys[key.low % NATIVE_BUILDS_REMEMBERED], memory_order_relaxed) == key.high;
}

static inline void native_builds_add(struct native_builds *builds, struct hash128 key)
{
    atomic_store_explicit(&builds->keys[key.low % NATIVE_BUILDS_REMEMBERED], key.high, memory_order_relaxed);
}

#endif

/*
 * context.h - defines a context, which joins a backend, its devices and an in-memory cache of programs.
 *
 * The holders in `references` are the application's references. Each descriptor, which its programs hold, has a
 * reference as well. When the last holder releases the context, the cache is closed, which breaks the cycle context ->
 * cache -> program -> descriptor -> context. When the last reference is dropped, the backend's state is destroyed.
 *
 * A context may be made over a target, which is another context for the same devices. It uses the identities, the rules
 * and the settings of its target, and gets an in-memory cache only if a program is made.
 */
#ifndef INGOT_CORE_CONTEXT_CONTEXT_H
#define INGOT_CORE_CONTEXT_CONTEXT_H

#include <stdatomic.h>

#include <ingot/backend.h>

#include "core/base/metrics.h"
#include "core/base/striped_count.h"
#include "core/base/trace.h"
#include "core/hermetic/text_rules.h"
#include "core/identity/device_identity.h"
#include "core/memo/header_memo.h"
#include "core/memory_cache/memory_cache.h"

enum { NATIVE_BUILDS_REMEMBERED = 1024 };

/* Remembers which programs do not build hermetically, so that their hermetic texts are compiled only once per context.
 * Each program has one place in a table, which another program may take. So a program may be forgotten, and is then
 * tried once more. A program that is mistaken for another one is compiled natively, which only costs its id. Zeroed
 * before its first use. The atomics are relaxed, because nothing else is published with them. */
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

struct context_counters {
    _Atomic uint64_t builds;
    _Atomic uint64_t build_failures;
    _Atomic uint64_t loads;
    _Atomic uint64_t load_failures;
    _Atomic uint64_t blobs_taken;
};

struct ingot_context {
    struct striped_count references;
    ingot_allocator_t allocator;
    ingot_backend_ops_t ops;
    void *state;
    struct ingot_context *target; /* a reference; owns what the fields from identities to trace hold; NULL: none */
    uint32_t device_count;
    /* an array of device_count identities; each is made when first requested; release/acquire */
    _Atomic(struct device_identity *) *identities;
    char *compile_options; /* from the environment, "" if there are none */
    char *link_options;
    struct text_rules text_rules;
    struct native_builds *native_builds;
    struct ingot_header_memo *header_memo; /* NULL if the memo is off */
    struct trace trace;
    struct metrics_source metrics;
    const struct memory_cache_ops *program_ops;
    struct memory_cache *programs;    /* NULL: over a target, before a program is made */
    struct context_counters counters; /* written once per build or load, never by a hit */
    _Atomic uint64_t next_desc_serial;
};

/* Implements ingot_context_create. program_ops are the in-memory cache's operations on programs. */
ingot_status_t context_create(struct ingot_context **context, const ingot_backend_ops_t *ops, void *state,
                              uint32_t device_count, const ingot_context_info_t *info,
                              const struct memory_cache_ops *program_ops);
/* Makes a context over a target, to which it takes a reference, from a backend's state for the target's devices. Only
 * one thread may use it until a program has been made. On failure, the state stays the caller's. */
ingot_status_t context_create_over(struct ingot_context **context, struct ingot_context *target, void *state);
/* Returns the in-memory cache, which is made if there is none. Returns NULL if out of memory. */
struct memory_cache *context_programs(struct ingot_context *context);
void context_reference(struct ingot_context *context);
void context_unreference(struct ingot_context *context);

/* Gets the device's identity, which belongs to the context and is freed with it. */
ingot_status_t context_get_identity(struct ingot_context *context, uint32_t device,
                                    const struct device_identity **identity);

/* Makes a new context, which has no memo, use a memo that belongs to the caller and may be that of other contexts. */
void context_share_memo(struct ingot_context *context, struct ingot_header_memo *memo);

/* Returns what the compiler reads for each build and has changed since the context read it: environment variables, or
 * files of the compiler. Returns a clause (a static string), or NULL if nothing has changed. */
const char *context_compiler_change(struct ingot_context *context, size_t device_count, const uint32_t *devices);

/* If `status` is INGOT_OUT_OF_MEMORY, empties the cache, but at most once per request. Returns true if it did so, and
 * the caller should then retry. */
bool context_make_room(struct ingot_context *context, ingot_status_t status);

static inline void context_count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#endif

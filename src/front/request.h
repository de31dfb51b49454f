/*
 * request.h - gets a program through a cache's storage, for a backend's own function.
 *
 * Each request has its own short-lived Ingot context, over the target of its devices (request.c). A context that lived
 * on would hold the application's native context (OpenCL), or use one that the application has destroyed (Level Zero,
 * CUDA). Programs are not shared in memory: each request gets a native object of its own, as from the driver.
 */
#ifndef INGOT_CACHE_REQUEST_H
#define INGOT_CACHE_REQUEST_H

#include <ingot/backend.h>

#include "front/cache.h"
#include "persist/program/program.h"

/* What to build, for all devices of the request's context. */
struct request {
    ingot_source_kind_t kind;
    const void *bytes;
    size_t size;
    const char *name; /* may be NULL, like options */
    const char *options;
};

/* A program that was looked for. */
struct begun {
    size_t id_size;
    uint8_t *id; /* of malloc; NULL: it has none */
};

/* A native program, as its backend's load or build operation made it. */
struct made_program {
    void *native;
    ingot_program_t program; /* to which the native program belongs; NULL: it is a loaded one that belongs to nothing */
    ingot_origin_t origin;
};

/* The state of a backend for a request's context. */
struct request_state {
    const ingot_backend_ops_t *ops;
    void *state;
    uint32_t device_count;
    size_t key_size;
    const void *key; /* identifies the devices in their backend */
    /* Learns about the devices: from a target's state, or if that is NULL, from the driver. NULL: nothing. */
    ingot_status_t (*learn)(void *state, const void *facts);
    /* Copies what `learn` has learned to a state for a target. NULL: a target needs none. */
    ingot_status_t (*copy_facts)(void **facts, const void *state);
    bool (*may_end)(const void *state); /* true if devices may end before the process does. NULL: none does */
};

/* Makes a request's context over the target of its devices, which it makes if the cache has none. The context takes
 * over the state, also on failure. The cache may be NULL. */
ingot_status_t request_make_context(struct ingot_cache *cache, const struct request_state *of,
                                    struct ingot_context **context);

/* Returns what the cache's plain functions do about a program that it does not have. */
static inline enum program_miss cache_miss(const struct ingot_cache *cache)
{
    return cache != NULL && cache->on_miss == INGOT_PERSIST_ON_MISS_LATER ? PROGRAM_WISH : PROGRAM_WAIT;
}

/* Gets the program from the cache's storage, which it must have, or compiles and stores it. Fails with
 * INGOT_NOT_CACHEABLE, without compiling, if the program has no id. request_end ends what was made. */
ingot_status_t request_program(const struct ingot_cache *cache, const struct request *request, enum program_miss miss,
                               struct ingot_context *context, struct made_program *made);

/* Looks for the program in the cache's storage, and asks builders for it if it is not there; see
 * persist_program_begin. */
ingot_status_t request_begin(const struct ingot_cache *cache, const struct request *request,
                             struct ingot_context *context, struct begun *begun);

/* Compiles the program, without a storage. */
ingot_status_t request_build(const struct request *request, struct ingot_context *context, struct made_program *made);

/* Destroys what a request made, as far as its backend has not taken it, and the request's context, which may be NULL.
 */
void request_end(struct ingot_context *context, struct made_program *made);

/* Decides whether the driver may make what the cache does not provide, because `status` was the result of the request
 * and the detail says why, or because the cache has no storage. INGOT_SUCCESS: it may, which is reported if the cache's
 * policy says so, or if the storage did not take the program. Otherwise INGOT_NOT_FOUND, and the detail begins with the
 * reason. */
ingot_status_t request_pass_through(const struct ingot_cache *cache, ingot_status_t status);

#endif

/*
 * request.h - gets a program through a cache's storage, for a backend's own function.
 *
 * Each request has its own short-lived Ingot context. A context that lived on would hold the application's native
 * context (OpenCL), or use one that the application has destroyed (Level Zero, CUDA), and its in-memory cache would
 * hold native programs that the application has released. So programs are not shared in memory: each request gets a
 * native object of its own, as from the driver.
 */
#ifndef INGOT_CACHE_REQUEST_H
#define INGOT_CACHE_REQUEST_H

#include <ingot/ingot.h>

#include "front/cache.h"

/* A device of a request, as its backend identifies it. 0: a device that must not be remembered, such as a sub-device.
 */
typedef uintptr_t request_device_t;

/* What to build, for all devices of the request's context. */
struct request {
    struct ingot_cache *cache; /* with a storage, except for request_build */
    ingot_source_kind_t kind;
    const void *bytes;
    size_t size;
    const char *name; /* may be NULL, like options */
    const char *options;
    const ingot_spec_constant_t *constants;
    size_t constant_count;
};

/* Returns the info of a request's context, which is valid as long as the cache. The cache may be NULL. */
ingot_context_info_t request_context_info(struct ingot_cache *cache);

/* Gets the program from the storage, or compiles and stores it. The program is in no in-memory cache. Fails with
 * INGOT_NOT_CACHEABLE, without compiling, if the program has no id. */
ingot_status_t request_program(const struct request *request, ingot_context_t context, const request_device_t *devices,
                               ingot_program_t *program, ingot_origin_t *origin);

/* Compiles the program, without a storage. The request needs no cache. */
ingot_status_t request_build(const struct request *request, ingot_context_t context, ingot_program_t *program);

/* Decides whether the driver may make what the cache does not provide, because `status` was the result of the request
 * and the detail says why, or because the cache has no storage. INGOT_SUCCESS: it may, which is reported if the cache's
 * policy says so, or if the storage did not take the program. Otherwise INGOT_NOT_FOUND, and the detail begins with the
 * reason. */
ingot_status_t request_pass_through(const struct ingot_cache *cache, ingot_status_t status);

#endif

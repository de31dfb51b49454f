/*
 * targets.h - keeps what a cache knows of devices: their operations, identities and compiler's rules.
 *
 * All requests for the same devices share it, because making an identity takes up to 25 ms (PoCL: it reads the
 * compiler's files). It is an Ingot context without native objects, over which each request makes its own. Only devices
 * that live as long as the process may be kept, because another device may get the handle of a sub-device that was
 * released.
 */
#ifndef INGOT_CACHE_TARGETS_H
#define INGOT_CACHE_TARGETS_H

#include <ingot/backend.h>
#include <stddef.h>

struct kept_target;

struct targets {
    struct kept_target *first; /* under the lock of lock.h */
};

void targets_fini(struct targets *targets);

/* Returns the target of these devices, which the key identifies in their backend, with a reference that
 * context_unreference drops; NULL if none is kept, or if variables with the compiler's options have changed since. */
struct ingot_context *targets_find(struct targets *targets, const ingot_backend_ops_t *ops, size_t size,
                                   const void *key);
/* Keeps a target. If memory runs out, the next request makes another one. */
void targets_keep(struct targets *targets, struct ingot_context *target, size_t size, const void *key);

#endif

/*
 * devices.h - remembers the identities of devices, which are the same in all requests.
 *
 * Each request has its own Ingot context, and making an identity takes up to 25 ms (PoCL: it reads the compiler's
 * files). Only devices that live as long as the process may be remembered, because another device may get the handle of
 * a sub-device that was released.
 */
#ifndef INGOT_CACHE_DEVICES_H
#define INGOT_CACHE_DEVICES_H

#include <ingot/ingot.h>

struct known_device;

struct devices {
    struct known_device *first; /* under the lock of lock.h */
};

void devices_fini(struct devices *devices);

/* Gives a context the identity of its device, if it is known. `backend` is a static text, and `handle` the device in
 * that backend. */
void devices_lookup(struct devices *devices, ingot_context_t context, uint32_t index, const char *backend,
                    uintptr_t handle);
/* Remembers the identity that a context has made. */
void devices_learn(struct devices *devices, ingot_context_t context, uint32_t index, const char *backend,
                   uintptr_t handle);

#endif

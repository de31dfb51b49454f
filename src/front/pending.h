/*
 * pending.h - programs that are begun, for the functions of the backends.
 */
#ifndef INGOT_FRONT_PENDING_H
#define INGOT_FRONT_PENDING_H

#include <ingot/pending.h>

#include "front/request.h"

/* What a backend does for its begun programs. `self` is its copy of the arguments, with room for what it makes. */
struct pending_ops {
    /* Calls request_begin. */
    ingot_status_t (*begin)(void *self, struct ingot_cache *cache, struct begun *begun);
    /* Does what the plain function does, and keeps what it returns in `self`. */
    ingot_status_t (*get)(void *self, struct ingot_cache *cache, enum program_miss miss);
    /* Releases what get has kept. */
    void (*forget)(void *self);
    void (*destroy)(void *self);
};

/* Takes over `self`, also on failure. */
ingot_status_t pending_begin(ingot_pending_t *pending, struct ingot_cache *cache, const struct pending_ops *ops,
                             void *self);
/* Makes the program, ends the pending one, and hands `self` over, which keeps the program and which the caller
 * destroys. Sets it to NULL, and ends nothing, if the pending program is NULL or of another backend. */
ingot_status_t pending_take(ingot_pending_t pending, const struct pending_ops *ops, void **self);

#endif

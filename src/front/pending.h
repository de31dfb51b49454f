/*
 * pending.h - programs that are begun, for the functions of the backends.
 */
#ifndef INGOT_FRONT_PENDING_H
#define INGOT_FRONT_PENDING_H

#include <ingot/pending.h>

#include "front/request.h"

/* What a backend does for its begun programs. `self` is its copy of the arguments, with room for what it makes. */
struct pending_ops {
    /* Describes the program, and makes a context for it, which the caller releases, also on failure. */
    ingot_status_t (*open)(const void *self, struct ingot_cache *cache, struct request *request,
                           struct ingot_context **context);
    /* Does what the plain function does, and keeps what it returns in `self`. */
    ingot_status_t (*get)(void *self, struct ingot_cache *cache, enum program_miss miss);
    /* Hands over what get has kept to the application, as its status says. out: where the backend's function puts it.
     * origin: may be NULL. */
    void (*give)(void *self, ingot_status_t status, void *out, ingot_origin_t *origin);
    /* Releases what get has kept, as far as it was not handed over. */
    void (*forget)(void *self);
    /* Releases the native objects of the arguments. NULL: there are none. */
    void (*release)(void *self);
};

/* An argument that pending_copy copies, too: where its pointer is, and its size. */
struct pending_part {
    size_t offset;
    size_t size;
};
#define PENDING_TEXT SIZE_MAX /* the size of a text that ends in a NUL */

/* Copies a struct of arguments, and what its pointers point to unless they are NULL. Returns NULL if memory runs out.
 */
void *pending_copy(size_t size, const void *arguments, size_t count, const struct pending_part *parts);

/* Takes over `self`, also on failure. If it is NULL, memory has run out. */
ingot_status_t pending_begin(ingot_pending_t *pending, struct ingot_cache *cache, const struct pending_ops *ops,
                             void *self);
/* Makes the program, gives it to the application, and ends the pending one. Fails, and ends nothing, if the pending
 * program is NULL or of another backend, or if `out` is NULL. */
ingot_status_t pending_take(ingot_pending_t pending, const struct pending_ops *ops, void *out, ingot_origin_t *origin);

#endif

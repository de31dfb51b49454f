/*
 * targets.c - keeps what a cache knows of devices; see targets.h.
 *
 * Locks: the lock of lock.h, which is held for searches and changes of the list only.
 */
#include "front/targets.h"

#include <ingot/private/program.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context.h"
#include "front/lock.h"

struct kept_target {
    struct kept_target *next;
    struct ingot_context *context;
    size_t size;
    uint8_t key[];
};

static void release_target(struct kept_target *target)
{
    ingot_context_release(target->context);
    free(target);
}

void targets_fini(struct targets *targets)
{
    while (targets->first != NULL) {
        struct kept_target *target = targets->first;
        targets->first = target->next;
        release_target(target);
    }
}

struct ingot_context *targets_find(struct targets *targets, const ingot_backend_ops_t *ops, size_t size,
                                   const void *key)
{
    lock_take();
    const struct kept_target *target = targets->first;
    while (target != NULL &&
           (target->context->ops.build != ops->build || target->size != size || memcmp(target->key, key, size) != 0))
        target = target->next;
    struct ingot_context *found = target != NULL ? target->context : NULL;
    if (found != NULL)
        context_reference(found);
    lock_give();
    if (found == NULL || context_has_current_rules(found))
        return found;
    lock_take();
    struct kept_target **place = &targets->first;
    while (*place != NULL && (*place)->context != found)
        place = &(*place)->next;
    struct kept_target *removed = *place;
    if (removed != NULL)
        *place = removed->next;
    lock_give();
    if (removed != NULL)
        release_target(removed);
    context_unreference(found);
    return NULL;
}

void targets_keep(struct targets *targets, struct ingot_context *target, size_t size, const void *key)
{
    struct kept_target *made = malloc(sizeof(*made) + size);
    if (made == NULL)
        return;
    *made = (struct kept_target){.context = target, .size = size};
    memcpy(made->key, key, size);
    ingot_context_retain(target);
    lock_take();
    made->next = targets->first; /* two threads may keep equal targets, of which the later one is found */
    targets->first = made;
    lock_give();
}

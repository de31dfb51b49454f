/*
 * switch.c - implements a switch: a storage that forwards to another storage, its target, which can be exchanged at any
 * time.
 *
 * Each operation takes a reference to the current target, under a lock that is not held while the operation runs. A
 * previous target therefore lives until its last operation has ended.
 */
#include <ingot/backend.h>

#include "persist/base/memory.h"
#include "persist/base/process_lock.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/storing.h"

struct storage_switch {
    ingot_allocator_t allocator;
    struct process_lock lock;
    ingot_storage_t target; /* guarded by `lock`; NULL: none */
};

static void forget_nothing(void *user)
{
    (void)user; /* nothing to forget: whatever target the switch has, it holds a reference to that target */
}

static ingot_storage_t take_target_if_any(void *opaque)
{
    struct storage_switch *self = opaque;
    process_lock_take(&self->lock, forget_nothing, NULL);
    ingot_storage_t target = self->target;
    if (target != NULL)
        (void)ingot_storage_retain(target);
    process_lock_give(&self->lock);
    return target;
}

/* Returns a reference to the target. If there is none, sets an error and returns NULL. */
static ingot_storage_t take_target(struct storage_switch *self)
{
    ingot_storage_t target = take_target_if_any(self);
    if (target == NULL)
        (void)ingot_set_error_detail(INGOT_NOT_FOUND, "the storage is switched to none");
    return target;
}

/* Sets the target. Returns the previous one, which the caller releases. */
static ingot_storage_t exchange_target(ingot_storage_t storage, ingot_storage_t target)
{
    struct storage_switch *self = storage_self(storage, STORAGE_SWITCH);
    process_lock_take(&self->lock, forget_nothing, NULL);
    ingot_storage_t before = self->target;
    self->target = target;
    /* set under the same lock as the target, in case two threads switch at once */
    storage_set_off(storage, STORAGE_OFF_BY_SWITCH, target == NULL);
    process_lock_give(&self->lock);
    return before;
}

static ingot_status_t load_kept(void *self, bool with_core, const struct storage_around *around, size_t id_size,
                                const uint8_t *id, ingot_buffer_t *kept)
{
    ingot_storage_t target = take_target(self);
    if (target == NULL)
        return INGOT_NOT_FOUND;
    const ingot_status_t status = storage_load_kept(target, with_core, around, id_size, id, kept);
    ingot_storage_release(target);
    return status;
}

static void load_many_kept(void *self, const struct storage_around *around, size_t count, const ingot_storage_id_t *ids,
                           ingot_storage_on_loaded_t on_loaded, void *user)
{
    ingot_buffer_t none = INGOT_BUFFER_INIT;
    ingot_storage_t target = take_target(self);
    if (target != NULL)
        storage_load_many_kept(target, around, count, ids, on_loaded, user);
    for (size_t i = 0; i < count && target == NULL; ++i)
        if (on_loaded(i, INGOT_NOT_FOUND, &none, user) == 0)
            break;
    ingot_storage_release(target);
}

static ingot_status_t store(void *self, const struct storage_around *around, bool is_kept, size_t id_size,
                            const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    ingot_storage_t target = take_target(self);
    if (target == NULL)
        return INGOT_READ_ONLY;
    const ingot_status_t status = storage_store_around(target, around, is_kept, id_size, id, blob_size, blob);
    ingot_storage_release(target);
    return status;
}

static ingot_status_t remove_id(void *self, size_t id_size, const uint8_t *id)
{
    ingot_storage_t target = take_target(self);
    if (target == NULL)
        return INGOT_NOT_FOUND;
    const ingot_status_t status = ingot_storage_remove(target, id_size, id);
    ingot_storage_release(target);
    return status;
}

static void destroy(void *opaque)
{
    struct storage_switch *self = opaque;
    ingot_storage_release(self->target);
    process_lock_fini(&self->lock);
    const ingot_allocator_t allocator = self->allocator;
    memory_free(&allocator, self, sizeof(*self));
}

static void turn(ingot_storage_t storage, ingot_storage_t target)
{
    if (target != NULL) {
        (void)ingot_storage_retain(target);
        storage_inherit_storing(storage, target);
    }
    ingot_storage_release(exchange_target(storage, target));
}

ingot_status_t ingot_persist_switch(ingot_storage_t *storage, ingot_storage_t target)
{
    static const ingot_storage_ops_t ops = {sizeof(ops), NULL, NULL, remove_id, destroy};
    ingot_allocator_t allocator;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    (void)memory_init(&allocator, NULL);
    struct storage_switch *self = memory_allocate(&allocator, sizeof(*self));
    if (self == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a storage");
    *self = (struct storage_switch){.allocator = allocator};
    ingot_status_t status = process_lock_init(&self->lock);
    if (status != INGOT_SUCCESS) {
        memory_free(&allocator, self, sizeof(*self));
        return status;
    }
    ingot_storage_t made = NULL;
    status = storage_create(&made, STORAGE_SWITCH, &ops, self, &allocator, NULL);
    if (status != INGOT_SUCCESS) {
        destroy(self);
        return status;
    }
    storage_set_forward(made, load_kept, load_many_kept, store);
    made->take_target = take_target_if_any;
    turn(made, target);
    *storage = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_switch_to(ingot_storage_t storage, ingot_storage_t target)
{
    if (storage == NULL || storage == target)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL, or its own target");
    if (storage_self(storage, STORAGE_SWITCH) == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage was not made by ingot_persist_switch");
    turn(storage, target);
    return INGOT_SUCCESS;
}
